// The CUDA backend next to the CPU's: verb by verb at sizes that the fixtures do not have (rows of several pieces, rows
// that do not fit the fused product, shapes that are no multiple of anything), then whole problems. Where there is no
// device, the tests say why and are skipped. What the verbs mean is tested in tests/solver/evaluator_test.cpp, on every
// backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cpu/backend.hpp"
#include "cuda/backend.hpp"
#include "model/entry_bounds.hpp"
#include "model/entry_functions.hpp"
#include "support/identifier.hpp"
#include "support/random_matrices.hpp"
#include "tracenorm/solve.hpp"

namespace tracenorm {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::normal_matrix;

struct Case {
  std::string name;
  Problem problem;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

Observations observations(Index rows, Index cols, double share, bool weighted, bool labels, bool dense) {
  Random random(7);
  Entries entries;
  std::vector<Real> weight;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (random.uniform() > share) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(labels ? Real(random.uniform() < 0.5 ? -1 : 1) : Real(random.normal()));
      if (weighted) weight.push_back(Real(0.5 + random.uniform()));
    }
  }
  SparseObservations sparse = make_sparse(rows, cols, entries, weight);
  if (dense) return make_dense(sparse);
  return sparse;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, Index rows, Index cols, double share, const std::string& loss,
                       const std::string& penalty, bool weighted, bool dense) {
    const Loss parsed = parse_loss(loss);
    Problem problem{
        observations(rows, cols, share, weighted, wants_labels(parsed), dense), parsed, parse_penalty(penalty), {}};
    problem.constraint.radius = 30;
    all.push_back({name + " " + loss + " " + penalty + (weighted ? " weighted" : ""), std::move(problem)});
  };
  for (const bool dense : {false, true}) {
    const std::string kind = dense ? "dense" : "sparse";
    add(kind + " long rows", 21, 2500, 0.8, "absolute", "none", false, dense);
    add(kind + " long columns", 2500, 21, 0.8, "absolute", "none", false, dense);
    add(kind + " short rows", 900, 70, 0.04, "huber:0.5", "none", true, dense);
    add(kind + " tiny", 3, 2, 0.9, "squared", "none", false, dense);
    add(kind + " middling", 130, 257, 0.3, "quantile:0.3", "none", true, dense);
    add(kind + " middling", 130, 257, 0.3, "epsilon-insensitive:0.2", "complement-squared:0.05", true, dense);
    add(kind + " middling", 131, 257, 0.3, "logistic", "complement-squared:0.05", false, dense);
    add(kind + " middling", 130, 255, 0.3, "hinge", "none", true, dense);
    add(kind + " middling", 130, 258, 0.3, "absolute", "l1:0.1", true, dense);
    add(kind + " middling", 64, 64, 0.3, "logistic", "l1:0.1", false, dense);
  }
  add("dense wide", 70, 4099, 0.5, "absolute", "none", false, true);
  add("dense wider", 33, 8205, 0.5, "hinge", "l1:0.05", false, true);
  return all;
}

/// The same panel in two places.
struct Both {
  Panel cpu;
  Panel cuda;
};

