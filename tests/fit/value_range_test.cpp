#include "fit/value_range.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace tracenorm {
namespace {

std::vector<Real> repeated(std::initializer_list<double> levels, int times) {
  std::vector<Real> values;
  for (int t = 0; t < times; ++t) values.insert(values.end(), levels.begin(), levels.end());
  return values;
}

TEST(ClearRange, StarsHaveFewLevels) {
  const ValueRange range = clear_range(repeated({1, 2, 3, 4, 5}, 20));
  EXPECT_EQ(range.lower, 1);
  EXPECT_EQ(range.upper, 5);
  EXPECT_EQ(range.clip(5.3), 5);
  EXPECT_EQ(range.clip(0.2), 1);
  EXPECT_EQ(range.clip(3.7), 3.7);
}

TEST(ClearRange, BlocksAgreeOnTheEnds) {
  // Three blocks: the least value is in the last one, the largest in the first, both too seldom in any one of them.
  std::vector<Real> values(700000);
  Random random(3);
  for (Real& value : values) value = Real(random.uniform());
  std::fill_n(values.begin(), 400, Real(2));
  std::fill_n(values.begin() + 300000, 400, Real(2));
  std::fill_n(values.end() - 800, 800, Real(-1));
  const Execution threads(3);
  const ValueRange range = clear_range(values, nullptr, threads);
  EXPECT_EQ(range.lower, -1);
  EXPECT_EQ(range.upper, 2);
  values[300001] = Real(0.5);
  std::fill_n(values.begin(), 350, Real(0.5));
  EXPECT_FALSE(clear_range(values, nullptr, threads).bounded());  // 449 of 700,000 are less than one in a thousand
  EXPECT_EQ(range_of(values, nullptr, threads).upper, 2);
  // The end of a block that is no end of all counts for nothing, whichever comes first.
  for (const bool first : {true, false}) {
    for (Real& value : values) value = Real(random.uniform());
    std::fill_n(values.begin() + 300000, 800, Real(2));
    std::fill_n(first ? values.begin() : values.end() - 800, 800, Real(0));
    std::fill_n(first ? values.end() - 400 : values.begin(), 400, Real(-1));
    EXPECT_FALSE(clear_range(values, nullptr, threads).bounded()) << first;
  }
}

TEST(ClearRange, AFewNumbersAreNoLevels) { EXPECT_FALSE(clear_range(repeated({1, 2, 3, 4, 5}, 2)).bounded()); }

std::vector<Real> waves(double height) {
  std::vector<Real> values(10000);
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = static_cast<Real>(height * std::sin(0.37 * static_cast<double>(k * k)));
  }
  return values;
}

TEST(ClearRange, MeasurementsHaveNone) {
  const std::vector<Real> values = waves(1);
  EXPECT_FALSE(clear_range(values).bounded());
  EXPECT_EQ(range_of(values).bounded(), true);  // who asks for it gets it
}

TEST(ClearRange, AScaleThatWasCutOff) {
  std::vector<Real> values = waves(1.2);
  for (Real& value : values) value = std::clamp(value, Real(-1), Real(1));
  const ValueRange range = clear_range(values);
  EXPECT_EQ(range.lower, -1);
  EXPECT_EQ(range.upper, 1);
}

TEST(ClearRange, ThirtyTwoLevelsAreFew) {
  for (const int count : {32, 33}) {
    for (const bool signed_zeros : {false, true}) {  // are one level
      Random random(3);
      std::vector<Real> values{0, Real(count - 1)};  // ends that are met too seldom to be those of a scale
      for (int k = 0; k < 2000; ++k) values.push_back(Real(1 + random.below(static_cast<std::uint64_t>(count) - 2)));
      if (signed_zeros) values.insert(values.begin() + 1, Real(-0.0));
      EXPECT_EQ(clear_range(values).bounded(), count == 32);
    }
  }
}

TEST(ClearRange, AnEndIsMetOftenEnoughWhereverItIs) {
  for (const int times : {9, 10}) {
    for (const double sign : {1.0, -1.0}) {
      std::vector<Real> values = waves(1);
      values.resize(9000);
      values.insert(values.begin(), 50, Real(1.5 * sign));  // until something is beyond it
      values.insert(values.begin() + 3000, static_cast<std::size_t>(times), Real(2 * sign));
      values.insert(values.end(), 20, Real(-2 * sign));
      EXPECT_EQ(clear_range(values).bounded(), times == 10) << sign;
    }
  }
}

TEST(ClearRange, HolesAndConstants) {
  std::vector<Real> values = repeated({0, 1}, 50);
  values.push_back(std::nanf(""));
  EXPECT_EQ(clear_range(values).upper, 1);
  EXPECT_FALSE(clear_range(std::vector<Real>(100, 3)).bounded());
  EXPECT_FALSE(clear_range(std::vector<Real>{}).bounded());
  EXPECT_FALSE(range_of(std::vector<Real>(3, std::nanf(""))).bounded());
}

}  // namespace
}  // namespace tracenorm
