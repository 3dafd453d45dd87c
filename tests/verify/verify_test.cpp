// Claims that are true are proved, and claims that are false by a little are refuted, whatever the losses, penalties,
// weights and stores. The truth is computed here, with the solver's losses and a full singular value decomposition.
#include "tracenorm/verify.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/SVD>
#include <cmath>
#include <tuple>

#include "base/random.hpp"
#include "support/identifier.hpp"
#include "tracenorm/error.hpp"
#include "verify/checksums.hpp"
#include "verify/every_kind.hpp"

namespace tracenorm {
namespace {

using Verdict = Verification::Verdict;

/// A claim with what it is about.
struct Case {
  Claim claim;
  GivenData data;
  Model answer;
  double size = 1;  ///< of the numbers that the lower bound is the difference of

  void seal() {
    claim.checksums.answer = checksum_of_answer(answer.factors);
    claim.checksums.dual = checksum_of_dual(claim.dual);
    const Real* weight = claim.weighted ? data.weight.data() : nullptr;  // entries are made in the order of the claim
    claim.checksums.data = checksum_of_data(data.entries.value.data(), weight, data.entries.size());
  }
  [[nodiscard]] Verification verify(const VerifyOptions& options = {}) const {
    return tracenorm::verify(claim, data, answer, options);
  }
};

template <class Work>
double with_solver_loss(const Loss& loss, const Work& work) {
  return std::visit([&](const auto& chosen) { return static_cast<double>(work(chosen)); }, loss);
}

Eigen::MatrixXd dense_of(const LowRankMatrix& matrix) {
  return matrix.terms() == 0 ? Eigen::MatrixXd::Zero(matrix.rows(), matrix.cols()) : matrix.dense();
}

double largest_singular_value(const Eigen::MatrixXd& matrix) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(matrix).singularValues()[0];
}

Eigen::MatrixXd weigh(const Eigen::MatrixXd& matrix, const TraceNormBall& ball, bool inverse) {
  if (!ball.weighted()) return matrix;
  const auto diagonal = [&](const std::vector<double>& weight) -> Eigen::VectorXd {
    const auto all = Eigen::Map<const Eigen::VectorXd>(weight.data(), static_cast<Eigen::Index>(weight.size()));
    return inverse ? Eigen::VectorXd(all.cwiseInverse()) : Eigen::VectorXd(all);
  };
  return diagonal(ball.row_weight).asDiagonal() * matrix * diagonal(ball.col_weight).asDiagonal();
}

struct Shape {
  Index rows = 9;
  Index cols = 7;
  double share = 0.6;  ///< of the entries that are observed
  Index rank = 3;
};

struct Options {
  Loss loss = losses::Absolute{};
  Penalty penalty = NoPenalty{};
  bool weighted = false;
  bool norm_weights = false;
  bool everywhere = false;  ///< slopes of every entry, as a full matrix has them
  bool ridges = false;
  Shape shape{};
  std::uint64_t seed = 1;
};

bool has_labels(const Loss& loss) { return wants_labels(loss); }

/// Random data, a random answer inside of the ball, slopes of the loss at another random point, and the numbers that
/// are true of them.
Case make_case(const Options& options) {
  Random random(options.seed);
  const auto [rows, cols, share, rank] = options.shape;
  const auto factor = [&, columns = rank](Index count) {
    Eigen::MatrixXd matrix(count, columns);
    for (double& element : matrix.reshaped()) element = random.normal();
    return matrix;
  };
  Case c;
  c.claim.loss = options.loss;
  c.claim.penalty = options.penalty;
  c.claim.weighted = options.weighted;
  c.data.rows = rows;
  c.data.cols = cols;
  std::vector<Offset> begin{0};
  std::vector<Index> col;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (random.uniform() >= share) continue;
      col.push_back(j);
      c.data.entries.row.push_back(i);
      c.data.entries.col.push_back(j);
      const double y = 2 * random.normal();
      c.data.entries.value.push_back(static_cast<Real>(has_labels(options.loss) ? (y < 0 ? -1 : 1) : y));
      if (options.weighted) c.data.weight.push_back(static_cast<Real>(0.2 + 2 * random.uniform()));
    }
    begin.push_back(static_cast<Offset>(col.size()));
  }
  c.claim.observed = SparsePattern(rows, cols, std::move(begin), std::move(col));

  TraceNormBall& ball = c.claim.constraint;
  if (options.norm_weights) {
    for (Index i = 0; i < rows; ++i) ball.row_weight.push_back(0.3 + 2 * random.uniform());
    for (Index j = 0; j < cols; ++j) ball.col_weight.push_back(0.3 + 2 * random.uniform());
  }
  if (options.ridges) {
    for (Index i = 0; i < rows; ++i) c.claim.row_ridge.push_back(0.5 + random.uniform());
    for (Index j = 0; j < cols; ++j) c.claim.col_ridge.push_back(0.5 + random.uniform());
    for (Index i = 0; i < rows; ++i) c.claim.row_shift.push_back(0.3 * random.normal());
    for (Index j = 0; j < cols; ++j) c.claim.col_shift.push_back(0.3 * random.normal());
    c.answer.preparation.row_offset = c.claim.row_shift;
    c.answer.preparation.col_offset = c.claim.col_shift;
  }
  LowRankMatrix x(factor(rows), Eigen::VectorXd::Constant(rank, 0.4), factor(cols));
  x.compress();
  c.answer.factors = x;
  const Eigen::MatrixXd at = dense_of(x);
  ball.radius = Eigen::JacobiSVD<Eigen::MatrixXd>(weigh(at, ball, false)).singularValues().sum() * (1 + 1e-12);

  const double l1 =
      std::holds_alternative<L1Penalty>(options.penalty) ? std::get<L1Penalty>(options.penalty).lambda : 0;
  const bool squares = std::holds_alternative<ComplementSquaredPenalty>(options.penalty);
  const double square = squares ? std::get<ComplementSquaredPenalty>(options.penalty).lambda : 0;
  const bool everywhere = options.everywhere || l1 > 0;
  const LowRankMatrix slopes_elsewhere(factor(rows), Eigen::VectorXd::Constant(rank, 0.2), factor(cols));
  const Eigen::MatrixXd off = dense_of(slopes_elsewhere);
  if (squares && !everywhere) c.claim.dual.elsewhere = slopes_elsewhere;

  double objective = 0;
  double conjugates = 0;
  Eigen::MatrixXd g = Eigen::MatrixXd::Zero(rows, cols);
  std::size_t e = 0;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const bool observed = e < c.data.entries.row.size() && c.data.entries.row[e] == i && c.data.entries.col[e] == j;
      const double value = at(i, j);
      Real slope = 0;
      if (observed) {
        const double y = c.data.entries.value[e];
        const double w = options.weighted ? double(c.data.weight[e]) : 1.0;
        const double shift = options.ridges ? c.claim.row_shift[std::size_t(i)] + c.claim.col_shift[std::size_t(j)] : 0;
        objective += w * with_solver_loss(options.loss, [&](const auto& f) { return f.value(value + shift, y); }) +
                     l1 * std::abs(value);
        const double elsewhere = 1.5 * random.normal();
        const double of_loss =
            0.9 * w * with_solver_loss(options.loss, [&](const auto& f) { return f.subgradient(elsewhere, y); });
        slope = static_cast<Real>(of_loss + (random.uniform() - 0.5) * l1);
        // The conjugate of the sum is the least one of the loss within lambda of the slope: nearest to its slope at 0.
        const double least = with_solver_loss(options.loss, [&](const auto& f) {
          const double at_zero = w * f.subgradient(0.0, y);
          return w * f.conjugate(std::clamp(at_zero, slope - l1, slope + l1) / w, y);
        });
        conjugates += least;
        c.size += std::abs(least) + std::abs(slope * y);
        g(i, j) = slope;
        ++e;
      } else if (square > 0) {
        objective += square * value * value;
        slope = static_cast<Real>(off(i, j));
        g(i, j) = everywhere ? double(slope) : off(i, j);
        conjugates += g(i, j) * g(i, j) / (4 * square);
      } else {
        objective += l1 * std::abs(value);
        slope = static_cast<Real>((2 * random.uniform() - 1) * 0.99 * l1);
        g(i, j) = slope;
      }
      if (observed || everywhere) c.claim.dual.slope.push_back(slope);
    }
  }
  if (options.ridges) {
    for (Index i = 0; i < rows; ++i) {
      const double b = c.claim.row_shift[std::size_t(i)];
      objective += c.claim.row_ridge[std::size_t(i)] * b * b;
      conjugates += g.row(i).sum() * g.row(i).sum() / (4 * c.claim.row_ridge[std::size_t(i)]);
    }
    for (Index j = 0; j < cols; ++j) {
      const double b = c.claim.col_shift[std::size_t(j)];
      objective += c.claim.col_ridge[std::size_t(j)] * b * b;
      conjugates += g.col(j).sum() * g.col(j).sum() / (4 * c.claim.col_ridge[std::size_t(j)]);
    }
  }
  const double norm = ball.radius * largest_singular_value(weigh(g, ball, true));
  c.size += norm;
  c.claim.objective = objective * (1 + 1e-12);
  c.claim.lower_bound = -conjugates - norm - 1e-10 * c.size;
  c.seal();
  return c;
}

