#include "fit/spread.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/grouping.hpp"
#include "base/random.hpp"

namespace tracenorm {
namespace {

constexpr Index kRows = 50;
constexpr Index kCols = 40;

/// Predictions are zero; errors are normal, with a deviation of 1 + row / 10.
Judged errors(Entries& entries, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t e = 0; e < count; ++e) {
    const auto row = static_cast<Index>(random.below(kRows));
    entries.row.push_back(row);
    entries.col.push_back(static_cast<Index>(random.below(kCols)));
    entries.value.push_back(Real((1 + row / 10.0) * random.normal()));
  }
  return {entries, std::vector<double>(count, 0.0)};
}

TEST(Spread, CoversWhatItPromisesForNoisyAndQuietRows) {
  Entries train;
  Entries held;
  Entries fresh;
  const std::vector<Offset> counts(kRows, 100);
  errors(train, 20000, 1);
  const Execution execution(2);
  Grouping<Index> by_row(train.row, kRows, execution);
  std::vector<Index> col(train.col.size());
  std::vector<Real> error(train.col.size());
  by_row.place([&](std::size_t e, std::size_t place) {
    col[place] = train.col[e];
    error[place] = std::abs(train.value[e]);
  });
  Spread spread = widths({SparsePattern::unchecked(kRows, kCols, by_row.begin(), col), {}, {}}, error, execution);
  const Judged judged = errors(held, 5000, 2);
  correct(spread, correction(spread, judged, counts), counts);
  spread.scores = scores(spread, judged);
  errors(fresh, 40000, 3);
  for (const double level : {0.5, 0.9}) {
    for (const bool noisy : {false, true}) {
      double inside = 0;
      double all = 0;
      for (std::size_t e = 0; e < fresh.row.size(); ++e) {
        if ((fresh.row[e] >= kRows / 2) != noisy) continue;
        inside += std::abs(fresh.value[e]) <= spread.half_width(level, fresh.row[e], fresh.col[e]) ? 1 : 0;
        ++all;
      }
      EXPECT_NEAR(inside / all, level, 0.02) << level << (noisy ? " noisy" : " quiet");
    }
  }
  EXPECT_LT(spread.half_width(0.9, 0, 0), spread.half_width(0.9, kRows - 1, 0));
}

TEST(Spread, TooFewScoresPromiseNothing) {
  Spread spread{{1.0}, {2.0}, 3.0, {0.5, 1, 2}};
  EXPECT_EQ(spread.half_width(0.75, 0, 0), 4);                     // the third of three
  EXPECT_TRUE(std::isinf(spread.half_width(0.9, 0, 0)));           // would be the fourth
  EXPECT_EQ(spread.half_width(0.5, Preparation::kUnknown, 0), 6);  // a row that is not known
  EXPECT_EQ(spread.half_width(0.5, 0, Preparation::kUnknown), 1);
}

}  // namespace
}  // namespace tracenorm
