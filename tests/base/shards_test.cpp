// Sums over shards: the order is that of a tree over their numbers, whichever of its branches are added up together.
#include "base/shards.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tracenorm {
namespace {

/// Numbers whose sum depends on the order.
double number(int shard, Offset k) { return std::pow(10.0, (shard * 5 + static_cast<int>(k)) % 17) / 3; }

double tree_sum(int first, int last, Offset k) {
  if (last - first == 1) return number(first, k);
  int half = 1;
  while (2 * half < last - first) half *= 2;
  return tree_sum(first, first + half, k) + tree_sum(first + half, last, k);
}

std::vector<double> parts_of(int first, int last, Offset width) {
  std::vector<double> parts;
  for (int s = first; s < last; ++s) {
    for (Offset k = 0; k < width; ++k) parts.push_back(number(s, k));
  }
  return parts;
}

ShardCuts rows_one_by_one(int shards) {
  ShardCuts cuts;
  cuts.rows.resize(static_cast<std::size_t>(shards) + 1);
  std::iota(cuts.rows.begin(), cuts.rows.end(), 0);
  return cuts;
}

/// Keeps what would travel.
struct Listener final : OtherShards {
  void add_up(std::span<const double> mine, std::span<double> /*out*/) override {
    heard.assign(mine.begin(), mine.end());
  }
  void add_up(std::span<const float> /*mine*/, std::span<float> /*out*/) override {}
  void in_turn(std::span<double> /*numbers*/, FunctionRef<void()> /*add*/) override {}
  void share_last(std::span<double> /*numbers*/) override {}
  std::vector<double> heard;
};

TEST(Shards, AreAddedAlongATree) {
  constexpr Offset kWidth = 37;
  const Execution execution(2);
  for (int shards = 1; shards <= 130; ++shards) {
    const Shards all(rows_one_by_one(shards));
    std::vector<double> parts = parts_of(0, shards, kWidth);
    std::vector<double> out(kWidth);
    all.add_up(parts.data(), kWidth, out.data());
    parts = parts_of(0, shards, kWidth);
    all.add_up(parts.data(), kWidth, parts.data(), execution, 8);  // in the place of the parts
    for (Offset k = 0; k < kWidth; ++k) {
      ASSERT_EQ(out[static_cast<std::size_t>(k)], tree_sum(0, shards, k)) << shards;
      ASSERT_EQ(parts[static_cast<std::size_t>(k)], tree_sum(0, shards, k)) << shards;
    }
  }
}

TEST(Shards, TravelAsWholeBranches) {
  constexpr Offset kWidth = 5;
  Listener others;
  for (const int all : {1, 7, 8, 13, 64}) {
    for (int first = 0; first < all; ++first) {
      for (int last = first; last <= all; ++last) {
        ShardCuts here = rows_one_by_one(last - first);
        const Shards some(here, first, all, others);
        std::vector<double> parts = parts_of(first, last, kWidth);
        std::vector<double> out(kWidth);
        some.add_up(parts.data(), kWidth, out.data());
        const std::vector<Branch> branches = whole_branches(first, last, all);
        ASSERT_EQ(others.heard.size(), branches.size() * kWidth);
        int next = first;
        for (std::size_t b = 0; b < branches.size(); ++b) {
          EXPECT_EQ(branches[b].first, next);
          next = branches[b].last;
          for (Offset k = 0; k < kWidth; ++k) {
            ASSERT_EQ(others.heard[b * kWidth + static_cast<std::size_t>(k)],
                      tree_sum(branches[b].first, branches[b].last, k));
          }
        }
        EXPECT_EQ(next, first == last ? first : last);
        EXPECT_LE(branches.size(), 2 * std::log2(all) + 1);
      }
    }
  }
}

/// As `parts_of`, for rounds; no more than there is room for.
auto maker_of(int above, Offset width, std::size_t room) {
  return [=](int first, int last, double* parts) {
    const std::vector<double> made = parts_of(above + first, above + last, width);
    ASSERT_LE(made.size(), room);
    std::copy(made.begin(), made.end(), parts);
  };
}

TEST(Shards, AreAddedInRoundsAlongTheSameTree) {
  constexpr Offset kWidth = 5;
  const Execution execution(2);
  Listener others;
  for (const int all : {1, 7, 8, 9, 32, 61, 64}) {
    for (const int at_once : {1, 2, 8, 64}) {
      const auto sum_of = [&](const Shards& shards, int above) {
        std::vector<double> parts(static_cast<std::size_t>(shards.outputs(at_once)) * kWidth);
        std::vector<double> out(kWidth);
        shards.add_up_in_rounds(at_once, parts.data(), kWidth, out.data(), execution, 2,
                                maker_of(above, kWidth, parts.size()));
        return out;
      };
      const std::vector<double> out = sum_of(Shards(rows_one_by_one(all)), 0);
      for (Offset k = 0; k < kWidth; ++k) ASSERT_EQ(out[static_cast<std::size_t>(k)], tree_sum(0, all, k));
      for (int first = 0; first < all; first += 3) {
        sum_of(Shards(rows_one_by_one(all - first), first, all, others), first);
        const std::vector<Branch> branches = whole_branches(first, all, all);
        ASSERT_EQ(others.heard.size(), branches.size() * kWidth);
        for (std::size_t b = 0; b < branches.size(); ++b) {
          ASSERT_EQ(others.heard[b * kWidth], tree_sum(branches[b].first, branches[b].last, 0)) << all << at_once;
        }
      }
    }
  }
  EXPECT_EQ(Shards(rows_one_by_one(32)).outputs(8), 8 + 4);
  EXPECT_EQ(Shards(rows_one_by_one(32)).outputs(32), 32);
}

TEST(Shards, AreCutByTheData) {
  EXPECT_EQ(cut_shards(1000, 16, 16000, nullptr).count(), 1);  // too few entries
  EXPECT_EQ(cut_shards(1000, 80, 80000, nullptr).rows,
            (std::vector<Index>{0, 104, 216, 328, 440, 552, 664, 776, 888, 1000}));
  EXPECT_EQ(cut_shards(20, 10000, 200000, nullptr).count(), 2);  // outputs of more would be as large as the entries
  const std::vector<Offset> long_rows{0, 30000, 60000, 100000};
  EXPECT_EQ(cut_shards(3, 10, 100000, long_rows.data()).count(), 3);  // a row is not cut
  EXPECT_EQ(cut_shards(100000, 100, 10000000, nullptr).count(), 64);
  EXPECT_EQ(cut_shards(100000, 100, Offset{1} << 33, nullptr).count(), 1024);
  const ShardCuts many = cut_shards(100000, 100, 10000000, nullptr);
  EXPECT_EQ(many.together, 2);
  EXPECT_EQ(many.joined().count(), 32);
}

TEST(Shards, JoinToBlocksOfTheTree) {
  const ShardCuts cuts = rows_one_by_one(64);
  EXPECT_EQ(join_shards(cuts.rows, 64, 64), (std::vector<Index>{0, 64}));
  EXPECT_EQ(join_shards(cuts.rows, 20, 64), (std::vector<Index>{0, 16, 32, 48, 64}));
  EXPECT_EQ(join_shards({0, 1000}, 250, 64), (std::vector<Index>{0, 250, 500, 750, 1000}));
  EXPECT_EQ(join_shards({0, 1000}, 100, 2), (std::vector<Index>{0, 500, 1000}));
}

}  // namespace
}  // namespace tracenorm