std::string failed_step(const Verification& found) {
  return found.verdict == Verdict::refuted ? found.steps.back().name : "none";
}

using Choice = std::tuple<int, int, bool, bool, bool>;  // loss, penalty, weights, norm weights, everywhere

class TrueClaims : public testing::TestWithParam<Choice> {};

Options options_of(const Choice& choice) {
  const auto [loss, penalty, weighted, norm_weights, everywhere] = choice;
  return {.loss = test::every_loss()[std::size_t(loss)],
          .penalty = test::every_penalty()[std::size_t(penalty)],
          .weighted = weighted,
          .norm_weights = norm_weights,
          .everywhere = everywhere};
}

TEST_P(TrueClaims, AreProvedAndFalseOnesRefuted) {
  Options options = options_of(GetParam());
  for (options.seed = 1; options.seed <= 4; ++options.seed) {
    if (options.seed > 2) std::swap(options.shape.rows, options.shape.cols);
    const Case honest = make_case(options);
    const Verification found = honest.verify();
    ASSERT_EQ(found.verdict, Verdict::proved) << to_text(found);
    EXPECT_LE(found.objective, honest.claim.objective);
    EXPECT_GE(found.objective, honest.claim.objective * (1 - 1e-11));
    EXPECT_GE(found.lower_bound, honest.claim.lower_bound);
    EXPECT_EQ(found.failure_probability, 0);

    // What was proved cannot be far off: a little more than the truth is not proved.
    Case bold = honest;
    bold.claim.lower_bound += 3e-10 * honest.size;
    EXPECT_EQ(failed_step(bold.verify()), "norm") << to_text(bold.verify());
    bold = honest;
    bold.claim.objective = honest.claim.objective * (1 - 3e-12);
    EXPECT_EQ(failed_step(bold.verify()), "objective");
    bold = honest;
    bold.claim.constraint.radius *= 1 - 3e-12;
    EXPECT_EQ(failed_step(bold.verify()), "radius");
  }
}

