#include "tracenorm/fit.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "base/random.hpp"
#include "fit/split.hpp"

namespace tracenorm {
namespace {

/// Offsets of rows and columns, a little low rank, noise: what ratings look like.
FitData ratings(Index rows = 60, Index cols = 50, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<double> row(static_cast<std::size_t>(rows));
  std::vector<double> col(static_cast<std::size_t>(cols));
  for (double& offset : row) offset = random.normal();
  for (double& offset : col) offset = random.normal();
  FitData data{rows, cols, {}};
  for (std::size_t i = 0; i < row.size(); ++i) {
    for (std::size_t j = 0; j < col.size(); ++j) {
      if (random.uniform() > 0.6) continue;
      data.entries.row.push_back(static_cast<Index>(i));
      data.entries.col.push_back(static_cast<Index>(j));
      data.entries.value.push_back(Real(3 + row[i] + col[j] + row[i] * col[j] + 0.3 * random.normal()));
    }
  }
  return data;
}

std::string complaint(const FitData& data, const FitOptions& options, ErrorCode code, const std::string& option) {
  try {
    fit(data, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(error.option(), option);
    EXPECT_EQ(std::string(error.what()).substr(0, option.size()), option) << "a message begins with its option";
    return error.what();
  }
  ADD_FAILURE() << "nobody complained";
  return "";
}

TEST(Settle, ChoosesTheModelWithTheRadius) {
  const FitOptions chosen = settle({});
  EXPECT_TRUE(chosen.chooses_radius());
  EXPECT_EQ(to_string(*chosen.loss), "huber:1");
  EXPECT_TRUE(chosen.choose_loss);
  EXPECT_TRUE(settle(chosen).choose_loss) << "settling twice is settling once";
  EXPECT_FALSE(settle({.loss = losses::Squared{}}).choose_loss);
  EXPECT_EQ(chosen.prepare, Preparation::Kind::both);
  EXPECT_EQ(chosen.norm_power, 0.5);
  EXPECT_EQ(method_name(*chosen.method), "corrective");
  EXPECT_EQ(to_string(*settle({.method = methods::FrankWolfe{}}).loss), "huber:1");
  // Offsets of one side are not fitted together with X but before.
  const FitOptions before = settle({.prepare = Preparation::Kind::rows});
  EXPECT_EQ(to_string(*before.loss), "huber:0.5");
  EXPECT_EQ(method_name(*before.method), "fwua");
}

TEST(Settle, WithARadiusItIsThePapersModel) {
  const FitOptions plain = settle({.radius = 3});
  EXPECT_EQ(to_string(*plain.loss), "absolute");
  EXPECT_EQ(plain.prepare, Preparation::Kind::zscore);
  EXPECT_EQ(plain.norm_power, 0);
}

TEST(Settle, LeavesWhatIsSaid) {
  const FitOptions said = settle({.norm_power = 0.1,
                                  .loss = losses::Squared{},
                                  .prepare = Preparation::Kind::rows,
                                  .method = methods::RankDrop{}});
  EXPECT_EQ(to_string(*said.loss), to_string(Loss(losses::Squared{})));
  EXPECT_EQ(said.prepare, Preparation::Kind::rows);
  EXPECT_EQ(said.norm_power, 0.1);
  EXPECT_EQ(method_name(*said.method), "rdfw");
}

TEST(Settle, AGapTakesTheMethodForIt) {
  FitOptions options;
  options.run.gap = 0.01;
  EXPECT_EQ(method_name(*settle(options).method), "corrective");
}

TEST(Settle, WhatDoesNotGoTogetherIsNotChosen) {
  EXPECT_EQ(settle({.penalty = ComplementSquaredPenalty{}}).norm_power, 0);
  EXPECT_EQ(settle({.loss = losses::Logistic{}}).prepare, Preparation::Kind::none);
  // A method without a radius chooses none.
  const FitOptions fixed_rank = settle({.method = methods::Rlrmc{}});
  EXPECT_FALSE(fixed_rank.chooses_radius());
  EXPECT_EQ(to_string(*fixed_rank.loss), "absolute");
}

TEST(Fit, HoldsATenthOutAndSolvesOnEverything) {
  const FitData data = ratings();
  const Fit chosen = fit(data, {.prepare = Preparation::Kind::rows});
  EXPECT_EQ(observed(chosen.problem.observations), data.entries.size());
  ASSERT_GT(chosen.path.size(), 3U);
  EXPECT_EQ(chosen.problem.radius(), chosen.path[chosen.path_best].radius);
  EXPECT_GT(chosen.problem.radius(), 0);
  EXPECT_FALSE(chosen.validation);  // none was given
  EXPECT_NEAR(objective(chosen.problem, chosen.result.solution), chosen.result.objective,
              1e-6 * chosen.result.objective);

  // The same by hand: the split, its preparation, the path by the mean loss, the answer from where the path stood.
  Split split = split_entries(data.entries, {0.9, 0.1, 0}, 1);
  const Loss loss = losses::Huber{0.5};
  const auto problem_of = [&](Entries entries, const Preparation& preparation) {
    prepare(preparation, entries);
    Problem problem{make_sparse(data.rows, data.cols, entries), loss, NoPenalty{}, {}};
    problem.constraint = weighted_ball(1, {.power = 0.5}, problem.observations);
    return problem;
  };
  const auto preparation_of = [&](const Entries& entries) {
    return fit_preparation(Preparation::Kind::rows, averaging_for(loss), entries, data.rows, data.cols);
  };
  const Preparation part = preparation_of(split.train);
  Problem smaller = problem_of(split.train, part);
  prepare(part, split.validation);
  RunOptions by_loss;
  by_loss.validation_measure = ValidationMeasure::loss;
  by_loss.certificate_share = 0;
  const RadiusPath path = choose_radius(smaller, {}, by_loss, {.validation = &split.validation});
  Problem whole = problem_of(data.entries, preparation_of(data.entries));
  whole.constraint.radius = path.radius();
  const Result result = solve(whole, {}, {}, {.start = &path.result.solution});
  EXPECT_EQ(chosen.problem.radius(), path.radius());
  EXPECT_EQ(chosen.result.objective, result.objective);
  EXPECT_EQ(chosen.result.solution.values(), result.solution.values());
}

TEST(Fit, ValidationEntriesChooseTheIterateToo) {
  FitData data = ratings();
  Split split = split_entries(std::move(data.entries), {0.8, 0.2, 0}, 3);
  data.entries = std::move(split.train);
  data.validation = std::move(split.validation);
  const Fit chosen = fit(data, {.prepare = Preparation::Kind::rows});
  ASSERT_TRUE(chosen.validation);
  EXPECT_EQ(chosen.validation->entries, data.validation.size());
  const double best = chosen.path[chosen.path_best].validation_error;
  EXPECT_NEAR(*chosen.validation->rmse_prepared, best, 1e-3 * best);
  EXPECT_NEAR(*chosen.validation->rmse, *chosen.validation->rmse_prepared * chosen.preparation.scale, 1e-12);

  FitOptions certified;
  certified.run.gap = 0.2;
  const Fit proved = fit(data, certified);
  EXPECT_EQ(proved.result.method, "corrective");
  EXPECT_LE(proved.result.relative_gap, 0.2);
}

/// Offsets are of the middle: for another quantile they are moved, and data and model must agree on how far.
TEST(Fit, AQuantileIsWhatItSays) {
  FitData data = ratings();
  Split split = split_entries(std::move(data.entries), {0.8, 0, 0.2}, 3);
  data.entries = std::move(split.train);
  for (const double level : {0.1, 0.9}) {
    const losses::Quantile loss{level};
    const auto judged = [&](const FitOptions& options) {
      const Fit fitted = fit(data, options);
      const auto& prepared = std::get<SparseObservations>(fitted.problem.observations);
      const SparseObservations raw = make_sparse(data.rows, data.cols, data.entries);
      for (Index i = 0; i < data.rows; ++i) {
        for (Offset e = raw.pattern.begin()[i]; e < raw.pattern.begin()[i + 1]; ++e) {
          const auto at = static_cast<std::size_t>(e);
          EXPECT_NEAR(double(prepared.value[at]),
                      fitted.preparation.apply(double(raw.value[at]), i, raw.pattern.col()[e]), 1e-5);
        }
      }
      const Model model = fitted.model();
      double below = 0;
      double mean = 0;
      for (std::size_t e = 0; e < split.test.value.size(); ++e) {
        const double prediction = model.predict(split.test.row[e], split.test.col[e]);
        below += double(split.test.value[e]) < prediction ? 1 : 0;
        mean += loss.value(prediction, double(split.test.value[e]));
      }
      const auto count = static_cast<double>(split.test.size());
      return std::pair(below / count, mean / count);
    };
    const auto [share_by_offsets, loss_by_offsets] =
        judged({.radius = 1e-3, .loss = loss, .prepare = Preparation::Kind::both});
    EXPECT_NEAR(share_by_offsets, level, 0.05);
    const double mean_loss = judged({.loss = loss}).second;
    EXPECT_LT(mean_loss, 0.6 * loss_by_offsets) << "X has something to say";
  }
}

TEST(Fit, AModelPredictsInRawUnits) {
  const FitData data = ratings();
  const Fit chosen = fit(data);
  const Model model = chosen.model();
  double squares = 0;
  for (std::size_t e = 0; e < data.entries.value.size(); ++e) {
    const double error = model.predict(data.entries.row[e], data.entries.col[e]) - double(data.entries.value[e]);
    squares += error * error;
  }
  const double rmse = std::sqrt(squares / static_cast<double>(data.entries.size()));
  const HeldOut judged = judge(model.factors, chosen.problem.loss, model.preparation, data.entries);
  EXPECT_NEAR(rmse, *judged.rmse, 1e-4 * rmse);
  EXPECT_LT(rmse, 0.5);
}

/// Entries are seen more often where X is large, as people rate what they like: the mean of what is seen of a row is
/// then not its offset. Offsets that are fitted before X keep that mistake.
TEST(Fit, OffsetsFittedTogetherWithXAreBetterWhereXDecidesWhatIsSeen) {
  constexpr Index rows = 120;
  constexpr Index cols = 80;
  Random random(5);
  const auto draw = [&](std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = random.normal();
    return values;
  };
  const std::vector<double> row = draw(rows);
  const std::vector<double> col = draw(cols);
  const std::vector<double> u = draw(rows);
  const std::vector<double> v = draw(cols);
  FitData data{rows, cols, {}};
  Entries unseen;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      const double x = 1.5 * u[i] * v[j];
      Entries& part = random.uniform() < (x > 0 ? 0.5 : 0.1) ? data.entries : unseen;
      part.row.push_back(static_cast<Index>(i));
      part.col.push_back(static_cast<Index>(j));
      part.value.push_back(Real(row[i] + col[j] + x + 0.3 * random.normal()));
    }
  }
  const auto error = [&](const Fit& fitted) {
    const Model model = fitted.model();
    return *judge(model.factors, fitted.problem.loss, model.preparation, unseen).rmse;
  };
  FitData prepared = data;
  Entries unseen_prepared = unseen;
  const Loss huber = losses::Huber{0.5};
  const Preparation offsets = fit_preparation(Preparation::Kind::both, averaging_for(huber), data.entries, rows, cols);
  prepare(offsets, prepared.entries);
  prepare(offsets, unseen_prepared);
  const Fit given = fit(prepared, {.loss = huber, .prepare = Preparation::Kind::none});
  const double before = offsets.scale * *judge(given.result.solution, huber, given.preparation, unseen_prepared).rmse;
  const double together = error(fit(data, {.refit = false}));
  const double by_steps = error(fit(data, {.method = methods::FrankWolfe{}, .refit = false}));
  const double refitted = error(fit(data));
  EXPECT_LT(together, 0.95 * before);
  EXPECT_NEAR(by_steps, together, 0.05 * together);
  EXPECT_LT(refitted, together);
}

TEST(Fit, PredictsWithAGainAndCertifiesTheAnswer) {
  const FitData data = ratings();
  const Fit refitted = fit(data);
  ASSERT_TRUE(refitted.refit);
  EXPECT_TRUE(refitted.refit->taken);
  EXPECT_GT(refitted.refit->gain, 1);
  ASSERT_TRUE(refitted.predictor);
  EXPECT_LE(refitted.result.relative_gap, 0.01);
  // The certificate is about the answer: the problem as it is reported has it as its objective.
  EXPECT_NEAR(objective(refitted.problem, refitted.result.solution, 0, refitted.result.offsets),
              refitted.result.objective, 1e-5 * refitted.result.objective);
  const Model model = refitted.model();
  EXPECT_NEAR(model.factors.values()[0], refitted.refit->gain * refitted.result.solution.values()[0], 1e-9);
  EXPECT_NEAR(
      model.predict(3, 4),
      model.preparation.range.clip(model.preparation.base(3, 4) + model.preparation.scale * model.factors.entry(3, 4)),
      1e-12);
  const Model answer = model.answer();
  EXPECT_TRUE(answer.factors.values() == refitted.result.solution.values());
  EXPECT_EQ(answer.preparation.row_offset, refitted.preparation.row_offset);

  const Fit plain = fit(data, {.refit = false});
  EXPECT_FALSE(plain.refit);
  EXPECT_FALSE(plain.predictor);
  EXPECT_TRUE(plain.problem.offsets);
  EXPECT_LE(plain.result.relative_gap, 0.01);
}

TEST(Fit, KnowsHowFarItsPredictionsAreOff) {
  FitData data = ratings(90, 70, 4);
  Split split = split_entries(std::move(data.entries), {0.8, 0, 0.2}, 3);
  data.entries = std::move(split.train);
  const Fit chosen = fit(data);
  const Model model = chosen.model();
  ASSERT_TRUE(model.spread);
  EXPECT_EQ(static_cast<double>(model.spread->scores.size()),
            std::round(0.1 * static_cast<double>(data.entries.size())));
  double inside = 0;
  for (std::size_t e = 0; e < split.test.row.size(); ++e) {
    const double half = model.spread->half_width(0.9, split.test.row[e], split.test.col[e]);
    const double error = model.predict(split.test.row[e], split.test.col[e]) - double(split.test.value[e]);
    inside += std::abs(error) <= half ? 1 : 0;
  }
  EXPECT_NEAR(inside / static_cast<double>(split.test.size()), 0.9, 0.05);
}

TEST(Fit, EqualWeightsChangeNothingAndGoWithTheirEntries) {
  FitData data = ratings();
  const Fit plain = fit(data);
  data.weight.assign(data.entries.value.size(), Real(1));
  EXPECT_NEAR(fit(data).result.objective, plain.result.objective, 1e-3 * plain.result.objective);
  Split split = split_entries(data.entries, {0.5, 0.5, 0}, 1, data.entries.value);
  EXPECT_EQ(split.train_weight, split.train.value);
}

TEST(Fit, LabelsAreJudgedByTheirOrder) {
  FitData data = ratings();
  for (Real& value : data.entries.value) value = value > 3 ? Real(1) : Real(-1);
  Split split = split_entries(data.entries, {0.7, 0.3, 0}, 1);
  data.entries = std::move(split.train);
  data.validation = std::move(split.validation);
  const Fit chosen = fit(data, {.loss = losses::Logistic{}});
  EXPECT_EQ(chosen.run.validation_measure, ValidationMeasure::loss);
  ASSERT_TRUE(chosen.validation && chosen.validation->auc);
  EXPECT_GT(*chosen.validation->auc, 0.8);
  EXPECT_FALSE(chosen.validation->rmse);
}

TEST(Fit, FullMatricesChooseRadiusAndPenalty) {
  Random random(2);
  std::vector<double> side(40);
  for (double& value : side) value = random.normal();
  std::vector<Real> values;
  for (const double a : side) {
    for (const double b : side) values.push_back(Real(a * b + 0.3 * random.normal()));
  }
  FitOptions options{
      .norm_power = 0, .loss = losses::Squared{0.5}, .prepare = Preparation::Kind::none, .choose_l1 = true};
  options.run.iterations = 100;
  const Fit chosen = fit(DenseObservations{40, 40, values, {}}, options);
  EXPECT_EQ(observed(chosen.problem.observations), 1600);
  bool penalties = false;
  for (const RadiusStep& step : chosen.path) penalties = penalties || step.lambda > 0;
  EXPECT_TRUE(penalties);
  double squares = 0;
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < 40; ++j) {
      const double error =
          chosen.result.solution.entry(i, j) - side[static_cast<std::size_t>(i)] * side[static_cast<std::size_t>(j)];
      squares += error * error;
    }
  }
  EXPECT_LT(std::sqrt(squares / 1600), 0.15);
}