class EveryCase : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const CudaDevices devices = cuda_devices();
    if (!devices.none.empty()) GTEST_SKIP() << devices.none;
    cpu_ = cpu_backend().open(GetParam().problem, execution_);
    cuda_ = cuda_backend().open(GetParam().problem, execution_);
  }

  [[nodiscard]] Index rows(Side side) const {
    return side == Side::left ? cpu_.store->facts().rows : cpu_.store->facts().cols;
  }
  Both blank(Side side, Use use, Index columns) {
    return {cpu_.panels->make(side, use, columns), cuda_.panels->make(side, use, columns)};
  }
  Both panel(Side side, Use use, Index columns, double size = 1) {
    const Both both = blank(side, use, columns);
    const MatrixXd numbers = size * normal_matrix(rows(side), columns, random_);
    cpu_.panels->upload(numbers, both.cpu);
    cuda_.panels->upload(numbers, both.cuda);
    return both;
  }
  void expect_same(const Both& both, double tolerance, const char* what) {
    const MatrixXd expected = cpu_.panels->download(both.cpu);
    const MatrixXd found = cuda_.panels->download(both.cuda);
    EXPECT_LE((found - expected).norm(), tolerance * (1e-3 + expected.norm())) << what;
  }
  static void expect_near(double found, double expected, double tolerance, const char* what) {
    EXPECT_NEAR(found, expected, tolerance * (1e-3 + std::abs(expected))) << what;
  }
  static void expect_same(const EntrySums& found, const EntrySums& expected, double tolerance, const char* what) {
    SCOPED_TRACE(what);
    const double size = std::abs(expected.objective) + std::abs(expected.conjugate);
    EXPECT_NEAR(found.objective, expected.objective, tolerance * (1e-3 + std::abs(expected.objective)));
    EXPECT_NEAR(found.inner, expected.inner, tolerance * (1e-3 + size + std::abs(expected.inner)));
    EXPECT_NEAR(found.conjugate, expected.conjugate, tolerance * (1e-3 + size));
    EXPECT_NEAR(found.square_x, expected.square_x, tolerance * (1e-3 + std::abs(expected.square_x)));
    EXPECT_NEAR(found.square_slope, expected.square_slope, tolerance * (1e-3 + std::abs(expected.square_slope)));
  }

  /// X <- some matrix of rank three.
  void load() {
    left_ = panel(Side::left, Use::exact, 3);
    right_ = panel(Side::right, Use::exact, 3);
    cpu_.store->load({left_.cpu, values_, right_.cpu});
    cuda_.store->load({left_.cuda, values_, right_.cuda});
  }
  [[nodiscard]] FactorView x_cpu() const { return {left_.cpu, values_, right_.cpu}; }
  [[nodiscard]] FactorView x_cuda() const { return {left_.cuda, values_, right_.cuda}; }
  void linearize(double width) {
    const bool conjugates = true;
    const EntrySums expected = cpu_.store->linearize(width, conjugates, nullptr);
    expect_same(cuda_.store->linearize(width, conjugates, nullptr), expected, kReal, "linearize");
  }
  void expect_same_slopes(Slopes which, double tolerance) {
    const Both in = panel(Side::right, Use::exact, 2);
    const Both out = blank(Side::left, Use::exact, 2);
    cpu_.store->multiply(which, in.cpu, out.cpu);
    cuda_.store->multiply(which, in.cuda, out.cuda);
    expect_same(out, tolerance, "M v");
    const Both back = panel(Side::left, Use::exact, 2);
    const Both there = blank(Side::right, Use::exact, 2);
    cpu_.store->multiply(which, back.cpu, there.cpu);
    cuda_.store->multiply(which, back.cuda, there.cuda);
    expect_same(there, tolerance, "M' u");
  }

  static constexpr double kReal = 2e-6;   // sums of entries in Real, each rounded in its own way
  static constexpr double kSlope = 1e-5;  // vectors of such sums
  Random random_{3};
  Execution execution_{2};
  Place cpu_;
  Place cuda_;
  Both left_;
  Both right_;
  VectorXd values_ = VectorXd{{0.9, -0.4, 0.2}};
};

TEST_P(EveryCase, FactsAgree) {
  const StoreFacts& expected = cpu_.store->facts();
  const StoreFacts& found = cuda_.store->facts();
  EXPECT_EQ(found.rows, expected.rows);
  EXPECT_EQ(found.cols, expected.cols);
  EXPECT_EQ(found.entries, expected.entries);
  EXPECT_EQ(found.off_pattern, expected.off_pattern);
  EXPECT_DOUBLE_EQ(found.data_scale, expected.data_scale);
}

