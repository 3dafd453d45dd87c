#include "fit/gain.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.hpp"
#include "support/random_matrices.hpp"
#include "tracenorm/model.hpp"

namespace tracenorm {
namespace {

struct Sample {
  SplitAnswer answer;
  std::vector<double> base;
  std::vector<Real> value;

  [[nodiscard]] Refit refit() const { return find_gain(answer, base, value, Execution(2)); }
};

/// Values are the parts of the answer times their gains, plus noise.
Sample sample(std::size_t count, double gain, double small_gain, std::uint64_t seed, double outliers = 0) {
  Random random(seed);
  Sample s;
  for (std::size_t e = 0; e < count; ++e) {
    s.answer.large.push_back(Real(0.3 * random.normal()));
    s.answer.small.push_back(Real(0.2 * random.normal()) + s.answer.large[e] / 2);
    s.base.push_back(0.5 * random.normal());
    s.value.push_back(Real(gain * double(s.answer.large[e]) + small_gain * double(s.answer.small[e]) + s.base[e] +
                           0.7 * random.normal()));
    if (random.uniform() < outliers) s.value[e] += Real(10);
  }
  return s;
}

TEST(Gain, IsFound) {
  const Refit refit = sample(20000, 1.5, 1.5, 1).refit();
  EXPECT_TRUE(refit.taken);
  EXPECT_NEAR(refit.gain, 1.5, 0.05);
  EXPECT_EQ(refit.small_gain, refit.gain) << "two gains are no better";
  EXPECT_LT(refit.score, refit.score_of_1);
}

TEST(Gain, SmallSingularValuesMayHaveAnother) {
  const Refit refit = sample(20000, 1.2, 1.8, 3).refit();
  EXPECT_TRUE(refit.taken);
  EXPECT_NEAR(refit.gain, 1.2, 0.08);
  EXPECT_NEAR(refit.small_gain, 1.8, 0.08);
}

TEST(Gain, OutliersDoNotChoose) {
  const Refit refit = sample(20000, 1.2, 1.8, 2, 0.1).refit();
  EXPECT_NEAR(refit.gain, 1.2, 0.15);
  EXPECT_NEAR(refit.small_gain, 1.8, 0.15);
}

/// Where nothing is to be gained, chance alone asks for a gain; it is taken seldom (a test of two standard errors).
TEST(Gain, FewEntriesDoNoHarm) {
  int taken = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) taken += sample(30, 1, 1, seed).refit().taken ? 1 : 0;
  EXPECT_LE(taken, 10);
}

TEST(Gain, LiesOnALineBetweenTheLargestSingularValueAndZero) {
  Random random(5);
  LowRankMatrix x(test::normal_matrix(12, 3, random), Eigen::Vector3d(8, 4, 1), test::normal_matrix(9, 3, random));
  x.compress();
  const Refit refit{.gain = 1.2, .small_gain = 1.8};
  const LowRankMatrix y = with_values(x, gained(x, refit));
  Entries all;
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 9; ++j) {
      all.row.push_back(i);
      all.col.push_back(j);
    }
  }
  const SplitAnswer parts = split_answer(x, all, Execution(1));
  for (std::size_t e = 0; e < all.row.size(); ++e) {
    const double sum = 1.2 * double(parts.large[e]) + 1.8 * double(parts.small[e]);
    EXPECT_NEAR(sum, y.entry(all.row[e], all.col[e]), 1e-5 * x.values()[0]);
  }
  EXPECT_NEAR(y.values()[0], 1.2 * x.values()[0], 1e-12 * x.values()[0]);
}

}  // namespace
}  // namespace tracenorm
