#include "tracenorm/fold_in.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "tracenorm/error.hpp"

namespace tracenorm {
namespace {

/// Entries of a matrix of rank two with noise, most of them observed.
FitData example_data(int rows = 30, int cols = 24, unsigned seed = 3) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Eigen::MatrixXd left(rows, 2);
  Eigen::MatrixXd right(cols, 2);
  for (double& value : left.reshaped()) value = normal(random);
  for (double& value : right.reshaped()) value = normal(random);
  FitData data{rows, cols, {}};
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) {
      if (random() % 4 == 0) continue;
      data.entries.row.push_back(i);
      data.entries.col.push_back(j);
      data.entries.value.push_back(static_cast<Real>(left.row(i).dot(right.row(j)) + 0.2 * normal(random)));
    }
  }
  return data;
}

/// A model of known factors, without preparation: any V and S, at this price.
Model example_model(double price) {
  const FitData data = example_data();
  const Fit fitted = fit(data, {.radius = 20, .loss = losses::Squared{0.5}, .prepare = Preparation::Kind::none});
  Model model = fitted.model();
  model.row_price = {price, 1, 0, 1};
  return model;
}

TEST(FoldIn, SquaredLossIsALinearSystem) {
  const Model model = example_model(0.7);
  const std::vector<Index> cols{1, 4, 5, 9, 20};
  const std::vector<Real> values{0.5, -1, 2, 0.25, -0.75};
  const NewRow row = fold_in(model, losses::Squared{0.5}, cols, values);
  // (V'V + price S^-1) w = V'y, rows of V for the entries.
  Eigen::MatrixXd v(5, model.factors.terms());
  Eigen::VectorXd y(5);
  for (int j = 0; j < 5; ++j) {
    v.row(j) = model.factors.right().row(cols[static_cast<std::size_t>(j)]);
    y[j] = double(values[static_cast<std::size_t>(j)]);
  }
  Eigen::MatrixXd system = v.transpose() * v;
  system.diagonal() += 0.7 * model.factors.values().cwiseInverse();
  const Eigen::VectorXd w = system.ldlt().solve(v.transpose() * y);
  ASSERT_EQ(row.weight.size(), static_cast<std::size_t>(w.size()));
  for (Eigen::Index t = 0; t < w.size(); ++t) {
    // The ascent ends at a relative gap of a millionth, which bounds the distance by its root.
    EXPECT_NEAR(row.weight[static_cast<std::size_t>(t)], w[t], 3e-3 * w.norm());
  }
  EXPECT_EQ(row.offset, 0);
  EXPECT_NEAR(row.predict(model, 7), model.factors.right().row(7).dot(w), 3e-3 * w.norm());
  EXPECT_DOUBLE_EQ(row.scores(model)[7], row.predict(model, 7));
}

TEST(FoldIn, KinksAreRespected) {
  // One column, one entry: minimize |x - y| + price / (2 s v^2) x^2. Near data are met exactly, far ones at a distance.
  Model model;
  model.factors = {Eigen::MatrixXd::Ones(1, 1), Eigen::VectorXd::Constant(1, 4.0),
                   Eigen::MatrixXd::Constant(1, 1, 0.5)};
  model.row_price = {2, 1, 0, 1};  // price / (s v^2) = 2: the pull of the loss is 1, so x stops at 1 / 2
  EXPECT_NEAR(fold_in(model, losses::Absolute{}, {0}, {Real(0.25)}).predict(model, 0), 0.25, 1e-9);
  EXPECT_NEAR(fold_in(model, losses::Absolute{}, {0}, {Real(9)}).predict(model, 0), 0.5, 1e-9);
  EXPECT_NEAR(fold_in(model, losses::Quantile{0.25}, {0}, {Real(9)}).predict(model, 0), 0.125, 1e-9);
  EXPECT_NEAR(fold_in(model, losses::Hinge{}, {0}, {Real(1)}).predict(model, 0), 0.5, 1e-9);
}

/// The largest difference between rows of the answer and what folding their own entries in gives, over the deviation of
/// the answer.
double worst_difference(const FitData& data, const Fit& fitted) {
  Model model = fitted.model();
  model.row_price = row_price(fitted);
  double worst = 0;
  double squares = 0;
  for (Index i = 0; i < data.rows; ++i) {
    std::vector<Index> cols;
    std::vector<Real> values;
    for (std::size_t e = 0; e < data.entries.row.size(); ++e) {
      if (data.entries.row[e] != i) continue;
      cols.push_back(data.entries.col[e]);
      values.push_back(data.entries.value[e]);
    }
    const NewRow row = fold_in(model, fitted.problem.loss, cols, values);
    for (Index j = 0; j < data.cols; ++j) {
      worst = std::max(worst, std::abs(row.predict(model, j) - model.predict(i, j)));
      squares += model.predict(i, j) * model.predict(i, j);
    }
  }
  return worst / std::sqrt(squares / data.rows / data.cols);
}

