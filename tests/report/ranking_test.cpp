#include "report/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tracenorm::report {
namespace {

/// Two rows, four columns: the first row predicts 4 3 2 1, the second the negative of that; column offsets 0 0 0 10.
Model example_model() {
  Model model;
  const Eigen::MatrixXd left = (Eigen::MatrixXd(2, 1) << 1, -1).finished();
  const Eigen::MatrixXd right = (Eigen::MatrixXd(4, 1) << 4, 3, 2, 1).finished();
  model.factors = {left, Eigen::VectorXd::Ones(1), right};
  model.preparation = {Preparation::Kind::columns, 0, 1, {}, {0, 0, 0, 10}};
  return model;
}

TEST(RowPredictions, OffsetsIncluded) {
  EXPECT_EQ(row_predictions(example_model(), 0), (std::vector<double>{4, 3, 2, 11}));
  EXPECT_EQ(row_predictions(example_model(), 1), (std::vector<double>{-4, -3, -2, 9}));
  EXPECT_EQ(row_predictions(example_model(), std::nullopt), (std::vector<double>{0, 0, 0, 10}));
}

TEST(BestColumns, LargestFirstTiesByIndex) {
  EXPECT_EQ(best_columns({1, 5, 5, 2}, {}, 3), (std::vector<Index>{1, 2, 3}));
  EXPECT_EQ(best_columns({1, 5, 5, 2}, {1, 3}, 3), (std::vector<Index>{2, 0}));
  EXPECT_TRUE(best_columns({1, 2}, {0, 1}, 3).empty());
}

TEST(TopMeasures, ByHand) {
  // Row 0 has seen column 3; candidates are 0 1 2 in this order, and 0 and 2 are relevant. Row 1 has candidates
  // 3 2 1 0, and 1 is relevant; 0 was rated too low to count.
  const Entries train{{0}, {3}, {5}};
  const Entries test{{0, 0, 1, 1}, {0, 2, 1, 0}, {4, 5, 4, 1}};
  const TopMeasures top = top_measures(example_model(), train, test, 2, 4, Execution(2));
  EXPECT_EQ(top.rows, 2);
  EXPECT_DOUBLE_EQ(top.precision, (0.5 + 0) / 2);
  EXPECT_DOUBLE_EQ(top.recall, (0.5 + 0) / 2);
  EXPECT_DOUBLE_EQ(top.hit_rate, 0.5);
  EXPECT_DOUBLE_EQ(top.mrr, (1 + 0) / 2.0);
  EXPECT_DOUBLE_EQ(top.coverage, 1);  // 0 1 on one list, 3 2 on the other
  EXPECT_DOUBLE_EQ(top.ndcg, 1 / (1 + 1 / std::log2(3.0)) / 2);
}

TEST(TopMeasures, NobodyToJudge) {
  const TopMeasures top = top_measures(example_model(), Entries{}, Entries{{0}, {0}, {1}}, 2, 4, Execution(1));
  EXPECT_EQ(top.rows, 0);
  EXPECT_TRUE(std::isnan(top.precision));
  EXPECT_TRUE(std::isnan(top.ndcg));
  EXPECT_TRUE(std::isnan(top.mrr));
  EXPECT_TRUE(std::isnan(top.coverage));
}

}  // namespace
}  // namespace tracenorm::report
