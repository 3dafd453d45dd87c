#include "distributed/share.hpp"

#include <utility>

namespace tracenorm::distributed {

namespace {

Offset entries_before(const Observations& observations, Index row) {
  if (const auto* sparse = std::get_if<SparseObservations>(&observations)) return sparse->pattern.begin()[row];
  return static_cast<Offset>(row) * cols(observations);
}

}  // namespace

Observations rows_of(const Observations& observations, Index first, Index last) {
  const Offset from = entries_before(observations, first);
  const Offset to = entries_before(observations, last);
  if (const auto* dense = std::get_if<DenseObservations>(&observations)) {
    return DenseObservations{last - first, dense->cols, dense->value.slice(from, to), dense->weight.slice(from, to)};
  }
  const auto& sparse = std::get<SparseObservations>(observations);
  std::vector<Offset> begin(sparse.pattern.begin() + first, sparse.pattern.begin() + last + 1);
  for (Offset& place : begin) place -= from;
  SparsePattern pattern = SparsePattern::unchecked(last - first, sparse.pattern.cols(), std::move(begin),
                                                   sparse.pattern.col().slice(from, to));
  return SparseObservations{std::move(pattern), sparse.value.slice(from, to), sparse.weight.slice(from, to)};
}

Observations rows_here(SparseObservations data) {
  data.shared = nullptr;
  return data;
}

}  // namespace tracenorm::distributed
