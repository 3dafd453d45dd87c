#include "fit/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace tracenorm {
namespace {

TEST(Split, PartsHaveTheirSizesAndKeepTheirOrder) {
  Entries entries;
  for (Index e = 0; e < 101; ++e) {
    entries.row.push_back(e);
    entries.col.push_back(0);
    entries.value.push_back(Real(e));
  }
  const Split split = split_entries(entries, {0.5, 0.3, 0.2}, 7);
  EXPECT_EQ(split.validation.size(), 30);
  EXPECT_EQ(split.test.size(), 20);
  EXPECT_EQ(split.train.size(), 51);
  for (const Entries* part : {&split.train, &split.validation, &split.test}) {
    EXPECT_TRUE(std::is_sorted(part->row.begin(), part->row.end()));
    for (std::size_t e = 0; e < part->row.size(); ++e) EXPECT_EQ(part->value[e], Real(part->row[e]));
  }
  EXPECT_NE(split.validation.row, split_entries(entries, {0.5, 0.3, 0.2}, 8).validation.row);
}

TEST(Split, IsTheSameOnAnyNumberOfThreadsAndInAnyVersion) {
  Entries entries;
  for (Index e = 0; e < 600'000; ++e) {
    entries.row.push_back(e);
    entries.col.push_back(0);
    entries.value.push_back(Real(e));
  }
  const Split one = split_entries(entries, {0.7, 0.2, 0.1}, 7, entries.value, 1);
  const Split more = split_entries(entries, {0.7, 0.2, 0.1}, 7, entries.value, 4);
  EXPECT_EQ(one.train.row, more.train.row);
  EXPECT_EQ(one.validation.row, more.validation.row);
  EXPECT_EQ(one.test.row, more.test.row);
  EXPECT_EQ(one.train_weight, one.train.value);
  EXPECT_EQ(one.validation_weight, one.validation.value);
  EXPECT_EQ(one.test.size(), 60'000);
  // By Fisher and Yates, one draw after another: what every version has drawn.
  std::vector<char> plain(600'000, 't');
  std::fill_n(plain.begin(), 120'000, 'v');
  std::fill_n(plain.begin() + 120'000, 60'000, 'x');
  Random random(7);
  for (std::size_t i = plain.size(); i > 1; --i) std::swap(plain[i - 1], plain[random.below(i)]);
  for (const Index row : one.validation.row) ASSERT_EQ(plain[static_cast<std::size_t>(row)], 'v');
  for (const Index row : one.test.row) ASSERT_EQ(plain[static_cast<std::size_t>(row)], 'x');
}

TEST(Split, OfManyEntriesHasItsShareOfEveryFourMillion) {
  constexpr Index count = 9'000'001;
  Entries entries;
  entries.row.resize(count);
  std::iota(entries.row.begin(), entries.row.end(), 0);
  entries.col.assign(count, 0);
  entries.value.assign(count, Real(1));
  const Split one = split_entries(entries, {0.7, 0.2, 0.1}, 7, {}, 1);
  const Split more = split_entries(std::move(entries), {0.7, 0.2, 0.1}, 7, {}, 3);
  EXPECT_EQ(one.validation.row, more.validation.row);
  EXPECT_EQ(one.test.row, more.test.row);
  EXPECT_EQ(one.validation.size(), 1'800'000);
  EXPECT_EQ(one.test.size(), 900'000);
  EXPECT_EQ(one.train.size(), 6'300'001);
  constexpr Index million = 1'000'000;
  for (Index from = 0; from < 9 * million; from += million) {
    const auto inside = [&](const Entries& part) {
      return double(std::lower_bound(part.row.begin(), part.row.end(), from + million) -
                    std::lower_bound(part.row.begin(), part.row.end(), from));
    };
    constexpr double four_deviations = 1600;  // of draws with these shares
    EXPECT_NEAR(inside(one.validation), 200'000, four_deviations) << from;
    EXPECT_NEAR(inside(one.test), 100'000, four_deviations) << from;
  }
}

}  // namespace
}  // namespace tracenorm
