// What a certificate file holds: the problem as it was solved, what is claimed of an answer to it, and a point of the
// dual problem that proves it. With the data and the answer anybody can check the claim (verify.hpp, and
// docs/certificates.md says how without this library).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracenorm/preparation.hpp"
#include "tracenorm/problem.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm {

/// How the data become entries: a list of them, a full matrix with holes, or an undirected, directed or bipartite graph
/// (1 at edges, 0 elsewhere).
enum class DataKind { entries, matrix, graph, directed, bipartite };
std::string_view to_string(DataKind kind);
/// Throws an input error for another word.
DataKind parse_data_kind(std::string_view text);

/// CRC-32 (that of zlib and of Python's zlib.crc32) of what belongs to a claim: it finds files that do not belong
/// together, and numbers that were changed. What is true is for the arithmetic to say.
struct ClaimChecksums {
  std::uint32_t data = 0;    ///< prepared values of the observed entries, then their weights
  std::uint32_t answer = 0;  ///< left, values, right as in a model file
  std::uint32_t dual = 0;    ///< slopes, then `elsewhere` like the answer
};

struct Claim {
  // The problem, in prepared units.
  Loss loss = losses::Absolute{};
  Penalty penalty = NoPenalty{};
  TraceNormBall constraint{};
  SparsePattern observed{};  ///< the entries that the objective sums over
  bool weighted = false;     ///< their weights are part of the data

  // From the data to the problem.
  DataKind kind = DataKind::entries;
  Preparation preparation{};
  Entries replaced{};  ///< raw values that the run put in place of the data's: outliers or wrong links on purpose

  /// Offsets that are part of the answer: the loss is at X_ij + row_shift_i + col_shift_j, and row_ridge_i
  /// row_shift_i^2 and col_ridge_j col_shift_j^2 are added to the objective. All empty: there are none.
  std::vector<double> row_ridge{};
  std::vector<double> col_ridge{};
  std::vector<double> row_shift{};
  std::vector<double> col_shift{};

  // What is claimed.
  double objective = 0;    ///< of the answer: at most this
  double lower_bound = 0;  ///< of the objective of every matrix in the ball: at least this

  /// The proof of the lower bound: one slope per observed entry, or, with an l1 penalty, per entry of the matrix.
  DualPoint dual{};

  ClaimChecksums checksums{};
};

/// What a run claims that kept its dual point. Throws a numerical error when it has none.
Claim claim_of(const Problem& problem, const Preparation& preparation, const Result& result);

}  // namespace tracenorm