TEST_P(EveryCase, LinearizesAndMultiplies) {
  load();
  for (const double width : {0.0, 0.3, 20.0}) {
    linearize(width);
    expect_same_slopes(Slopes::current, kSlope);
  }
}

TEST_P(EveryCase, FusedProductsAgree) {
  load();
  const Index columns = cpu_.store->facts().search_columns;
  ASSERT_EQ(cuda_.store->facts().search_columns, columns);
  for (const bool with_terms : {false, true}) {
    for (const auto& [use, width] :
         {std::pair{Use::search, columns}, {Use::search, Index{1}}, {Use::exact, Index{1}}}) {
      const Both in = panel(Side::right, use, width);
      const Both out = blank(Side::right, use, width);
      const Both product = blank(Side::left, use, width);
      const Both factor = panel(Side::left, use, 1);
      const Both addend = panel(Side::left, use, width);
      NormalProduct on_cpu{in.cpu, out.cpu, product.cpu};
      NormalProduct on_cuda{in.cuda, out.cuda, product.cuda};
      if (with_terms) {
        on_cpu.factor = factor.cpu;
        on_cpu.addend = addend.cpu;
        on_cuda.factor = factor.cuda;
        on_cuda.addend = addend.cuda;
      }
      const bool rides = use == Use::search && width == columns;
      const EntrySums expected = cpu_.store->linearize(0.3, false, rides ? &on_cpu : nullptr);
      expect_same(cuda_.store->linearize(0.3, false, rides ? &on_cuda : nullptr), expected, kReal, "linearize");
      if (!rides) {
        cpu_.store->multiply(Slopes::current, on_cpu);
        cuda_.store->multiply(Slopes::current, on_cuda);
      }
      expect_same(product, 2 * kSlope, "D M v + addend");
      expect_same(out, 2 * kSlope, "M' D (D M v + addend)");
    }
  }
}

TEST_P(EveryCase, SegmentsAndMovesAgree) {
  load();
  const Entries held{{0, 1, 2, 2, 0}, {0, 1, 0, 1, 1}, {Real(1), Real(-1), Real(1), Real(1), Real(-1)}};
  cpu_.store->watch(held, x_cpu());
  cuda_.store->watch(held, x_cuda());
  const auto expect_same_held_out = [&] {
    const HeldOutSums expected = cpu_.store->held_out();
    const HeldOutSums found = cuda_.store->held_out();
    expect_near(found.square, expected.square, kSlope, "held-out squares");
    expect_near(found.absolute, expected.absolute, kSlope, "held-out distances");
    expect_near(found.loss, expected.loss, kSlope, "held-out losses");
  };
  expect_same_held_out();
  linearize(0.3);
  const Problem& problem = GetParam().problem;
  const bool all_have_kinks = std::holds_alternative<SparseObservations>(problem.observations) ||
                              std::holds_alternative<L1Penalty>(problem.penalty);
  const auto follow = [&](double t) {
    const std::array<double, 3> points{0.1, 0.5, 1.0};
    for (const std::optional<double> width : {std::optional<double>(), std::optional<double>(0.3)}) {
      const SegmentSums expected = cpu_.store->segment(points, width);
      const SegmentSums found = cuda_.store->segment(points, width);
      double size = 0;
      for (int p = 0; p < 3; ++p) size = std::max(size, std::abs(expected.derivative[p]) + std::abs(expected.value[p]));
      for (int p = 0; p < 3; ++p) {
        if (!width) expect_near(found.value[p], expected.value[p], kReal, "value");
        EXPECT_NEAR(found.derivative[p], expected.derivative[p], kSlope * (1e-3 + size));
        expect_near(found.square[p], expected.square[p], kSlope, "square");
        EXPECT_NEAR(found.square_derivative[p], expected.square_derivative[p], kSlope * (1e-3 + expected.square[p]));
      }
    }
    const double expected_change = cpu_.store->move(t);
    const double change = cuda_.store->move(t);
    if (all_have_kinks) expect_near(change, expected_change, kSlope, "largest change");
    EXPECT_LE(change,
              expected_change * (1 + kSlope));  // the host counts entries without a datum in a matrix's way, too
    expect_same_held_out();
    linearize(0.3);
  };
  const Both u = panel(Side::left, Use::exact, 1);
  const Both v = panel(Side::right, Use::exact, 1);
  cpu_.store->aim({u.cpu, v.cpu});
  cuda_.store->aim({u.cuda, v.cuda});
  follow(0.3);
  const Both left = panel(Side::left, Use::descent, kFactorStep, 0.3);
  const Both right = panel(Side::right, Use::descent, kFactorStep, 0.3);
  cpu_.store->aim({left.cpu, right.cpu});
  cuda_.store->aim({left.cuda, right.cuda});
  follow(0.6);
  for (const std::optional<double> width : {std::optional<double>(), std::optional<double>(0.3)}) {
    const EntrySums expected = cpu_.store->aim_without({u.cpu, v.cpu}, 0.8, width);
    const EntrySums found = cuda_.store->aim_without({u.cuda, v.cuda}, 0.8, width);
    expect_same(found, expected, kSlope, "aim_without");
    follow(width ? 0.4 : 1.0);
  }
}