/// Some entries of a symmetric matrix of rank one with noise, each with its mirror image unless `halves`.
FitData symmetric_list(bool halves) {
  Random random(4);
  std::vector<double> side(60);
  for (double& value : side) value = random.normal();
  FitData data{60, 60, {}};
  for (Index i = 0; i < 60; ++i) {
    for (Index j = i; j < 60; ++j) {
      if (random.uniform() > 0.4) continue;
      const double truth = side[static_cast<std::size_t>(i)] * side[static_cast<std::size_t>(j)];
      const Real value(truth + 0.2 * random.normal());
      for (const auto& [row, col] : {std::pair(i, j), std::pair(j, i)}) {
        data.entries.row.push_back(row);
        data.entries.col.push_back(col);
        data.entries.value.push_back(value);
        if (halves || i == j) break;
      }
    }
  }
  return data;
}

TEST(Fit, ListsOfASymmetricMatrixAreFittedAsOne) {
  FitOptions options{.loss = losses::Squared{0.5}, .symmetry = Symmetry::symmetric};
  options.run.iterations = 100;
  const FitData data = symmetric_list(false);
  const Fit chosen = fit(data, options);
  EXPECT_EQ(observed(chosen.problem.observations), data.entries.size());
  EXPECT_EQ(chosen.problem.constraint.symmetry, Symmetry::symmetric);
  const LowRankMatrix& x = chosen.result.solution;
  EXPECT_EQ(x.left().cwiseAbs(), x.right().cwiseAbs());  // w u u' with signs
  double squares = 0;
  for (std::size_t e = 0; e < data.entries.value.size(); ++e) {
    const Index i = data.entries.row[e];
    const Index j = data.entries.col[e];
    squares += std::pow(x.entry(i, j) - double(data.entries.value[e]), 2);
  }
  EXPECT_LT(std::sqrt(squares / double(data.entries.size())), 0.4);

  // One of each two is enough where the data are to be made symmetric, and an error where they are not.
  options.symmetrize = true;
  const Fit made = fit(symmetric_list(true), options);
  EXPECT_EQ(made.result.objective, chosen.result.objective);
  options.symmetrize = false;
  EXPECT_THROW(fit(symmetric_list(true), options), Error);
}

