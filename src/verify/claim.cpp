#include "tracenorm/claim.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "base/checksum.hpp"
#include "base/topic.hpp"
#include "tracenorm/error.hpp"
#include "verify/checksums.hpp"

namespace tracenorm {

namespace {

constexpr std::array<std::pair<std::string_view, DataKind>, 5> kKinds{{{"entries", DataKind::entries},
                                                                       {"matrix", DataKind::matrix},
                                                                       {"graph", DataKind::graph},
                                                                       {"directed", DataKind::directed},
                                                                       {"bipartite", DataKind::bipartite}}};

void add_rows(Checksum& checksum, const Eigen::Ref<const Eigen::MatrixXd>& matrix) {
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) checksum.add_number(matrix(i, j));
  }
}

void add_terms(Checksum& checksum, const LowRankMatrix& matrix) {
  if (matrix.terms() == 0) return;
  add_rows(checksum, matrix.left());
  add_rows(checksum, matrix.values());
  add_rows(checksum, matrix.right());
}

/// Of a full matrix with holes.
struct Seen {
  SparsePattern pattern;
  std::vector<Real> value;
  std::vector<Real> weight;
  std::vector<Real> slope;
};

Seen seen_part(const DenseObservations& dense, const std::vector<Real>& slope, bool all_slopes) {
  Seen seen;
  std::vector<Offset> begin{0};
  std::vector<Index> col;
  std::size_t place = 0;
  for (Index i = 0; i < dense.rows; ++i) {
    for (Index j = 0; j < dense.cols; ++j, ++place) {
      if (std::isnan(dense.value[place])) continue;
      col.push_back(j);
      seen.value.push_back(dense.value[place]);
      if (!dense.weight.empty()) seen.weight.push_back(dense.weight[place]);
      if (!all_slopes) seen.slope.push_back(slope[place]);
    }
    begin.push_back(static_cast<Offset>(col.size()));
  }
  seen.pattern = SparsePattern(dense.rows, dense.cols, std::move(begin), std::move(col));
  return seen;
}

}  // namespace

std::string_view to_string(DataKind kind) {
  for (const auto& [name, known] : kKinds) {
    if (known == kind) return name;
  }
  return "entries";
}

DataKind parse_data_kind(std::string_view text) {
  for (const auto& [name, kind] : kKinds) {
    if (name == text) return kind;
  }
  throw Error(ErrorCode::input, fmt::format("unknown kind of data '{}'; there are: entries, matrix, graph, "
                                            "directed, bipartite",
                                            text));
}

std::uint32_t checksum_of_data(const Real* prepared, const Real* weight, Offset count) {
  Checksum checksum;
  checksum.add(prepared, static_cast<std::size_t>(count) * sizeof(Real));
  if (weight != nullptr) checksum.add(weight, static_cast<std::size_t>(count) * sizeof(Real));
  return checksum.value();
}

std::uint32_t checksum_of_answer(const LowRankMatrix& answer) {
  Checksum checksum;
  add_terms(checksum, answer);
  return checksum.value();
}

std::uint32_t checksum_of_dual(const DualPoint& dual) {
  Checksum checksum;
  checksum.add(dual.slope.data(), dual.slope.size() * sizeof(Real));
  add_terms(checksum, dual.elsewhere);
  return checksum.value();
}

Claim claim_of(const Problem& problem, const Preparation& preparation, const Result& result) {
  if (!result.dual) {
    throw TopicError(ErrorCode::numerical, Topic::certificate,
                     "there is no certificate: the run proved no lower bound, or was not asked to keep its proof");
  }
  if (std::holds_alternative<losses::Custom>(problem.loss)) {
    throw TopicError(
        ErrorCode::input, Topic::certificate,
        "there is no certificate for a loss that is a function of one's own: it could not hold the formula");
  }
  if (!std::isfinite(result.objective) || !std::isfinite(result.lower_bound)) {
    throw TopicError(ErrorCode::numerical, Topic::certificate,
                     fmt::format("there is no certificate: the objective is {}, the lower bound {}", result.objective,
                                 result.lower_bound));
  }
  Claim claim{.loss = problem.loss,
              .penalty = problem.penalty,
              .constraint = problem.constraint,
              .preparation = preparation,
              .objective = result.objective,
              .lower_bound = result.lower_bound,
              .dual = *result.dual};
  if (problem.offsets) {  // they are not in the data, but in the answer
    claim.preparation.row_offset.clear();
    claim.preparation.col_offset.clear();
    claim.row_shift = result.offsets.row;
    claim.col_shift = result.offsets.col;
    claim.row_ridge.assign(claim.row_shift.size(), problem.offsets->row);
    claim.col_ridge.assign(claim.col_shift.size(), problem.offsets->col);
  }
  if (const auto* sparse = std::get_if<SparseObservations>(&problem.observations)) {
    claim.observed = sparse->pattern;
    const bool full = sparse->pattern.entries() == Offset(sparse->pattern.rows()) * sparse->pattern.cols();
    if (full) claim.dual.elsewhere = LowRankMatrix(sparse->pattern.rows(), sparse->pattern.cols());  // there is none
    claim.weighted = !sparse->weight.empty();
    claim.checksums.data = checksum_of_data(sparse->value.data(), claim.weighted ? sparse->weight.data() : nullptr,
                                            sparse->pattern.entries());
  } else {
    const auto& dense = std::get<DenseObservations>(problem.observations);
    const bool all_slopes = !std::holds_alternative<NoPenalty>(problem.penalty);
    Seen seen = seen_part(dense, claim.dual.slope, all_slopes);
    claim.weighted = !dense.weight.empty();
    claim.checksums.data =
        checksum_of_data(seen.value.data(), claim.weighted ? seen.weight.data() : nullptr, seen.pattern.entries());
    claim.observed = std::move(seen.pattern);
    if (!all_slopes) claim.dual.slope = std::move(seen.slope);
  }
  claim.checksums.answer = checksum_of_answer(result.solution);
  claim.checksums.dual = checksum_of_dual(claim.dual);
  return claim;
}

}  // namespace tracenorm
