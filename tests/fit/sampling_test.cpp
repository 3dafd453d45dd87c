#include "fit/sampling.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/random.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm {
namespace {

TEST(Sampling, AgreesWithTheMatrixAtPatternsAndPlaces) {
  Random random(11);
  constexpr Index rows = 150;
  constexpr Index cols = 90;
  for (const Index terms : {1, 16, 21}) {
    const LowRankMatrix x(test::normal_matrix(rows, terms, random), Eigen::VectorXd::LinSpaced(terms, 1, 2),
                          test::normal_matrix(cols, terms, random));
    const std::vector<double> values(x.values().begin(), x.values().end());
    std::vector<double> halves = values;
    for (double& value : halves) value /= 2;
    Entries places;
    for (Index i = 0; i < rows; i += 1 + i % 3) {  // rows without entries among them
      for (Index j = i % 5; j < cols; j += 4) {
        places.row.push_back(i);
        places.col.push_back(j);
        places.value.push_back(Real(0));
      }
    }
    const SparseObservations data = make_sparse(rows, cols, places);
    const std::array<std::vector<double>, 2> both{values, halves};
    std::array<std::vector<Real>, 2> listed;
    std::vector<Real> by_rows;
    for (const int threads : {1, 3}) {
      sample(x, values, data, Execution(threads), by_rows);
      sample(x, both, places, Execution(threads), listed);
      ASSERT_EQ(by_rows.size(), places.row.size());
      for (std::size_t e = 0; e < by_rows.size(); ++e) {  // both are in the order of rows
        const double exact = x.entry(places.row[e], places.col[e]);
        EXPECT_NEAR(by_rows[e], exact, 1e-5 * (1 + std::abs(exact)) * terms);
        EXPECT_EQ(by_rows[e], listed[0][e]);
        EXPECT_EQ(listed[1][e], listed[0][e] / 2);
      }
    }
  }
}

TEST(Sampling, OfNothingIsZero) {
  const LowRankMatrix zero(3, 4);
  std::vector<Real> out{1};
  sample(zero, {}, make_sparse(3, 4, {{0, 2}, {1, 3}, {1, 1}}), Execution(1), out);
  EXPECT_EQ(out, (std::vector<Real>{0, 0}));
}

}  // namespace
}  // namespace tracenorm
