// Answers of the solver are proved: every loss, penalty, weighting and store, and what the proof adds to the gap is
// rounding.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "support/identifier.hpp"
#include "tracenorm/solve.hpp"
#include "tracenorm/verify.hpp"
#include "verify/every_kind.hpp"

namespace tracenorm {
namespace {

using test::every_loss;
using test::every_penalty;

using Choice = std::tuple<int, int, bool, bool, bool>;  // loss, penalty, weights, norm weights, full matrix

struct Given {
  Problem problem;
  GivenData data;
};

Given make_problem(const Choice& choice, std::uint64_t seed) {
  const auto [loss, penalty, weighted, norm_weights, full] = choice;
  Random random(seed);
  const Index rows = seed % 2 == 0 ? 20 : 14;
  const Index cols = seed % 2 == 0 ? 12 : 25;
  Given given;
  given.data.rows = rows;
  given.data.cols = cols;
  Eigen::VectorXd u(rows);
  Eigen::VectorXd v(cols);
  for (double& element : u) element = random.normal();
  for (double& element : v) element = random.normal();
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (random.uniform() < 0.4) continue;
      const double y = 2 * u[i] * v[j] + random.normal();
      given.data.entries.row.push_back(i);
      given.data.entries.col.push_back(j);
      const Real datum =
          wants_labels(every_loss()[std::size_t(loss)]) ? (y < 0 ? Real(-1) : Real(1)) : static_cast<Real>(y);
      given.data.entries.value.push_back(datum);
      if (weighted) given.data.weight.push_back(static_cast<Real>(0.5 + random.uniform()));
    }
  }
  SparseObservations sparse = make_sparse(rows, cols, given.data.entries, given.data.weight);
  given.problem.observations = full ? Observations(make_dense(sparse)) : Observations(std::move(sparse));
  given.problem.loss = every_loss()[std::size_t(loss)];
  given.problem.penalty = every_penalty()[std::size_t(penalty)];
  given.problem.constraint = weighted_ball(15, {norm_weights ? 0.5 : 0.0, 0.3}, given.problem.observations);
  return given;
}

class Solved : public testing::TestWithParam<Choice> {};

TEST_P(Solved, IsProved) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const Given given = make_problem(GetParam(), seed);
    for (const char* method : {"fwua", "corrective", "rdfw"}) {
      SCOPED_TRACE(method);
      RunOptions options;
      options.iterations = 40;
      options.keep_dual = true;
      options.threads = 1;
      const Result result = solve(given.problem, parse_method(method), options);
      ASSERT_TRUE(result.dual.has_value());
      const Claim claim = claim_of(given.problem, {}, result);
      const Model model{result.solution, {}, {}, {}};
      const Verification found = verify(claim, given.data, model);
      ASSERT_EQ(found.verdict, Verification::Verdict::proved) << to_text(found);
      const double size = std::abs(result.objective) + std::abs(result.lower_bound);
      EXPECT_LE(found.objective - found.lower_bound, result.objective - result.lower_bound + 1e-12 * size);
      EXPECT_NEAR(found.objective, result.objective, 1e-6 * size);
      EXPECT_NEAR(found.lower_bound, result.lower_bound, 1e-6 * size);

      Claim bold = claim;  // what is claimed is not far from what can be proved
      bold.lower_bound += 1e-5 * size + 1e-3 * (result.objective - result.lower_bound);
      EXPECT_EQ(verify(bold, given.data, model).verdict, Verification::Verdict::refuted);
      bold = claim;
      bold.objective -= 1e-6 * size;
      EXPECT_EQ(verify(bold, given.data, model).verdict, Verification::Verdict::refuted);
    }
  }
}

std::string choice_name(const testing::TestParamInfo<Choice>& info) {
  const auto [loss, penalty, weighted, norm_weights, full] = info.param;
  return test::identifier(to_string(every_loss()[std::size_t(loss)]) + "_" +
                          to_string(every_penalty()[std::size_t(penalty)]) + (weighted ? "_weighted" : "") +
                          (norm_weights ? "_norm" : "") + (full ? "_full" : ""));
}

std::vector<Choice> all_choices() {
  std::vector<Choice> choices;
  for (int loss = 0; loss < static_cast<int>(every_loss().size()); ++loss) {
    for (int penalty = 0; penalty < static_cast<int>(every_penalty().size()); ++penalty) {
      for (int bits = 0; bits < 8; ++bits) {
        const bool norm_weights = (bits & 2) != 0;
        const bool full = (bits & 4) != 0;
        const bool refused = std::holds_alternative<ComplementSquaredPenalty>(every_penalty()[std::size_t(penalty)]) &&
                             norm_weights && !full;  // the solver does not take them together
        if (!refused) choices.emplace_back(loss, penalty, (bits & 1) != 0, norm_weights, full);
      }
    }
  }
  return choices;
}

INSTANTIATE_TEST_SUITE_P(Verify, Solved, testing::ValuesIn(all_choices()), choice_name);

}  // namespace
}  // namespace tracenorm