std::string choice_name(const testing::TestParamInfo<Choice>& info) {
  const Options options = options_of(info.param);
  return test::identifier(to_string(options.loss) + "_" + to_string(options.penalty) +
                          (options.weighted ? "_weighted" : "") + (options.norm_weights ? "_norm" : "") +
                          (options.everywhere ? "_full" : ""));
}

INSTANTIATE_TEST_SUITE_P(Verify, TrueClaims,
                         testing::Combine(testing::Range(0, 7), testing::Range(0, 3), testing::Bool(), testing::Bool(),
                                          testing::Bool()),
                         choice_name);

TEST(Verify, OffsetsWithRidgesArePartOfTheAnswer) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Case c = make_case({.loss = losses::Huber{0.7}, .weighted = seed % 2 == 0, .ridges = true, .seed = seed});
    ASSERT_EQ(c.verify().verdict, Verdict::proved) << to_text(c.verify());
    Case bold = c;
    bold.claim.lower_bound += 3e-10 * c.size;
    EXPECT_EQ(failed_step(bold.verify()), "norm");
    bold = c;
    bold.claim.row_shift[2] += 5;
    EXPECT_EQ(failed_step(bold.verify()), "files") << "the answer has others";
    bold.answer.preparation.row_offset[2] += 5;
    EXPECT_EQ(failed_step(bold.verify()), "objective");
    bold = c;
    bold.claim.row_ridge[1] /= 4;
    EXPECT_EQ(failed_step(bold.verify()), "norm") << to_text(bold.verify());
    bold = c;
    bold.claim.penalty = L1Penalty{0.1};
    EXPECT_EQ(failed_step(bold.verify()), "files");
  }
}