TEST_P(EveryCase, FactorGradientsAgree) {
  load();
  linearize(0.3);
  const Both left = panel(Side::left, Use::descent, 2 * kFactorStep, 0.3);
  const Both right = panel(Side::right, Use::descent, 2 * kFactorStep, 0.3);
  const Both of_left = blank(Side::left, Use::descent, 2 * kFactorStep);
  const Both of_right = blank(Side::right, Use::descent, 2 * kFactorStep);
  cpu_.store->multiply(Slopes::current, {left.cpu, right.cpu}, {of_left.cpu, of_right.cpu});
  cuda_.store->multiply(Slopes::current, {left.cuda, right.cuda}, {of_left.cuda, of_right.cuda});
  expect_same(of_left, kSlope, "M right");
  expect_same(of_right, kSlope, "M' left");
  for (const bool shifted : {false, true}) {
    if (shifted) {
      cpu_.store->shift_kinks(0.5);
      cuda_.store->shift_kinks(0.5);
    }
    const EntrySums expected =
        cpu_.store->factor_gradient({left.cpu, right.cpu}, 0.7, 0.4, {of_left.cpu, of_right.cpu});
    expect_same(cuda_.store->factor_gradient({left.cuda, right.cuda}, 0.7, 0.4, {of_left.cuda, of_right.cuda}),
                expected, kSlope, "factor_gradient");
    expect_same(of_left, kSlope, "N right");
    expect_same(of_right, kSlope, "N' left");
    linearize(0.4);
    expect_same_slopes(Slopes::current, kSlope);
  }
}

TEST_P(EveryCase, ObjectivesAreAsExact) {
  load();
  const EntrySums expected = cpu_.store->objective(x_cpu());
  const EntrySums found = cuda_.store->objective(x_cuda());
  EXPECT_NEAR(found.objective, expected.objective, 1e-11 * expected.objective);
  EXPECT_NEAR(found.square_x, expected.square_x, 1e-11 * expected.square_x);
  EXPECT_GE(found.rounding, 0);
  EXPECT_LE(found.rounding, 1e-12 * expected.objective + 1e-12);
}

