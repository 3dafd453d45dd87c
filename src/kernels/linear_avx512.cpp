#define KERNELS_NAMESPACE avx512
#include "kernels/linear.inc"