TEST(Fit, InterruptedItReturnsWhatThereIsWithoutABound) {
  const std::atomic<bool> cancel{true};
  const Fit stopped = fit(ratings(), {}, {.cancel = &cancel});
  EXPECT_EQ(stopped.result.status, Status::interrupted);
  EXPECT_EQ(stopped.result.relative_gap, std::numeric_limits<double>::infinity());
  EXPECT_EQ(stopped.result.solution.rows(), 60);
}

TEST(Fit, TimeIsForPathAndAnswerTogether) {
  FitOptions options;
  options.run.seconds = 0.0;
  const Fit stopped = fit(ratings(), options);
  EXPECT_EQ(stopped.path.size(), 1U);
  EXPECT_EQ(stopped.result.iterations, 0);
}

TEST(Fit, WhatCannotBeIsNamed) {
  FitData few{2, 2, {{0, 1}, {1, 0}, {1, 2}}};
  EXPECT_NE(complaint(few, {}, ErrorCode::input, "radius").find("2 entries are too few"), std::string::npos);
  FitData same{3, 3, {{0, 1, 2}, {0, 1, 2}, {4, 4, 4}}};
  EXPECT_NE(complaint(same, {.radius = 1}, ErrorCode::input, "prepare").find("equal"), std::string::npos);
  EXPECT_NE(complaint(same, {.radius = -1}, ErrorCode::usage, "radius").find("a number above 0"), std::string::npos);
  EXPECT_NE(complaint(same, {.radius = 1, .loss = losses::Hinge{}, .prepare = Preparation::Kind::zscore},
                      ErrorCode::usage, "prepare")
                .find("labels"),
            std::string::npos);
}

