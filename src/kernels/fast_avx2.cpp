#define KERNELS_NAMESPACE avx2
#include "kernels/fast.inc"
