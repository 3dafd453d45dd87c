#include "base/grouping.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "base/block_sums.hpp"
#include "base/random.hpp"

namespace tracenorm {
namespace {

TEST(Grouping, IsAStableSortOnAnyNumberOfThreads) {
  constexpr Index groups = 50;
  Random random(3);
  std::vector<Index> group(100'000);
  for (Index& one : group) one = static_cast<Index>(random.below(groups - 1));  // the last is empty
  std::vector<std::size_t> expected(group.size());
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return group[a] < group[b]; });
  for (const int threads : {1, 4}) {
    const Execution execution(threads);
    Grouping<Index> grouping(group, groups, execution);
    std::vector<std::size_t> order(group.size());
    grouping.place([&](std::size_t element, std::size_t place) { order[place] = element; });
    EXPECT_EQ(order, expected);
    EXPECT_EQ(grouping.begin().front(), 0);
    EXPECT_EQ(grouping.begin()[groups - 1], grouping.begin()[groups]);
    EXPECT_EQ(grouping.begin().back(), static_cast<Offset>(group.size()));
  }
}

TEST(Grouping, MoreGroupsThanElementsAndNone) {
  const Execution execution(2);
  const std::vector<ShortIndex> group{60000, 3, 60000};
  Grouping<ShortIndex> grouping(group, 65536, execution);
  EXPECT_EQ(grouping.begin()[3], 0);
  EXPECT_EQ(grouping.begin()[4], 1);
  EXPECT_EQ(grouping.begin().back(), 3);
  EXPECT_EQ(Grouping<Index>({}, 0, execution).begin().size(), 1U);
}

TEST(BlockSums, HaveTheSameBitsOnAnyNumberOfThreads) {
  Random random(5);
  std::vector<double> numbers(300'001);
  for (double& number : numbers) number = random.normal();
  const auto sum = [&](int threads) {
    return sum_over<2>(Execution(threads), numbers.size(),
                       [&](std::size_t e, Sums<2>& sums) {
                         sums.of[0] += numbers[e];
                         ++sums.of[1];
                       })
        .of;
  };
  EXPECT_EQ(sum(1), sum(3));
  EXPECT_EQ(sum(1)[1], 300'001);
  EXPECT_NEAR(sum(1)[0], std::accumulate(numbers.begin(), numbers.end(), 0.0), 1e-8);
}

// Sizes beyond 2^31, without the memory: what is cut are numbers.
TEST(Rows, OfMoreEntriesThanAnIntCounts) {
  constexpr Offset each = Offset{1} << 33U;
  const std::vector<Offset> begin{0, each, each, 2 * each, 3 * each, 4 * each};  // the second row has none
  const std::vector<Index> cuts = cut_rows_into(4, 5, begin.back(), begin.data());
  EXPECT_EQ(cuts, (std::vector<Index>{0, 1, 3, 4, 5}));
  Offset seen = 0;
  Offset last = 0;
  Execution(1).for_each_block(3 * each, each, [&](Offset first, Offset count) {
    seen += count;
    last = first;
  });
  EXPECT_EQ(seen, 3 * each);
  EXPECT_EQ(last, 2 * each);
}

}  // namespace
}  // namespace tracenorm
