// A search on a share of the rows: who is drawn, rows from columns, and what becomes of the answer.
#include "fit/row_share.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "base/random.hpp"
#include "fit/rows_of_columns.hpp"
#include "tracenorm/fit.hpp"

namespace tracenorm {
namespace {

constexpr Index kRows = 900;
constexpr Index kCols = 60;

/// Offsets, a taste of rank two, noise, rows of uneven length.
FitData ratings(Index rows = kRows, std::uint64_t noise_seed = 2) {
  Random random(1);
  Random noise(noise_seed);
  Eigen::MatrixXd item(kCols, 3);
  for (double& value : item.reshaped()) value = random.normal();
  FitData data{rows, kCols, {}};
  for (Index i = 0; i < rows; ++i) {
    const double share = 0.2 + 0.6 * random.uniform();
    const Eigen::Vector3d user(random.normal(), random.normal(), 1);
    const double offset = random.normal();
    for (Index j = 0; j < kCols; ++j) {
      if (random.uniform() > share) continue;
      data.entries.row.push_back(i);
      data.entries.col.push_back(j);
      data.entries.value.push_back(Real(3 + offset + item.row(j).dot(user) + 0.5 * noise.normal()));
    }
  }
  return data;
}

SparseObservations by_rows(const FitData& data) { return make_sparse(data.rows, data.cols, data.entries); }

TEST(RowShare, HasWholeRowsInTheirOrder) {
  const SparseObservations all = by_rows(ratings());
  const Offset wanted = all.pattern.entries() / 4;
  const RowShare share = draw_rows(all, wanted, 7);
  EXPECT_GE(share.entries.size(), wanted);
  EXPECT_LT(share.entries.size(), wanted + kCols);
  EXPECT_NEAR(static_cast<double>(share.rows) / kRows, 0.25, 0.06);
  // Every drawn row is a row of the data, entry by entry.
  const SparseObservations drawn = make_sparse(share.rows, kCols, share.entries);
  Index from = 0;
  const auto same = [&](Index i, Index k) {
    const Offset count = drawn.pattern.begin()[i + 1] - drawn.pattern.begin()[i];
    if (all.pattern.begin()[k + 1] - all.pattern.begin()[k] != count) return false;
    for (Offset e = 0; e < count; ++e) {
      const Offset a = drawn.pattern.begin()[i] + e;
      const Offset b = all.pattern.begin()[k] + e;
      if (drawn.pattern.col()[a] != all.pattern.col()[b]) return false;
      if (drawn.value[static_cast<std::size_t>(a)] != all.value[static_cast<std::size_t>(b)]) return false;
    }
    return true;
  };
  for (Index i = 0; i < share.rows; ++i) {
    while (from < kRows && !same(i, from)) ++from;
    ASSERT_LT(from++, kRows) << "row " << i << " of the share";
  }
  EXPECT_EQ(draw_rows(all, wanted, 7).entries.value, share.entries.value);
  EXPECT_NE(draw_rows(all, wanted, 8).entries.value, share.entries.value);
  EXPECT_EQ(draw_rows(all, all.pattern.entries(), 7).rows, kRows);
}

TEST(RowShare, EntriesKeepTheirWeights) {
  FitData data = ratings(50);
  std::vector<Real> weight;
  for (const Real value : data.entries.value) weight.push_back(2 + std::abs(value));
  const RowShare share = draw_rows(make_sparse(data.rows, data.cols, data.entries, weight), data.entries.size() / 2, 1);
  ASSERT_EQ(share.weight.size(), share.entries.value.size());
  for (std::size_t e = 0; e < share.weight.size(); ++e)
    EXPECT_EQ(share.weight[e], 2 + std::abs(share.entries.value[e]));
}

/// The objective of one row.
double objective(const Loss& loss, const SparseObservations& data, const ColumnSide& columns, double price, Index row,
                 const Eigen::VectorXd& a, double b) {
  double sum = price * a.squaredNorm() / 2 + (columns.fits_offsets ? columns.ridge * b * b : 0);
  for (Offset e = data.pattern.begin()[row]; e < data.pattern.begin()[row + 1]; ++e) {
    const Index j = data.pattern.col()[e];
    const double x = columns.right.row(j).dot(a) + b + columns.col_offset[static_cast<std::size_t>(j)];
    sum += std::visit(
        [&](const auto& f) { return double(f.value(x, double(data.value[static_cast<std::size_t>(e)]))); }, loss);
  }
  return sum;
}

ColumnSide some_columns() {
  Random random(5);
  ColumnSide columns{Eigen::MatrixXd(kCols, 3), std::vector<double>(kCols), 0.7};
  for (double& value : columns.right.reshaped()) value = random.normal();
  for (double& offset : columns.col_offset) offset = 0.1 * random.normal();
  return columns;
}

TEST(RowsOfColumns, SquaredLossIsALinearSystem) {
  const SparseObservations data = by_rows(ratings(40));
  const ColumnSide columns = some_columns();
  std::vector<double> offsets(40, 0.5);
  const Eigen::MatrixXd left =
      rows_given_columns(losses::Squared{0.5}, data, columns, std::vector<double>(40, 2.0), offsets, Execution(2));
  for (Index i = 0; i < 40; ++i) {
    Eigen::Matrix4d system = Eigen::Vector4d(2, 2, 2, 1.4).asDiagonal();
    Eigen::Vector4d side = Eigen::Vector4d::Zero();
    for (Offset e = data.pattern.begin()[i]; e < data.pattern.begin()[i + 1]; ++e) {
      const Index j = data.pattern.col()[e];
      Eigen::Vector4d f;
      f << columns.right.row(j).transpose(), 1;
      system += f * f.transpose();
      side += f * (double(data.value[static_cast<std::size_t>(e)]) - columns.col_offset[static_cast<std::size_t>(j)]);
    }
    const Eigen::Vector4d exact = system.ldlt().solve(side);
    EXPECT_LT((left.row(i).transpose() - exact.head(3)).norm(), 1e-3 * exact.norm()) << "row " << i;
    EXPECT_NEAR(offsets[static_cast<std::size_t>(i)], exact[3], 1e-3 * exact.norm());
  }
}

TEST(RowsOfColumns, AHuberRowIsNearlyItsMinimum) {
  const SparseObservations data = by_rows(ratings(40));
  ColumnSide columns = some_columns();
  for (const bool fits : {true, false}) {
    columns.fits_offsets = fits;
    std::vector<double> offsets(40, 2.5);
    const Loss loss = losses::Huber{1};
    const Eigen::MatrixXd left =
        rows_given_columns(loss, data, columns, std::vector<double>(40, 2.0), offsets, Execution(1));
    for (Index i = 0; i < 40; ++i) {
      const double here =
          objective(loss, data, columns, 2, i, left.row(i).transpose(), offsets[static_cast<std::size_t>(i)]);
      const double zero = objective(loss, data, columns, 2, i, Eigen::Vector3d::Zero(), 2.5);
      // Plain descent, for ever.
      Eigen::VectorXd a = left.row(i).transpose();
      double b = offsets[static_cast<std::size_t>(i)];
      for (int step = 0; step < 3000; ++step) {
        Eigen::Vector3d slope = 2 * a;
        double offset_slope = 1.4 * b;
        for (Offset e = data.pattern.begin()[i]; e < data.pattern.begin()[i + 1]; ++e) {
          const Index j = data.pattern.col()[e];
          const double x = columns.right.row(j).dot(a) + b + columns.col_offset[static_cast<std::size_t>(j)];
          const double s = losses::Huber{1}.subgradient(x, double(data.value[static_cast<std::size_t>(e)]));
          slope += s * columns.right.row(j).transpose();
          offset_slope += s;
        }
        a -= 0.004 * slope;
        if (fits) b -= 0.004 * offset_slope;
      }
      const double best = objective(loss, data, columns, 2, i, a, b);
      EXPECT_LE(here - best, 0.1 * (zero - best) + 1e-6) << "row " << i;
      if (!fits) {
        EXPECT_EQ(offsets[static_cast<std::size_t>(i)], 2.5);
      }
    }
  }
}

TEST(Fit, LargeDataAreSearchedOnAShareOfTheRows) {
  FitData data = ratings();
  const Offset entries = data.entries.size();
  const Fit whole = fit(data, {});
  EXPECT_FALSE(whole.searched);
  const Fit same = fit(data, {.search_entries = static_cast<int>(entries)});
  EXPECT_FALSE(same.searched);
  EXPECT_EQ(same.result.objective, whole.result.objective);

  const FitOptions options{.search_entries = static_cast<int>(entries / 3)};
  const Fit share = fit(data, options);
  ASSERT_TRUE(share.searched);
  EXPECT_NEAR(static_cast<double>(share.searched->entries) / static_cast<double>(entries), 1.0 / 3, 0.1);
  EXPECT_GT(share.searched->settings, 0);
  EXPECT_LT(share.searched->settings, static_cast<int>(share.path.size()));
  EXPECT_EQ(rows(share.problem.observations), kRows);
  EXPECT_EQ(observed(share.problem.observations), entries);
  EXPECT_DOUBLE_EQ(share.path[share.path_best].radius, share.problem.radius());
  EXPECT_LE(share.result.relative_gap, 0.005);
  EXPECT_EQ(share.spread->row.size(), static_cast<std::size_t>(kRows));
  // The radius is one that a search on everything may have taken: steps are by 1.6.
  EXPECT_NEAR(std::log(share.problem.radius() / whole.problem.radius()) / std::log(1.6), 0, 1.01);

  // The same matrix with fresh noise is predicted as well.
  const FitData fresh = ratings(kRows, 3);
  const auto error = [&](const Fit& fitted) {
    const Model model = fitted.model();
    return *judge(model.factors, fitted.problem.loss, model.preparation, fresh.entries).rmse;
  };
  EXPECT_NEAR(error(share), error(whole), 0.05 * error(whole));

  // A few rows are no picture of the others: all are searched then.
  FitData wide{5, 1000, {}};
  Random random(3);
  for (Index i = 0; i < wide.rows; ++i) {
    for (Index j = 0; j < wide.cols; ++j) {
      wide.entries.row.push_back(i);
      wide.entries.col.push_back(j);
      wide.entries.value.push_back(Real(i + 0.1 * random.normal()));
    }
  }
  const Fit few = fit(wide, {.search_entries = 1500});
  EXPECT_FALSE(few.searched);
  EXPECT_LE(few.result.relative_gap, 0.005);

  // Time that ends with the share's search leaves what that found, and a place in the path.
  FitOptions hurried = options;
  hurried.run.seconds = 1e-3;
  const Fit early = fit(data, hurried);
  ASSERT_LT(early.path_best, early.path.size());
  EXPECT_TRUE(std::isfinite(early.result.objective));

  FitOptions one = options;
  one.run.threads = 1;
  EXPECT_EQ(fit(data, one).result.objective, share.result.objective) << "the same bits on any number of threads";
}

}  // namespace
}  // namespace tracenorm
