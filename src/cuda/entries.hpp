// Kernels with one thread for every four entries, as functions that the host calls. Everything is put on a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/sums.hpp"
#include "cuda/report.hpp"
#include "kernels/kernels.hpp"
#include "tracenorm/loss.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm::cuda {

/// Rows or columns of entries, in 16 bits where that is enough.
struct Numbers {
  const void* data = nullptr;
  bool narrow = false;
};

/// Where entries are: as listed, or, without a list, row by row of a full matrix whose rows are `pitch` apart.
struct Places {
  Numbers row;
  Numbers col;
  Index cols = 0;
  Index pitch = 0;
};

/// Entries in some order: rows of a pattern, its columns, full rows, held-out ones. Arrays are as long as `count` says,
/// rounded up to a multiple of four; what stands between rows, or after the last entry, has no datum and stays zero.
struct EntryArrays {
  Offset count = 0;
  Places places;
  const Real* y = nullptr;  ///< NaN: missing. Null where the data are coded
  kernels::CodedData coded;
  const Real* w = nullptr;  ///< null: all one
  Real* x = nullptr;
  Real* slope = nullptr;           ///< null: not wanted
  std::uint16_t* rough = nullptr;  ///< slopes again, in bfloat16; null: not wanted
  Real* target = nullptr;
  Real* loss_shift = nullptr;     ///< null: none
  Real* penalty_shift = nullptr;  ///< null: none
};

/// What the functions of entries are made of.
struct EntryFunction {
  const Loss& loss;
  kernels::Mode mode;
  double lambda;
};

/// A target: an atom, one number a row and one a column (zeros follow, up to a multiple of four); where there is none,
/// the entries' own.
struct Atom {
  const Real* left = nullptr;
  const Real* right = nullptr;
};

/// How many blocks those take that report: numbers of parts follow.
int report_blocks(Offset count);

/// Slopes, and `objective`, `inner`, `conjugate`, `square_x`, `square_slope`, reported in this order where wanted.
inline constexpr int kLinearizeSums = 5;
void linearize(const EntryFunction& function, const EntryArrays& arrays, double width, bool with_conjugates,
               const Report* to, cudaStream_t stream);
/// Reports SegmentSums.
inline constexpr int kSegmentSums = 4 * kSegmentPoints;
struct SegmentTimes {
  Real t[kSegmentPoints];
};
void segment(const EntryFunction& function, const EntryArrays& arrays, const Atom& atom, const SegmentTimes& times,
             const double* width, const Report& to, cudaStream_t stream);
/// target = scale (x - atom); reports `objective`, `inner`, `square_x` as EntryStore::aim_without says.
inline constexpr int kAimSums = 3;
void aim_without(const EntryFunction& function, const EntryArrays& arrays, const Atom& atom, double scale,
                 const double* width, const Report* to, cudaStream_t stream);
/// x <- x + t (target - x); reports the largest |target - x| of entries that have a datum, or of all.
void move(const EntryArrays& arrays, const Atom& atom, double t, bool all, const Report* to, cudaStream_t stream);
void shift_kinks(const EntryFunction& function, const EntryArrays& arrays, double width, cudaStream_t stream);
/// average <- (1 - t) average + t from.
void blend(Real* average, const Real* from, Offset count, double t, cudaStream_t stream);

/// Reports HeldOutSums.
inline constexpr int kHeldOutSums = 3;
void held_out(const EntryFunction& function, const EntryArrays& arrays, const Report& to, cudaStream_t stream);

/// to = scale * left right' at the entries.
void load(const EntryArrays& arrays, const Real* left, const Real* right, Index columns, double scale, Real* to,
          cudaStream_t stream);

}  // namespace tracenorm::cuda
