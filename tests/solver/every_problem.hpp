// Small problems with known optima on every backend and both ways of keeping entries: what an evaluator has to do
// there.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "cuda/backend.hpp"
#include "distributed/backend.hpp"
#include "model/coded_data.hpp"
#include "solver/evaluator.hpp"
#include "support/evaluation.hpp"
#include "support/optima.hpp"
#include "support/plain_backend.hpp"
#include "tracenorm/mpi.hpp"

namespace tracenorm::test {

/// A problem in one place: `problem` is how it is given there, `sparse` the same data on a pattern.
struct Case {
  std::string name;
  Problem problem;
  Problem sparse;
  const Backend* backend;
};

inline void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

/// The same problem with data of few levels.
inline Problem with_quarters(Problem problem) {
  auto& sparse = std::get<SparseObservations>(problem.observations);
  std::vector<Real> value(sparse.value.begin(), sparse.value.end());
  for (Real& y : value) y = std::round(4 * y) / 4;
  sparse.value = std::move(value);
  return problem;
}

inline std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const SolvedProblem& solved : solved_problems()) {
    const Problem& sparse = solved.problem;
    Problem dense = sparse;
    dense.observations = make_dense(std::get<SparseObservations>(sparse.observations));
    cases.push_back({solved.name + " cpu sparse", sparse, sparse, &cpu_backend()});
    cases.push_back({solved.name + " cpu dense", dense, sparse, &cpu_backend()});
    const Problem quarters = with_quarters(sparse);
    DenseObservations coded = make_dense(std::get<SparseObservations>(quarters.observations));
    coded.value = coded_where_possible(coded.value);
    if (!coded.value.code().empty()) {
      Problem in_codes = quarters;
      in_codes.observations = std::move(coded);
      cases.push_back({solved.name + " cpu codes", std::move(in_codes), quarters, &cpu_backend()});
    }
    cases.push_back({solved.name + " plain", sparse, sparse, &plain_backend()});
    if (Ranks* ranks = mpi_ranks();
        ranks != nullptr && rows(sparse.observations) >= ranks->size()) {  // where mpirun has started the tests
      static const DistributedBackend shared(cpu_backend(), *ranks);
      static const DistributedBackend plain(plain_backend(), *ranks);
      cases.push_back({solved.name + " ranks sparse", sparse, sparse, &shared});
      cases.push_back({solved.name + " ranks dense", dense, sparse, &shared});
      cases.push_back({solved.name + " ranks plain", sparse, sparse, &plain});
    }
    if (!cuda_devices().none.empty()) continue;  // tests/cuda says why
    cases.push_back({solved.name + " cuda sparse", sparse, sparse, &cuda_backend()});
    cases.push_back({solved.name + " cuda dense", dense, sparse, &cuda_backend()});
  }
  return cases;
}

class EveryProblem : public testing::TestWithParam<Case> {
 protected:
  static std::shared_ptr<Evaluator> make() { return make_evaluator(GetParam().problem, *GetParam().backend); }
  /// X at the entries, as the next pass sees it.
  static double objective(Evaluator& f) { return f.linearize(0.3, false).objective; }
  /// A few steps away from zero.
  static void wander(Evaluator& f) {
    for (int k = 0; k < 4; ++k) {
      f.linearize(0.5, false);
      f.aim(f.leading_atom({1e-6, 100}).atom);
      f.move(2.0 / (k + 3));
    }
  }
};

/// Any matrix of the shape, as factors on the host.
struct HostFactors {
  Eigen::MatrixXd left;
  Eigen::MatrixXd right;
  [[nodiscard]] LowRankMatrix times(double scale) const {
    return {left, Eigen::VectorXd::Constant(left.cols(), scale), right};
  }
  /// In panels for descents, which have a multiple of kFactorStep columns.
  [[nodiscard]] Product upload(Panels& panels) const {
    const auto columns = static_cast<Index>(left.cols());
    Product all{panels.make(Side::left, Use::descent, kFactorStep),
                panels.make(Side::right, Use::descent, kFactorStep)};
    panels.upload(left, all.left.middle(0, columns));
    panels.upload(right, all.right.middle(0, columns));
    return all;
  }
};

inline HostFactors some_factors(const Evaluator& f, Index terms, std::uint64_t seed) {
  Random random(seed);
  const auto draw = [&](Index rows) {
    return Eigen::MatrixXd(Eigen::MatrixXd::NullaryExpr(rows, terms, [&] { return double(Real(random.normal())); }));
  };
  return {draw(f.rows()), draw(f.cols())};
}

}  // namespace tracenorm::test