TEST(Verify, NamesTheStepThatANumberSpoils) {
  const Case honest = make_case({.loss = losses::Huber{0.5}, .weighted = true, .norm_weights = true, .seed = 3});
  ASSERT_EQ(honest.verify().verdict, Verdict::proved);
  const auto spoilt = [&](const auto& change, bool seal) {
    Case c = honest;
    change(c);
    if (seal) c.seal();
    return failed_step(c.verify());
  };
  const auto slope = [](Case& c) { c.claim.dual.slope[3] += 0.05F; };
  EXPECT_EQ(spoilt(slope, false), "files");
  EXPECT_EQ(spoilt(slope, true), "norm");
  const auto wild_slope = [](Case& c) { c.claim.dual.slope[3] = 4; };
  EXPECT_EQ(spoilt(wild_slope, true), "slopes");
  const auto nan_slope = [](Case& c) { c.claim.dual.slope[3] = std::nanf(""); };
  EXPECT_EQ(spoilt(nan_slope, true), "slopes");
  const auto factor = [](Case& c) {
    Eigen::MatrixXd left = c.answer.factors.left();
    left(1, 0) *= 1.01;
    c.answer.factors = LowRankMatrix(left, c.answer.factors.values(), c.answer.factors.right());
  };
  EXPECT_EQ(spoilt(factor, false), "files");
  EXPECT_EQ(spoilt(factor, true), "radius");
  const auto nan_factor = [](Case& c) {
    Eigen::MatrixXd left = c.answer.factors.left();
    left(1, 0) = std::nan("");
    c.answer.factors = LowRankMatrix(left, c.answer.factors.values(), c.answer.factors.right());
  };
  EXPECT_EQ(spoilt(nan_factor, true), "files");
  const auto value = [](Case& c) { c.data.entries.value[5] += 1; };
  EXPECT_EQ(spoilt(value, false), "data");
  const auto far_value = [](Case& c) { c.data.entries.value[5] += 100; };
  EXPECT_EQ(spoilt(far_value, true), "objective");
  const auto weight = [](Case& c) { c.data.weight[5] *= 2; };
  EXPECT_EQ(spoilt(weight, false), "data");
  EXPECT_EQ(spoilt(weight, true), "objective");
  const auto norm_weight = [](Case& c) { c.claim.constraint.row_weight[2] *= 1.01; };
  EXPECT_EQ(spoilt(norm_weight, true), "radius");
  const auto small_norm_weight = [](Case& c) { c.claim.constraint.row_weight[2] /= 2; };
  EXPECT_EQ(spoilt(small_norm_weight, true), "norm");
  EXPECT_EQ(spoilt([](Case& c) { c.claim.constraint.radius *= 1.001; }, true), "norm");
  EXPECT_EQ(spoilt([](Case& c) { c.claim.constraint.radius *= 0.999; }, true), "radius");
  EXPECT_EQ(spoilt([](Case& c) { c.claim.lower_bound += 1e-6; }, true), "norm");
  EXPECT_EQ(spoilt([](Case& c) { c.claim.objective -= 1e-6; }, true), "objective");
  EXPECT_EQ(spoilt([](Case& c) { c.claim.objective = std::nan(""); }, true), "objective");
  EXPECT_EQ(spoilt([](Case& c) { c.claim.lower_bound = std::nan(""); }, true), "norm");
  EXPECT_EQ(spoilt([](Case& c) { c.claim.preparation.offset = 1; }, true), "files");
  EXPECT_EQ(spoilt([](Case& c) { c.data.entries.row.pop_back(), c.data.entries.col.pop_back(); }, false), "data");
  EXPECT_EQ(spoilt([](Case& c) { c.data.weight.clear(); }, false), "data");
}