/// What a device proves is proved again on the host from the numbers that come back.
TEST_P(EveryCase, DualPointsAreFeasibleAndTheirSumsNeverTooSmall) {
  const Problem& problem = GetParam().problem;
  load();
  const EntrySums zero_expected = cpu_.store->conjugates(Slopes::zero, nullptr);
  const EntrySums zero = cuda_.store->conjugates(Slopes::zero, nullptr);
  EXPECT_NEAR(zero.conjugate, zero_expected.conjugate, zero.rounding + zero_expected.rounding);
  for (const double width : {0.3, 0.05}) {
    linearize(width);
    cpu_.store->average(0.25);
    cuda_.store->average(0.25);
  }
  const DenseObservations* dense = std::get_if<DenseObservations>(&problem.observations);
  const SparseObservations* sparse = std::get_if<SparseObservations>(&problem.observations);
  const bool full = dense != nullptr || std::holds_alternative<L1Penalty>(problem.penalty);
  const DenseObservations made = full && dense == nullptr ? make_dense(*sparse) : DenseObservations{};
  const Array<Real>& y = dense != nullptr ? dense->value : full ? made.value : sparse->value;
  const Array<Real>& w = dense != nullptr ? dense->weight : full ? made.weight : sparse->weight;
  for (const Slopes which : {Slopes::average, Slopes::current}) {
    const FactorView x = x_cuda();
    const FactorView host_x = x_cpu();
    const bool off = cpu_.store->facts().off_pattern > 0;
    const EntrySums expected = cpu_.store->conjugates(which, off ? &host_x : nullptr);
    const EntrySums found = cuda_.store->conjugates(which, off ? &x : nullptr);
    expect_same(found, expected, kSlope, "conjugates");
    std::vector<Real> slopes = cuda_.store->dual_slopes();
    ASSERT_EQ(slopes.size(), y.size());
    const std::vector<Real> before = slopes;
    const EntryBounds bounds(problem.loss, full ? dense_mode(problem.penalty) : sparse_mode(problem.penalty),
                             penalty_lambda(problem.penalty));
    const EntrySums proved =
        bounds.conjugates({y.data(), w.empty() ? nullptr : w.data(), static_cast<Offset>(y.size())}, slopes.data());
    EXPECT_EQ(slopes, before) << "every slope is one that its function has";
    EXPECT_NEAR(found.conjugate, proved.conjugate, found.rounding + proved.rounding);
    expect_same_slopes(Slopes::dual, kSlope);
    const Both row_factor = panel(Side::left, Use::exact, 1);
    const Both col_factor = panel(Side::right, Use::exact, 1);
    const Side side = rows(Side::left) < rows(Side::right) ? Side::left : Side::right;
    for (const bool scaled : {false, true}) {
      const MatrixXd of_cpu =
          cpu_.store->gram(Slopes::dual, side, scaled ? row_factor.cpu : Panel(), scaled ? col_factor.cpu : Panel());
      const MatrixXd of_cuda =
          cuda_.store->gram(Slopes::dual, side, scaled ? row_factor.cuda : Panel(), scaled ? col_factor.cuda : Panel());
      EXPECT_LE((of_cuda - of_cpu).norm(), kSlope * (1e-3 + of_cpu.norm())) << "Gram matrix, scaled: " << scaled;
    }
  }
}

