// Kernels on entries for what is exact, with sums in double: X as its factors say, and what objectives and certificates
// are proved with. Everything is put on a stream.
#pragma once

#include "cuda/entries.hpp"

namespace tracenorm::cuda {

/// Factors row by row, for entries in double.
struct ExactRows {
  const double* left;
  const double* right;
  Index columns;
  const double* left_error = nullptr;  ///< as cpu::ExactFactors
  const double* right_error = nullptr;
};

/// to = left right' at the entries.
void load(const EntryArrays& arrays, const ExactRows& at, Real* to, cudaStream_t stream);

/// Makes slopes feasible (null: all zero, and they stay so); reports `conjugate`, `square_slope` and the size of what
/// was added up, which rounding is relative to.
inline constexpr int kConjugateSums = 3;
void conjugates(const EntryFunction& function, const EntryArrays& arrays, Real* slope, const Report* to,
                cudaStream_t stream);
/// Reports `objective`, `square_x`, the size of what was added up, and how many numbers were not finite.
inline constexpr int kValueSums = 4;
void values(const EntryFunction& function, const EntryArrays& arrays, const ExactRows& at, const Report& to,
            cudaStream_t stream);

/// dual = slope + twice_lambda x.
void dual_of(const Real* slope, const Real* x, double twice_lambda, Real* dual, Offset count, cudaStream_t stream);
/// rest = dual - twice_lambda left right'; reports the squares of left right' and of the rest.
inline constexpr int kRestSums = 2;
void dual_rest(const EntryArrays& arrays, const ExactRows& at, double twice_lambda, const Real* dual, Real* rest,
               const Report* to, cudaStream_t stream);
/// error[r] = factor times the length of row r.
void row_lengths(const double* rows, Offset count, Index columns, double factor, double* error, cudaStream_t stream);

}  // namespace tracenorm::cuda