TEST(Fit, ValidationEntriesOutsideOrWithoutAValueAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto says = [](FitData data, const Entries& validation, const FitOptions& options) -> std::string {
    data.validation = validation;
    try {
      fit(std::move(data), options);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  FitOptions before;  // offsets fitted beforehand, which are looked up by place
  before.radius = 10;
  before.prepare = Preparation::Kind::both;
  for (const FitOptions& options : {FitOptions{}, before}) {
    EXPECT_EQ(says(ratings(), {{1, 60}, {0, 0}, {1, 1}}, options),
              "validation entry 1: row 60, column 0 is outside the 60 x 50 matrix");
    EXPECT_EQ(says(ratings(), {{1, 2}, {0, -3}, {1, 1}}, options),
              "validation entry 1: row 2, column -3 is outside the 60 x 50 matrix");
    EXPECT_EQ(says(ratings(), {{1, 2}, {0, 0}, {1, Real(nan)}}, options),
              "validation entry 1: value nan; it must be a finite number");
  }
}

TEST(Fit, DataOutsideAreRefusedBeforeTheirOffsetsAreFitted) {
  FitOptions options;
  options.radius = 10;
  for (const auto kind : {Preparation::Kind::rows, Preparation::Kind::columns, Preparation::Kind::both}) {
    FitData data = ratings();
    data.entries.row.back() = 1'000'000'000;
    options.prepare = kind;
    try {
      fit(std::move(data), options);
      ADD_FAILURE() << to_string(kind);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("row 1000000000 is not in 0..59"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tracenorm
