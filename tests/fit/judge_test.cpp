#include "fit/judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "report/example.hpp"

namespace tracenorm {
namespace {

using report::single_entry;

TEST(Judge, NumbersByErrorsInBothUnits) {
  // raw = 3 + 2 * prepared, so the predictions are 3 + 2 * 6 = 15 at (0, 0) and 3 elsewhere.
  const Preparation preparation{Preparation::Kind::zscore, 3, 2};
  const HeldOut held_out =
      judge(single_entry(4, 5, 0, 0, 6), losses::Absolute{}, preparation, Entries{{0, 1}, {0, 2}, {12, 7}});
  EXPECT_EQ(held_out.entries, 2);
  EXPECT_DOUBLE_EQ(*held_out.mae, 3.5);  // 3 and 4
  EXPECT_DOUBLE_EQ(*held_out.rmse, std::sqrt(12.5));
  EXPECT_DOUBLE_EQ(*held_out.mae_prepared, 1.75);
  EXPECT_DOUBLE_EQ(*held_out.rmse_prepared, std::sqrt(12.5) / 2);
  EXPECT_FALSE(held_out.auc);
}

TEST(Judge, UnknownRowsAndColumnsArePredictedByWhatIsKnown) {
  // (0, 0) is 15; a known row has its offset, a known column its own, and nobody knows more about the others.
  const Preparation preparation{Preparation::Kind::both, 3, 2, {0, 1, 0, 0}, {0, 0, 4, 0, 0}};
  constexpr Index kUnknown = Preparation::kUnknown;
  const HeldOut held_out = judge(single_entry(4, 5, 0, 0, 6), losses::Absolute{}, preparation,
                                 Entries{{0, 1, kUnknown, kUnknown}, {0, kUnknown, 2, kUnknown}, {15, 5, 9, 6}});
  EXPECT_EQ(held_out.entries, 4);
  EXPECT_EQ(held_out.unknown, 3);
  EXPECT_DOUBLE_EQ(*held_out.mae, (0 + 1 + 2 + 3) / 4.0);
}

TEST(Judge, PredictionsKeepWithinTheRange) {
  const Preparation preparation{Preparation::Kind::zscore, 3, 2, {}, {}, {1, 5}};
  const HeldOut held_out =
      judge(single_entry(4, 5, 0, 0, 6), losses::Absolute{}, preparation, Entries{{0, 1}, {0, 2}, {4, 3}});
  EXPECT_DOUBLE_EQ(*held_out.mae, 0.5);  // 5 instead of 15, and 3
}

std::vector<std::pair<double, double>> curve(std::vector<Scored> scored, std::size_t points = 100) {
  area_under_curve(scored);
  return roc_curve(scored, points);
}

TEST(RocCurve, ByHand) {
  using Points = std::vector<std::pair<double, double>>;
  EXPECT_EQ(curve({{1, false}, {2, true}}), (Points{{0, 0}, {0, 1}, {1, 1}}));
  EXPECT_EQ(curve({{2, false}, {1, true}}), (Points{{0, 0}, {1, 0}, {1, 1}}));
  EXPECT_EQ(curve({{1, false}, {1, true}}), (Points{{0, 0}, {1, 1}}));  // a tie is one step
  EXPECT_TRUE(curve({{1, true}}).empty());
}

TEST(AreaUnderCurve, ManyScoresAreSortedByTheirDigits) {
  constexpr int levels = 101;  // from -50 to 50 sevenths, zero with either sign
  Random random(5);
  std::vector<Scored> scored;
  std::vector<double> links(levels);
  std::vector<double> others(levels);
  for (int e = 0; e < 30'000; ++e) {
    const bool positive = random.uniform() < 0.3;
    const auto level = static_cast<int>(random.below(levels - (positive ? 0 : 20)));
    const Real score = Real(level - 50) / 7;
    scored.push_back({score == 0 && positive ? -score : score, positive});
    (positive ? links : others)[static_cast<std::size_t>(level)] += 1;
  }
  double below = 0;  // others
  double pairs = 0;  // in which the link has the higher score
  double all_links = 0;
  for (std::size_t k = 0; k < levels; ++k) {
    pairs += links[k] * (below + others[k] / 2);
    below += others[k];
    all_links += links[k];
  }
  EXPECT_NEAR(area_under_curve(scored), pairs / (below * all_links), 1e-12);
  const auto less = [](const Scored& a, const Scored& b) { return a.score < b.score; };
  EXPECT_TRUE(std::is_sorted(scored.begin(), scored.end(), less));
  scored[7].score = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_TRUE(std::isnan(area_under_curve(scored)));
}

TEST(RocCurve, AFewPointsHaveTheSameArea) {
  Random random(4);
  std::vector<Scored> scored;
  for (int e = 0; e < 5000; ++e) {
    const bool positive = random.uniform() < 0.3;
    scored.push_back({static_cast<Real>(random.normal() + (positive ? 1 : 0)), positive});
  }
  const auto points = curve(scored, 100);
  EXPECT_LE(points.size(), 120U);
  double area_below = 0;
  for (std::size_t p = 1; p < points.size(); ++p) {
    area_below += (points[p].first - points[p - 1].first) * (points[p].second + points[p - 1].second) / 2;
  }
  EXPECT_NEAR(area_below, area_under_curve(scored), 2e-3);
}

double area(std::vector<Scored> scored) { return area_under_curve(scored); }

TEST(AreaUnderCurve, ByHand) {
  EXPECT_EQ(area({{1, false}, {2, true}}), 1);
  EXPECT_EQ(area({{2, false}, {1, true}}), 0);
  EXPECT_EQ(area({{1, false}, {1, true}}), 0.5);
  EXPECT_EQ(area({{3, true}, {1, false}, {2, true}, {2, false}}), 0.875);  // of four pairs three and a half
}

TEST(AreaUnderCurve, IsTheShareOfPairs) {
  Random random(3);
  std::vector<Scored> scored(200);
  for (Scored& one : scored) one = {static_cast<Real>(std::round(4 * random.normal())), random.uniform() < 0.3};
  double won = 0;
  double pairs = 0;
  for (const Scored& a : scored) {
    for (const Scored& b : scored) {
      if (!a.positive || b.positive) continue;
      ++pairs;
      won += a.score > b.score ? 1 : a.score == b.score ? 0.5 : 0;
    }
  }
  EXPECT_NEAR(area(scored), won / pairs, 1e-12);
}

TEST(AreaUnderCurve, UndefinedIsNotANumber) {
  EXPECT_TRUE(std::isnan(area({})));
  EXPECT_TRUE(std::isnan(area({{1, true}, {2, true}})));
  EXPECT_TRUE(std::isnan(area({{1, false}})));
  EXPECT_TRUE(std::isnan(area({{std::nanf(""), true}, {1, false}})));
}

TEST(Judge, LabelsByTheirOrder) {
  const HeldOut held_out =
      judge(single_entry(4, 5, 0, 0, 6), losses::Logistic{}, {}, Entries{{0, 1, 2}, {0, 1, 2}, {1, -1, 0}});
  EXPECT_EQ(held_out.auc, 1);
  EXPECT_EQ(held_out.entries, 3);
  EXPECT_FALSE(held_out.rmse);
}

}  // namespace
}  // namespace tracenorm
