#include "tracenorm/preparation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "model/offsets.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {
namespace {

using Kind = Preparation::Kind;

/// value = 3 + 0.1 row - 0.05 col + noise, with a share of entries shifted by a lot.
Entries additive(Index rows, Index cols, double noise, double outliers) {
  Random random(5);
  Entries entries;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const double shift = random.uniform() < outliers ? 40.0 : 0.0;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(Real(3 + 0.1 * i - 0.05 * j + noise * random.normal() + shift));
    }
  }
  return entries;
}

double truth(Index i, Index j) { return 3 + 0.1 * i - 0.05 * j; }

/// Largest deviation of the offsets from the truth.
double largest_error(const Preparation& preparation, Index rows, Index cols) {
  double largest = 0;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) largest = std::max(largest, std::abs(preparation.base(i, j) - truth(i, j)));
  }
  return largest;
}

TEST(Preparation, ZScoresAreUndone) {
  Entries entries{{0, 0, 1, 1}, {0, 1, 0, 1}, {1, 2, 3, 4}};
  const Preparation preparation = fit_preparation(Preparation::Kind::zscore, Averaging::means, entries, 2, 2);
  EXPECT_DOUBLE_EQ(preparation.offset, 2.5);
  EXPECT_NEAR(preparation.scale, std::sqrt(5.0 / 3), 1e-12);
  prepare(preparation, entries);
  EXPECT_NEAR(double(entries.value[0]), -1.5 / std::sqrt(5.0 / 3), 1e-6);
  EXPECT_NEAR(preparation.undo(double(entries.value[0]), 0, 0), 1, 1e-6);
  const DenseObservations constant{1, 3, {3, 3, 3}, {}};
  EXPECT_THROW(fit_preparation(Preparation::Kind::zscore, Averaging::means, constant), Error);
  EXPECT_NO_THROW(fit_preparation(Preparation::Kind::center, Averaging::means, constant));
}

TEST(Preparation, OffsetsFindAnAdditiveModel) {
  const Entries entries = additive(200, 150, 0.1, 0);
  const Preparation means = fit_preparation(Kind::both, Averaging::means, entries, 200, 150);
  const Preparation robust = fit_preparation(Kind::both, Averaging::robust, entries, 200, 150);
  EXPECT_LT(largest_error(means, 200, 150), 0.1);
  EXPECT_LT(largest_error(robust, 200, 150), 0.1);
  EXPECT_EQ(means.row_offset.size(), 200U);
  EXPECT_EQ(means.col_offset.size(), 150U);
}

TEST(Preparation, OffsetsHaveTheSameBitsOnAnyNumberOfThreads) {
  const Entries entries = additive(300, 400, 0.5, 0.1);
  for (const Kind kind : {Kind::both, Kind::rows, Kind::columns}) {
    for (const Averaging averaging : {Averaging::means, Averaging::robust}) {
      const Preparation one = fit_preparation(kind, averaging, entries, 300, 400, 1);
      const Preparation more = fit_preparation(kind, averaging, entries, 300, 400, 3);
      EXPECT_EQ(one.row_offset, more.row_offset);
      EXPECT_EQ(one.col_offset, more.col_offset);
      EXPECT_EQ(one.offset, more.offset);
      EXPECT_EQ(one.scale, more.scale);
    }
  }
}

TEST(Preparation, RobustOffsetsLeaveOutliersOut) {
  const Entries entries = additive(200, 150, 0.1, 0.15);
  const Preparation means = fit_preparation(Kind::both, Averaging::means, entries, 200, 150);
  const Preparation robust = fit_preparation(Kind::both, Averaging::robust, entries, 200, 150);
  EXPECT_GT(largest_error(means, 200, 150), 3);  // fifteen percent of 40 is 6
  EXPECT_LT(largest_error(robust, 200, 150), 0.1);
  // The deviation of the values that are not outliers: rows 0.1 * 200 / sqrt(12), columns 0.05 * 150 / sqrt(12).
  EXPECT_NEAR(robust.scale, std::hypot(0.1 * 200, 0.05 * 150) / std::sqrt(12.0), 0.1);
  EXPECT_GT(means.scale, 2 * robust.scale);
}

TEST(Preparation, PreparedValuesComeBack) {
  for (const Kind kind : {Kind::none, Kind::center, Kind::zscore, Kind::rows, Kind::columns, Kind::both}) {
    Entries entries = additive(20, 30, 1.0, 0);
    const Entries raw = entries;
    const Preparation preparation = fit_preparation(kind, Averaging::robust, entries, 20, 30);
    prepare(preparation, entries);
    EXPECT_EQ(has_offsets(kind), !preparation.row_offset.empty() || !preparation.col_offset.empty());
    for (std::size_t e = 0; e < raw.row.size(); ++e) {
      EXPECT_NEAR(preparation.undo(double(entries.value[e]), raw.row[e], raw.col[e]), double(raw.value[e]), 1e-4);
    }
    EXPECT_EQ(parse_preparation(to_string(kind)), kind);
  }
}

