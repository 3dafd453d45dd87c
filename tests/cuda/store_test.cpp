// Verb by verb: the store of a CUDA device next to the CPU's. What the verbs mean is tested in
// tests/solver/evaluator_test.cpp, on every backend.
#include <algorithm>

#include "cuda/every_case.hpp"
#include "model/entry_bounds.hpp"
#include "model/entry_functions.hpp"
#include "support/identifier.hpp"

namespace tracenorm::test {
namespace {

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
      const auto [on_cpu, on_cuda] =
          normal_product(in, out, product, with_terms ? factor : Both(), with_terms ? addend : Both());
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

TEST_P(EveryCase, RoughProductsAgreeToTwoDigits) { expect_same_rough_products_and_moves(); }

/// Vectors too long for the memory that threads share are met band by band.
class LongVectors : public EveryCase {};
TEST_P(LongVectors, RoughProductsAgreeToTwoDigits) { expect_same_rough_products_and_moves(); }
INSTANTIATE_TEST_SUITE_P(Cuda, LongVectors, testing::ValuesIn(long_cases()),
                         [](const auto& tested) { return identifier(tested.param.name); });

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
  const Array<Real> y = dense != nullptr ? dense->value.plain() : full ? made.value.plain() : sparse->value;
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

}  // namespace
}  // namespace tracenorm::test
