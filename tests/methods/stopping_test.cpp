#include <gtest/gtest.h>

#include "methods/session.hpp"

namespace tracenorm {
namespace {

Iteration at(int k) {
  Iteration iteration;
  iteration.k = k;
  iteration.objective = 1;
  iteration.relative_gap = 0.5;
  iteration.seconds = 1;
  return iteration;
}

TEST(Stopping, EachRuleInItsOrder) {
  RunOptions options;
  options.iterations = 10;
  EXPECT_EQ(stopping_status(options, at(3), false, 0), Status::not_run);
  EXPECT_EQ(stopping_status(options, at(10), false, 0), Status::iteration_limit);
  EXPECT_EQ(stopping_status(options, at(3), true, 0), Status::interrupted);
  options.seconds = 0.5;
  EXPECT_EQ(stopping_status(options, at(3), false, 0), Status::time_limit);
  options.patience = 20;
  EXPECT_EQ(stopping_status(options, at(3), false, 20), Status::validation_limit);
  EXPECT_EQ(stopping_status(options, at(3), false, 19), Status::time_limit) << "not before";
  options.gap = 0.5;
  EXPECT_EQ(stopping_status(options, at(3), false, 0), Status::gap_reached);
  Iteration bad = at(3);
  bad.objective = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(stopping_status(options, bad, false, 0), Status::numerical_failure);
}

TEST(Stopping, RelativeGap) {
  EXPECT_DOUBLE_EQ(relative_gap(11, 10), 0.1);
  EXPECT_DOUBLE_EQ(relative_gap(9, 10), 0.0);
  EXPECT_DOUBLE_EQ(relative_gap(-9, -10), 0.1);
  EXPECT_EQ(relative_gap(1, -std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
  EXPECT_EQ(relative_gap(0, 0), 0.0);
  EXPECT_GT(relative_gap(1, 0), 1e100);
}

}  // namespace
}  // namespace tracenorm
