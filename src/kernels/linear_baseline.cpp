#define KERNELS_NAMESPACE baseline
#include "kernels/linear.inc"
