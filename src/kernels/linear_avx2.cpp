#define KERNELS_NAMESPACE avx2
#include "kernels/linear.inc"
