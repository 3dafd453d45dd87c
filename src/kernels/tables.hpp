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

// What ends a translation unit of kernels: the tables, from functions of these names.

#define TRACENORM_DEFINE_LINEAR                                        \
  template <class Column>                                              \
  constexpr SparseKernels<Column> sparse_kernels() {                   \
    return {sparse_normal<Column, double>,                             \
            sparse_normal<Column, Real>,                               \
            sparse_normal_block<Column>,                               \
            sparse_apply<Column>,                                      \
            sparse_apply_transpose<Column>,                            \
            sparse_apply_both<Column, double>,                         \
            sparse_apply_both<Column, Real>,                           \
            sparse_apply_block<Column>,                                \
            sparse_move<Column>,                                       \
            factor_dots<Column>,                                       \
            factor_products<Column>};                                  \
  }                                                                    \
  const LinearKernels& linear_kernels_of() {                           \
    static constexpr LinearKernels table{sparse_kernels<Index>(),      \
                                         sparse_kernels<ShortIndex>(), \
                                         dense_normal,                 \
                                         dense_normal_fast,            \
                                         dense_apply,                  \
                                         dense_apply_transpose,        \
                                         dense_apply_both,             \
                                         dense_apply_both_fast,        \
                                         dense_apply_block,            \
                                         dense_move,                   \
                                         blend,                        \
                                         decode};                      \
    return table;                                                      \
  }

#define TRACENORM_LOSS_TABLES(L, mode) \
  { loss_table<losses::L, Mode::mode, false>(), loss_table<losses::L, Mode::mode, true>() }

#define TRACENORM_DEFINE_LOSS(L)                                                              \
  const LossKernels<losses::L>& loss_kernels_of(const losses::L*, Mode mode, bool weighted) { \
    static constexpr LossKernels<losses::L> tables[kModes][2] = {                             \
        TRACENORM_LOSS_TABLES(L, observed), TRACENORM_LOSS_TABLES(L, observed_complement),    \
        TRACENORM_LOSS_TABLES(L, masked), TRACENORM_LOSS_TABLES(L, masked_l1),                \
        TRACENORM_LOSS_TABLES(L, masked_complement)};                                         \
    return tables[static_cast<int>(mode)][weighted ? 1 : 0];                                  \
  }

}  // namespace tracenorm::kernels