TEST_P(EveryCase, PanelsAgree) {
  for (const Side side : {Side::left, Side::right}) {
    for (const auto& [use, width] :
         {std::pair{Use::exact, Index{7}}, {Use::search, Index{4}}, {Use::descent, Index{32}}}) {
      const Both a = panel(side, use, width);
      const Both b = panel(side, use, width);
      const std::array<Panel, 3> on_cpu{a.cpu, b.cpu, a.cpu};
      const std::array<Panel, 3> on_cuda{a.cuda, b.cuda, a.cuda};
      const double tolerance = use == Use::exact ? 1e-13 : 3e-6;
      MatrixXd expected(3 * width, width);
      MatrixXd found(3 * width, width);
      cpu_.panels->gram(on_cpu, b.cpu, expected);
      cuda_.panels->gram(on_cuda, b.cuda, found);
      EXPECT_LE((found - expected).norm(), tolerance * expected.norm()) << "gram";
      const MatrixXd small = normal_matrix(3 * width, width, random_);
      const Both sum = panel(side, use, width);
      cpu_.panels->combine(0.5, on_cpu, small, sum.cpu);
      cuda_.panels->combine(0.5, on_cuda, small, sum.cuda);
      expect_same(sum, tolerance, "combine");
      const MatrixXd turn = normal_matrix(width, width, random_);
      const Both c = panel(side, use, width);
      cpu_.panels->combine(0, c.cpu, turn, c.cpu);
      cuda_.panels->combine(0, c.cuda, turn, c.cuda);
      expect_same(c, tolerance, "a panel that takes the place of itself");
      const MatrixXd diagonal = VectorXd::LinSpaced(width, -1, 2).asDiagonal();
      cpu_.panels->combine(-1, a.cpu, diagonal, c.cpu);
      cuda_.panels->combine(-1, a.cuda, diagonal, c.cuda);
      expect_same(c, tolerance, "a diagonal");
      const Both factors = panel(side, use, 1);
      cpu_.panels->scale_rows(c.cpu, factors.cpu);
      cuda_.panels->scale_rows(c.cuda, factors.cuda);
      expect_same(c, tolerance, "scale_rows");
      const Both exact = blank(side, Use::exact, width);
      cpu_.panels->combine(0, c.cpu, MatrixXd::Identity(width, width), exact.cpu);
      cuda_.panels->combine(0, c.cuda, MatrixXd::Identity(width, width), exact.cuda);
      expect_same(exact, tolerance, "another use");
      cpu_.panels->copy(a.cpu, c.cpu);
      cuda_.panels->copy(a.cuda, c.cuda);
      expect_same(c, 0, "copy");
    }
  }
}

TEST_P(EveryCase, DecomposesAsTheHostDoes) {
  const Both left = panel(Side::left, Use::exact, 5);
  const Both right = panel(Side::right, Use::exact, 5);
  const MatrixXd before = cpu_.panels->download(left.cpu) * cpu_.panels->download(right.cpu).transpose();
  VectorXd values = VectorXd::Ones(5);
  Panel u = left.cuda;
  Panel v = right.cuda;
  ASSERT_TRUE(cuda_.panels->decompose(u, values, v));
  const MatrixXd q = cuda_.panels->download(u);
  const MatrixXd p = cuda_.panels->download(v);
  EXPECT_LE((q * values.asDiagonal() * p.transpose() - before).norm(), 1e-12 * before.norm());
  EXPECT_LE((cuda_.panels->gram(u, u) - MatrixXd::Identity(q.cols(), q.cols())).norm(), 1e-12);
  EXPECT_LE((cuda_.panels->gram(v, v) - MatrixXd::Identity(p.cols(), p.cols())).norm(), 1e-12);
  for (Eigen::Index k = 1; k < values.size(); ++k) EXPECT_LE(values[k], values[k - 1]);
}

TEST_P(EveryCase, DrawsNumbersOfMeanZeroAndVarianceOne) {
  if (rows(Side::right) < 200) return;
  for (const Use use : {Use::exact, Use::search, Use::descent}) {
    const Panel drawn = cuda_.panels->make(Side::right, use, 4);
    Random random(5);
    cuda_.panels->draw(2, random, drawn);
    const MatrixXd numbers = cuda_.panels->download(drawn);
    const double count = static_cast<double>(numbers.size());
    EXPECT_NEAR(numbers.mean(), 0, 2 * 5 / std::sqrt(count));
    EXPECT_NEAR(numbers.squaredNorm() / count, 4, 4 * 10 / std::sqrt(count));
    const Panel again = cuda_.panels->make(Side::right, use, 4);
    Random same(5);
    cuda_.panels->draw(2, same, again);
    EXPECT_EQ(cuda_.panels->download(again), numbers);
  }
}

