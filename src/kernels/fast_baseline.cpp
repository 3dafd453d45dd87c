#define KERNELS_NAMESPACE baseline
#include "kernels/fast.inc"
