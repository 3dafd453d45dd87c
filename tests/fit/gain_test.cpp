#include "fit/gain.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.hpp"

namespace tracenorm {
namespace {

struct Sample {
  std::vector<Real> answer;
  std::vector<double> base;
  std::vector<Real> value;
};

/// Values are `gain` times the answer plus noise.
Sample sample(std::size_t count, double gain, std::uint64_t seed, double outliers = 0) {
  Random random(seed);
  Sample s;
  for (std::size_t e = 0; e < count; ++e) {
    s.answer.push_back(Real(0.3 * random.normal()));
    s.base.push_back(0.5 * random.normal());
    s.value.push_back(Real(gain * double(s.answer[e]) + s.base[e] + 0.7 * random.normal()));
    if (random.uniform() < outliers) s.value[e] += Real(10);
  }
  return s;
}

TEST(Gain, IsFound) {
  const Sample s = sample(20000, 1.5, 1);
  const Refit refit = find_gain(s.answer, s.base, s.value);
  EXPECT_TRUE(refit.taken);
  EXPECT_NEAR(refit.gain, 1.5, 0.05);
  EXPECT_LT(refit.score, refit.score_of_1);
}

TEST(Gain, OutliersDoNotChoose) {
  const Sample s = sample(20000, 1.5, 2, 0.1);
  EXPECT_NEAR(find_gain(s.answer, s.base, s.value).gain, 1.5, 0.1);
}

/// Where nothing is to be gained, chance alone asks for a gain; it is taken seldom (a test of two standard errors).
TEST(Gain, FewEntriesDoNoHarm) {
  int taken = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Sample s = sample(30, 1, seed);
    taken += find_gain(s.answer, s.base, s.value).taken ? 1 : 0;
  }
  EXPECT_LE(taken, 10);
}

}  // namespace
}  // namespace tracenorm