TEST(Preparation, FewEntriesAreShrunkAndUnknownOnesGetTheRest) {
  // Rows differ by about one, the noise is as large; the last row but one has one entry, the last has none.
  Random random(9);
  Entries entries;
  std::vector<double> level(42);
  for (double& l : level) l = random.normal();
  for (Index i = 0; i < 41; ++i) {
    for (Index j = 0; j < (i < 40 ? 60 : 1); ++j) {
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(i < 40 ? Real(level[std::size_t(i)] + random.normal()) : Real(3));
    }
  }
  const Preparation rows = fit_preparation(Kind::rows, Averaging::means, entries, 42, 60);
  for (Index i = 0; i < 40; ++i) EXPECT_NEAR(rows.base(i, 0), level[std::size_t(i)], 0.6);
  const double shrunk = rows.row_offset[40] / (3 - rows.offset);  // n / (n + lambda) with n = 1, lambda about 1
  EXPECT_GT(shrunk, 0.3);
  EXPECT_LT(shrunk, 0.7);
  EXPECT_EQ(rows.row_offset[41], 0);
  EXPECT_TRUE(rows.col_offset.empty());
  EXPECT_DOUBLE_EQ(rows.base(Preparation::kUnknown, 0), rows.offset);
  EXPECT_DOUBLE_EQ(rows.base(1, Preparation::kUnknown), rows.offset + rows.row_offset[1]);
}

TEST(Preparation, OffsetsAreTheBestForTheirShrinkage) {
  // Rows and columns that are met unevenly, and the good ones more often: rounds alone would take hundreds to agree on
  // what is the offset of all.
  constexpr Index rows = 60;
  constexpr Index cols = 40;
  Random random(11);
  Entries entries;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (random.uniform() > 0.02 + 0.9 * (double(i) / rows) * (double(j) / cols)) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(Real(3 + 0.02 * i + 0.03 * j + 0.5 * random.normal()));
    }
  }
  Preparation found{.kind = Kind::both};
  const Shrinkage shrinkage = fit_offsets(found, Averaging::means, entries, rows, cols, Execution(1));
  // The normal equations of the offset of all, of rows and of columns.
  Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(1 + rows + cols, 1 + rows + cols);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(normal.rows());
  for (std::size_t e = 0; e < entries.value.size(); ++e) {
    const Eigen::Index places[] = {0, 1 + entries.row[e], 1 + rows + entries.col[e]};
    for (const Eigen::Index a : places) {
      right[a] += double(entries.value[e]);
      for (const Eigen::Index b : places) normal(a, b) += 1;
    }
  }
  normal.diagonal().segment(1, rows).array() += shrinkage.row;
  normal.diagonal().tail(cols).array() += shrinkage.col;
  const Eigen::VectorXd best = normal.ldlt().solve(right);
  EXPECT_NEAR(found.offset, best[0], 1e-4);
  for (Index i = 0; i < rows; ++i) EXPECT_NEAR(found.row_offset[std::size_t(i)], best[1 + i], 1e-4) << i;
  for (Index j = 0; j < cols; ++j) EXPECT_NEAR(found.col_offset[std::size_t(j)], best[1 + rows + j], 1e-4) << j;
}

TEST(Preparation, DenseAndSparseAgree) {
  const Entries entries = additive(12, 9, 0.3, 0.05);
  std::vector<Real> values = entries.value;
  values[5] = std::numeric_limits<Real>::quiet_NaN();
  DenseObservations dense{12, 9, values, {}};
  Entries without = entries;
  without.row.erase(without.row.begin() + 5);
  without.col.erase(without.col.begin() + 5);
  without.value.erase(without.value.begin() + 5);
  const Preparation a = fit_preparation(Kind::both, Averaging::robust, without, 12, 9);
  const Preparation b = fit_preparation(Kind::both, Averaging::robust, dense);
  EXPECT_EQ(a.row_offset, b.row_offset);
  EXPECT_EQ(a.col_offset, b.col_offset);
  prepare(b, dense);
  EXPECT_TRUE(std::isnan(dense.value[5]));
}

TEST(Preparation, ConstantAndExactDataHaveNoScaleToDivideBy) {
  const Entries constant{{0, 0, 1}, {0, 1, 0}, {4, 4, 4}};
  const Preparation preparation = fit_preparation(Kind::both, Averaging::robust, constant, 2, 2);
  EXPECT_EQ(preparation.scale, 1);
  EXPECT_NEAR(preparation.base(1, 1), 4, 1e-9);
}

TEST(Preparation, RobustForLossesWithBoundedSlopes) {
  EXPECT_EQ(averaging_for(parse_loss("absolute")), Averaging::robust);
  EXPECT_EQ(averaging_for(parse_loss("huber:1")), Averaging::robust);
  EXPECT_EQ(averaging_for(parse_loss("quantile:0.2")), Averaging::robust);
  EXPECT_EQ(averaging_for(parse_loss("squared")), Averaging::means);
}

}  // namespace
}  // namespace tracenorm
