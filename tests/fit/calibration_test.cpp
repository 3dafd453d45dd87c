// The shares of a calibration against the definition of isotonic regression, and how precise a list is.
#include "fit/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace tracenorm {
namespace {

/// max over first <= k of min over last >= k of the mean of labels first..last: the minimax formula.
double minimax(const std::vector<Scored>& sorted, std::size_t k) {
  double best = -1;
  for (std::size_t first = 0; first <= k; ++first) {
    double least = 2;
    for (std::size_t last = k; last < sorted.size(); ++last) {
      double positives = 0;
      for (std::size_t e = first; e <= last; ++e) positives += sorted[e].positive ? 1 : 0;
      least = std::min(least, positives / static_cast<double>(last - first + 1));
    }
    best = std::max(best, least);
  }
  return best;
}

TEST(Calibration, IsIsotonicRegression) {
  Random random(4);
  for (int draw = 0; draw < 20; ++draw) {
    std::vector<Scored> scored(40);
    for (std::size_t e = 0; e < scored.size(); ++e) {
      scored[e] = {static_cast<Real>(e), random.uniform() < static_cast<double>(e) / 40};
    }
    const Calibration share(scored);
    for (std::size_t e = 0; e < scored.size(); ++e)
      EXPECT_NEAR(share(double(scored[e].score)), minimax(scored, e), 1e-12);
    EXPECT_EQ(share(-5), share(0));
    EXPECT_EQ(share(1e9), share(39));
  }
}

TEST(Calibration, EqualScoresHaveOneShare) {
  const Calibration share({{1, false}, {1, true}, {2, true}, {2, false}, {2, true}});
  EXPECT_DOUBLE_EQ(share(1), 0.5);
  EXPECT_DOUBLE_EQ(share(2), 2.0 / 3);
}

// Where equal scores begin with a positive, the pool has risen before it falls again.
TEST(Calibration, EqualScoresThatFallBack) {
  const Calibration share({{1, false}, {1, true}, {2, true}, {2, false}, {2, false}, {3, true}});
  EXPECT_DOUBLE_EQ(share(1), 2.0 / 5);
  EXPECT_DOUBLE_EQ(share(2), 2.0 / 5);
  EXPECT_DOUBLE_EQ(share(3), 1);
}

TEST(Calibration, OfNothingIsNoNumber) { EXPECT_TRUE(std::isnan(Calibration({})(1))); }

TEST(AveragePrecision, IsTheMeanPrecisionAtThePositives) {
  std::vector<Scored> scored{{4, true}, {3, false}, {2, true}, {1, false}};
  area_under_curve(scored);
  EXPECT_DOUBLE_EQ(average_precision(scored), (1 + 2.0 / 3) / 2);
  std::vector<Scored> ties{{1, true}, {1, false}};  // both at once: half of what is there
  area_under_curve(ties);
  EXPECT_DOUBLE_EQ(average_precision(ties), 0.5);
  EXPECT_TRUE(std::isnan(average_precision({{1, false}})));
}

}  // namespace
}  // namespace tracenorm