TEST(FoldIn, RowsOfTheTrainingDataComeBack) {
  const FitData data = example_data();
  for (const Loss& loss : {Loss(losses::Squared{0.5}), Loss(losses::Huber{0.5}), Loss(losses::Absolute{})}) {
    FitOptions options{.radius = 25, .loss = loss, .prepare = Preparation::Kind::none, .method = methods::Corrective{}};
    options.run.gap = 1e-5;
    const Fit fitted = fit(data, options);
    // Kinks: many entries rest on theirs, and the price is measured by stretching X by a hundredth.
    const double allowed = std::holds_alternative<losses::Absolute>(loss) ? 0.15 : 0.02;
    EXPECT_LT(worst_difference(data, fitted), allowed) << to_string(loss);
  }
}

TEST(FoldIn, FewEntriesSayMoreThanNone) {
  // Ratings-like data with everything chosen: the last rows are new.
  const FitData all = example_data(80, 40, 5);
  FitData train{70, 40, {}};
  for (std::size_t e = 0; e < all.entries.row.size(); ++e) {
    if (all.entries.row[e] >= 70) continue;
    train.entries.row.push_back(all.entries.row[e]);
    train.entries.col.push_back(all.entries.col[e]);
    train.entries.value.push_back(all.entries.value[e]);
  }
  const Fit fitted = fit(train);
  Model model = fitted.model();
  model.row_price = row_price(fitted);
  double folded = 0;
  double plain = 0;
  for (Index i = 70; i < 80; ++i) {
    std::vector<Index> cols;
    std::vector<Real> values;
    std::vector<std::size_t> rest;
    for (std::size_t e = 0; e < all.entries.row.size(); ++e) {
      if (all.entries.row[e] != i) continue;
      if (cols.size() < 12) {
        cols.push_back(all.entries.col[e]);
        values.push_back(all.entries.value[e]);
      } else {
        rest.push_back(e);
      }
    }
    const NewRow row = fold_in(model, fitted.problem.loss, cols, values);
    for (const std::size_t e : rest) {
      const auto y = double(all.entries.value[e]);
      folded += std::pow(row.predict(model, all.entries.col[e]) - y, 2);
      plain += std::pow(model.predict(Preparation::kUnknown, all.entries.col[e]) - y, 2);
    }
  }
  EXPECT_LT(folded, 0.35 * plain);
}

TEST(FoldIn, OffsetsAndRange) {
  Model model;
  model.factors = LowRankMatrix(3, 2);  // no terms: offsets alone
  model.preparation = {Preparation::Kind::both, 3, 1, {-1, 0, 1}, {0.5, -0.5}, {1, 5}};
  const NewRow row = fold_in(model, losses::Squared{0.5}, {0, 1}, {Real(5), Real(4)});
  // Residuals 1.5 and 1.5; the offset is shrunk by n / (n + 1 / variance), variance 2/3. (A gap of a millionth leaves a
  // distance of its root.)
  EXPECT_NEAR(row.offset, 1.5 * 2 / (2 + 1.5), 2e-3);
  EXPECT_NEAR(row.predict(model, 1), 2.5 + row.offset, 1e-12);
  EXPECT_NEAR(row.predict(model, Preparation::kUnknown), 3 + row.offset, 1e-12);
  const NewRow high = fold_in(model, losses::Squared{0.5}, {0, 1}, {Real(50), Real(40)});
  EXPECT_EQ(high.predict(model, 0), 5);
  EXPECT_GT(high.scores(model)[0], 5);
}

TEST(FoldIn, AModelThatKnowsFurtherRows) {
  Model model = example_model(0.7);
  model.preparation = {Preparation::Kind::both, 3, 2, std::vector<double>(30, 0.5), std::vector<double>(24, -0.25)};
  const Loss loss = losses::Huber{0.5};
  const std::vector<NewRow> rows = fold_in(model, loss, {{0, 0, 1, 1}, {1, 4, 4, 20}, {5, 2, 1, 0}}, 3, 2);
  const NewRow alone = fold_in(model, loss, {1, 4}, {Real(5), Real(2)});
  EXPECT_EQ(rows[0].weight, alone.weight);
  EXPECT_EQ(rows[0].offset, alone.offset);
  const std::vector<Index> places{30, 7, 31};  // the second instead of a row that is there, the third without entries
  const Model more = with_rows(model, rows, places);
  ASSERT_EQ(more.factors.rows(), 32);
  for (Index j = 0; j < 24; ++j) {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      EXPECT_NEAR(more.predict(places[r], j), rows[r].predict(model, j), 1e-12);
    }
    EXPECT_EQ(more.predict(8, j), model.predict(8, j));
    EXPECT_EQ(more.predict(31, j), model.predict(Preparation::kUnknown, j));
  }
}

TEST(FoldIn, ValuesThatTheLossDoesNotTake) {
  EXPECT_THROW(fold_in(example_model(1), losses::Hinge{}, {{0}, {0}, {Real(0.5)}}, 1), Error);
}

TEST(FoldIn, AModelThatDoesNotKnowItsPrice) {
  Model model = example_model(0);
  EXPECT_THROW(fold_in(model, losses::Squared{}, {0}, {Real(1)}), Error);
}

}  // namespace
}  // namespace tracenorm
