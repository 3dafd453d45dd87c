// What each instruction set's translation unit provides. Private to the kernels.
#pragma once

#include "kernels/kernels.hpp"

namespace tracenorm::kernels {

#define TRACENORM_DECLARE_LOSS(L) \
  const LossKernels<losses::L>& loss_kernels_of(const losses::L*, Mode mode, bool weighted);

#define TRACENORM_DECLARE_SET               \
  const LinearKernels& linear_kernels_of(); \
  TRACENORM_FOR_EACH_LOSS(TRACENORM_DECLARE_LOSS)

namespace reference {
TRACENORM_DECLARE_SET
}  // namespace reference
namespace baseline {
TRACENORM_DECLARE_SET
}
namespace avx2 {
TRACENORM_DECLARE_SET
}
namespace avx512 {
TRACENORM_DECLARE_SET
}

#undef TRACENORM_DECLARE_SET
#undef TRACENORM_DECLARE_LOSS

}  // namespace tracenorm::kernels