/// Answers of the same quality, and the same bits every time.
TEST_P(EveryCase, SolvesAsTheHostDoes) {
  const Problem& problem = GetParam().problem;
  RunOptions options;
  options.iterations = 60;
  options.backend = "cuda";
  options.keep_dual = true;
  const Result found = solve(problem, parse_method("fwua"), options);
  const Result again = solve(problem, parse_method("fwua"), options);
  options.backend = "cpu";
  const Result expected = solve(problem, parse_method("fwua"), options);
  EXPECT_EQ(found.environment.backend, "cuda");
  EXPECT_NE(found.status, Status::numerical_failure) << found.message;
  EXPECT_EQ(found.objective, again.objective);
  EXPECT_EQ(found.lower_bound, again.lower_bound);
  EXPECT_EQ(found.solution.left(), again.solution.left());
  EXPECT_LE(found.trace_norm, problem.radius() * (1 + 1e-9));
  EXPECT_LE(found.lower_bound, expected.objective);
  EXPECT_LE(expected.lower_bound, found.objective);
  // Other random vectors start the searches, so steps differ after the first ones.
  EXPECT_NEAR(found.objective, expected.objective, 0.02 * (1 + std::abs(expected.objective)));
  const double on_cpu = objective(problem, found.solution);
  EXPECT_NEAR(found.objective, on_cpu, 1e-9 * on_cpu) << "the same answer in both places";
}

/// To small gaps both come to the same optimum.
TEST_P(EveryCase, CorrectiveComesToTheSameOptimum) {
  RunOptions options;
  options.iterations = 400;
  options.seconds = 20;
  options.gap = 1e-6;
  options.backend = "cuda";
  const Result found = solve(GetParam().problem, parse_method("corrective"), options);
  options.backend = "cpu";
  const Result expected = solve(GetParam().problem, parse_method("corrective"), options);
  EXPECT_NE(found.status, Status::numerical_failure) << found.message;
  EXPECT_LE(found.lower_bound, expected.objective);
  EXPECT_LE(expected.lower_bound, found.objective);
  if (found.relative_gap > 5e-6 || expected.relative_gap > 5e-6) return;  // neither claims more
  EXPECT_NEAR(found.objective, expected.objective, 1e-5 * std::abs(expected.objective));
}

INSTANTIATE_TEST_SUITE_P(Cuda, EveryCase, testing::ValuesIn(cases()),
                         [](const auto& tested) { return test::identifier(tested.param.name); });

Problem small_problem() {
  Problem problem{observations(20, 30, 0.5, false, false, false), losses::Absolute{}, NoPenalty{}, {}};
  problem.constraint.radius = 5;
  return problem;
}

std::string refusal(const Problem& problem) {
  RunOptions options;
  options.backend = "cuda";
  options.iterations = 3;
  try {
    static_cast<void>(solve(problem, parse_method("fwua"), options));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(error.option(), "backend");
    return error.what();
  }
  return {};
}

TEST(CudaBackend, SaysWhyThereIsNone) {
  const CudaDevices devices = cuda_devices();
  EXPECT_EQ(devices.none.empty(), !devices.names.empty());
  EXPECT_EQ(refusal(small_problem()).find(devices.none) != std::string::npos, true) << devices.none;
}

TEST(CudaBackend, RefusesLossesOfTheHost) {
  Problem problem = small_problem();
  losses::Custom custom;
  custom.function = [](double x, double y) { return std::abs(x - y); };
  problem.loss = custom;
  if (cuda_devices().none.find("no CUDA backend") != std::string::npos) GTEST_SKIP() << cuda_devices().none;
  EXPECT_NE(refusal(problem).find("custom loss"), std::string::npos);
}

TEST(CudaBackend, AutomaticChoiceLeavesSmallProblemsToTheHost) {
  EXPECT_FALSE(worth_a_device(small_problem()));
  RunOptions options;
  options.iterations = 3;
  EXPECT_EQ(solve(small_problem(), parse_method("fwua"), options).environment.backend, "cpu");
}

TEST(CudaBackend, OtherWordsAreRefused) {
  RunOptions options;
  options.backend = "gpu";
  EXPECT_THROW(static_cast<void>(solve(small_problem(), parse_method("fwua"), options)), Error);
}

}  // namespace
}  // namespace tracenorm
