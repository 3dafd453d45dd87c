// Small problems that are valid, out of any bytes: the same bytes, the same problem.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <limits>

#include "tracenorm/options.hpp"

namespace tracenorm::fuzz {

struct FuzzedProblem {
  Problem problem;
  Method method;
  RunOptions run;
};

inline Loss fuzzed_loss(FuzzedDataProvider& bytes) {
  switch (bytes.ConsumeIntegralInRange(0, 6)) {
    case 0:
      return losses::Absolute{};
    case 1:
      return losses::Squared{};
    case 2:
      return losses::Huber{bytes.ConsumeFloatingPointInRange(0.01, 3.0)};
    case 3:
      return losses::Quantile{bytes.ConsumeFloatingPointInRange(0.05, 0.95)};
    case 4:
      return losses::EpsilonInsensitive{bytes.ConsumeFloatingPointInRange(0.0, 1.0)};
    case 5:
      return losses::Logistic{};
    default:
      return losses::Hinge{};
  }
}

inline FuzzedProblem fuzzed_problem(FuzzedDataProvider& bytes) {
  const Index rows = bytes.ConsumeIntegralInRange<Index>(1, 7);
  const Index cols = bytes.ConsumeIntegralInRange<Index>(1, 7);
  FuzzedProblem made;
  Problem& problem = made.problem;
  problem.loss = fuzzed_loss(bytes);
  const bool labels = wants_labels(problem.loss);
  const double scale = std::array{1.0, 1e-4, 1e5}[bytes.ConsumeIntegralInRange<std::size_t>(0, 2)];
  const bool weighs = bytes.ConsumeBool();
  const bool dense = bytes.ConsumeBool();
  Entries entries;
  std::vector<Real> weight;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const auto byte = bytes.ConsumeIntegral<std::uint8_t>();
      if (byte % 4 == 0 && i + j > 0) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(labels ? Real(byte % 2 == 0 ? -1 : 1) : Real(scale * (byte - 128) / 32.0));
      if (weighs) weight.push_back(Real(0.25 + byte % 8));
    }
  }
  const auto penalty = bytes.ConsumeIntegralInRange(0, 3);
  if (penalty == 1) problem.penalty = L1Penalty{bytes.ConsumeFloatingPointInRange(0.0, 1.0)};
  if (penalty == 2 && !dense) problem.penalty = ComplementSquaredPenalty{bytes.ConsumeFloatingPointInRange(0.0, 1.0)};
  problem.observations = make_sparse(rows, cols, entries, weight);
  if (dense) problem.observations = make_dense(std::get<SparseObservations>(problem.observations));
  problem.constraint.radius = scale * bytes.ConsumeFloatingPointInRange(0.0, 60.0);
  if (penalty == 0 && bytes.ConsumeBool()) {
    problem.constraint = weighted_ball(problem.constraint.radius, {0.5, 0.5}, problem.observations);
  }
  const std::array<const char*, 6> names{"fwua", "rdfw", "corrective", "sccg", "hcgs", "sccg-sg"};
  made.method = parse_method(names[bytes.ConsumeIntegralInRange<std::size_t>(0, names.size() - 1)]);
  made.run.iterations = bytes.ConsumeIntegralInRange(0, 8);
  made.run.seed = bytes.ConsumeIntegral<std::uint16_t>();
  made.run.threads = 1;
  if (bytes.ConsumeBool()) made.run.gap = 1e-3;
  return made;
}

}  // namespace tracenorm::fuzz