TEST(Verify, SlopesThatRoundingPutOutsideAreMovedInside) {
  Case c = make_case({.loss = losses::Quantile{0.1}});
  const double y = c.data.entries.value[0];
  c.claim.dual.slope[0] = std::nextafterf(0.9F, 1.0F);
  c.claim.lower_bound -= 2 * (1 + std::abs(y)) + 2 * c.claim.constraint.radius;  // room for the other slope
  c.seal();
  const Verification found = c.verify();
  EXPECT_EQ(found.verdict, Verdict::proved) << to_text(found);
  EXPECT_NE(found.steps[4].says.find("1 moved"), std::string::npos) << found.steps[4].says;
}

TEST(Verify, EntriesThatAreHeldOutAndValuesReplacedOnPurpose) {
  Case c = make_case({});
  const Real kept = c.data.entries.value[2];
  c.data.entries.row.push_back(0);  // an entry that is not part of the problem
  for (Index j = 0; j < c.data.cols; ++j) {
    if (std::count(c.data.entries.col.begin(), c.data.entries.col.begin() + c.claim.observed.begin()[1], j) == 0) {
      c.data.entries.col.push_back(j);
      break;
    }
  }
  c.data.entries.value.push_back(7);
  ASSERT_EQ(c.data.entries.col.size(), c.data.entries.row.size()) << "row 0 has no hole: choose another seed";
  EXPECT_EQ(c.verify().verdict, Verdict::proved) << to_text(c.verify());
  std::reverse(c.data.entries.row.begin(), c.data.entries.row.end());
  std::reverse(c.data.entries.col.begin(), c.data.entries.col.end());
  std::reverse(c.data.entries.value.begin(), c.data.entries.value.end());
  EXPECT_EQ(c.verify().verdict, Verdict::proved) << "the order of the data does not matter";
  Real& value = c.data.entries.value[c.data.entries.value.size() - 3];
  value += 1;
  EXPECT_EQ(failed_step(c.verify()), "data");
  c.claim.replaced = {
      {c.data.entries.row[c.data.entries.row.size() - 3]}, {c.data.entries.col[c.data.entries.col.size() - 3]}, {kept}};
  EXPECT_EQ(c.verify().verdict, Verdict::proved) << to_text(c.verify());
}

TEST(Verify, UnitsAreThoseOfThePreparation) {
  Case c = make_case({.seed = 8});
  Preparation units{.kind = Preparation::Kind::both, .offset = 3.25, .scale = 0.5};
  for (Index i = 0; i < c.data.rows; ++i) units.row_offset.push_back(0.125 * i);
  for (Index j = 0; j < c.data.cols; ++j) units.col_offset.push_back(-0.25 * j);
  std::vector<Real> prepared;
  for (std::size_t e = 0; e < c.data.entries.value.size(); ++e) {
    Real& value = c.data.entries.value[e];
    prepared.push_back(value);
    value = static_cast<Real>(units.undo(value, c.data.entries.row[e], c.data.entries.col[e]));
    prepared.back() = static_cast<Real>(units.apply(value, c.data.entries.row[e], c.data.entries.col[e]));
  }
  c.claim.preparation = c.answer.preparation = units;
  c.claim.checksums.data = checksum_of_data(prepared.data(), nullptr, static_cast<Offset>(prepared.size()));
  c.claim.objective += 1e-4;  // values were rounded on the way
  c.claim.lower_bound -= 1e-4;
  EXPECT_EQ(c.verify().verdict, Verdict::proved) << to_text(c.verify());
  c.answer.preparation.row_offset[1] += 1;
  EXPECT_EQ(failed_step(c.verify()), "files");
}

TEST(Verify, AboveTheLargestGramARandomStartDecides) {
  Options options{.penalty = ComplementSquaredPenalty{0.2}, .shape = {60, 50, 0.3, 3}};
  for (int round = 0; round < 3; ++round) {
    options.norm_weights = round == 1;
    if (round == 2) options.penalty = L1Penalty{0.2};
    Case c = make_case(options);
    c.claim.lower_bound -= 0.05 * c.size;
    const VerifyOptions random_start{.largest_gram = 10, .seed = 7};
    const Verification found = c.verify(random_start);
    EXPECT_EQ(found.verdict, Verdict::probable) << to_text(found);
    EXPECT_GT(found.failure_probability, 0);
    EXPECT_NE(to_text(found).find("proved up to probability 1e-09"), std::string::npos);
    Case bold = c;
    bold.claim.lower_bound += 0.051 * c.size;
    EXPECT_EQ(failed_step(bold.verify(random_start)), "norm");
  }
}

TEST(Verify, ZeroSlopesAndZeroAnswers) {
  Case c = make_case({});
  c.claim.dual.slope.assign(c.claim.dual.slope.size(), 0);
  c.claim.lower_bound = 0;
  c.answer.factors = LowRankMatrix(c.data.rows, c.data.cols);
  c.claim.objective = 0;
  for (const Real y : c.data.entries.value) c.claim.objective += std::abs(double(y));
  c.claim.objective *= 1 + 1e-14;
  c.seal();
  EXPECT_EQ(c.verify().verdict, Verdict::proved) << to_text(c.verify());
  c.claim.lower_bound = 1e-3;
  EXPECT_EQ(failed_step(c.verify()), "bound");
}

TEST(Verify, FactorsNeedNotBeOrthogonal) {
  Case c = make_case({.norm_weights = true});
  const LowRankMatrix& x = c.answer.factors;
  Eigen::MatrixXd turn(3, 3);
  turn << 1, 0.5, 0, 0, 1, 0.3, 0.2, 0, 1;
  // The same matrix from other factors: L T, T^-1 S R'.
  const Eigen::MatrixXd left = x.left() * turn;
  const Eigen::MatrixXd right = x.right() * Eigen::MatrixXd(x.values().asDiagonal()) * turn.inverse().transpose();
  c.answer.factors = LowRankMatrix(left, Eigen::VectorXd::Ones(3), right);
  c.claim.objective *= 1 + 1e-12;
  c.seal();
  EXPECT_EQ(c.verify().verdict, Verdict::proved) << to_text(c.verify());
  Case bold = c;
  bold.claim.constraint.radius *= 1 - 3e-12;
  EXPECT_EQ(failed_step(bold.verify()), "radius");
}

TEST(Verify, TheVerdictDoesNotDependOnThreads) {
  const Case c = make_case({.penalty = L1Penalty{0.1}, .shape = {150, 90, 0.5, 4}});
  const Verification one = c.verify({.threads = 1});
  const Verification three = c.verify({.threads = 3});
  EXPECT_EQ(one.verdict, Verdict::proved) << to_text(one);
  EXPECT_EQ(to_text(one), to_text(three));
}

TEST(Verify, AFunctionOfOnesOwnIsAnError) {
  Case c = make_case({});
  losses::Custom own;
  own.function = [](double x, double y) { return std::abs(x - y); };
  c.claim.loss = own;
  EXPECT_THROW(c.verify(), Error);
}

}  // namespace
}  // namespace tracenorm
