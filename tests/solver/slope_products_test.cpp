// Products with slopes, and Gram matrices of panels, against dense matrices, on every backend.
#include <Eigen/Core>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "solver/every_problem.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm::test {
namespace {

TEST_P(EveryProblem, ProductsHaveTheAdjointProperty) {
  const auto f = make();
  wander(*f);
  f->linearize(0.2, false);
  const Eigen::MatrixXd m = slope_matrix(*f);
  EXPECT_LT((m - slope_matrix(*f, Side::left)).norm(), 1e-10 * (1 + m.norm()));
}

Product blank(Panels& panels) {
  return {panels.make(Side::left, Use::descent, kFactorStep), panels.make(Side::right, Use::descent, kFactorStep)};
}

/// (M right, M' left) as they should be.
void expect_products(Evaluator& f, const Product& products, const Eigen::MatrixXd& m, const HostFactors& at,
                     double tolerance) {
  const Eigen::Index terms = at.left.cols();
  EXPECT_LT((f.panels().download(products.left).leftCols(terms) - m * at.right).norm(), tolerance);
  EXPECT_LT((f.panels().download(products.right).leftCols(terms) - m.transpose() * at.left).norm(), tolerance);
}

TEST_P(EveryProblem, FactorGradientIsLinearizeElsewhere) {
  const auto f = make();
  wander(*f);
  f->linearize(0.2, false);
  const Eigen::MatrixXd before = slope_matrix(*f);
  const HostFactors at = some_factors(*f, 3, 5);
  for (const bool shifted : {false, true}) {
    if (shifted) f->shift_kinks(0.4);
    const Product products = blank(f->panels());
    const Linearization there = f->factor_gradient(at.upload(f->panels()), 0.7, 0.4, products);
    const auto g = make();
    if (shifted) {  // the same multipliers, made at the same place
      g->restart(f->downloaded());
      g->shift_kinks(0.4);
    }
    g->restart(at.times(0.7));
    const Linearization model = g->linearize(0.4, false);
    const Eigen::MatrixXd m = slope_matrix(*g);
    EXPECT_NEAR(there.objective, model.objective, 1e-5 * (1 + std::abs(model.objective)));
    EXPECT_NEAR(there.inner, model.inner, 1e-4 * (1 + std::abs(model.inner)));
    expect_products(*f, products, m, at, 1e-3 * (1 + m.norm()));
  }
  EXPECT_LT((slope_matrix(*f) - before).norm(), 1e-12 * (1 + before.norm())) << "nothing was to change here";
}

TEST_P(EveryProblem, MultiplyIsBothProducts) {
  const auto f = make();
  wander(*f);
  f->linearize(0.2, false);
  const Eigen::MatrixXd m = slope_matrix(*f);
  const HostFactors block = some_factors(*f, 2, 6);
  const Product out = blank(f->panels());
  f->multiply(block.upload(f->panels()), out);
  expect_products(*f, out, m, block, 1e-4 * (1 + m.norm()));
}

/// Numbers in a panel, and the same on the host.
struct Drawn {
  Drawn(Panels& panels, Side side, Use use, Index columns, Random& random) : panel(panels.make(side, use, columns)) {
    numbers = normal_matrix(panels.length(panel), columns, random);
    panels.upload(numbers, panel);
  }
  Panel panel;
  Eigen::MatrixXd numbers;
};

/// A product to ask for, with a factor and an addend or without these, and what dense matrices say of it.
struct FusedProduct {
  FusedProduct(Panels& panels, const Eigen::MatrixXd& m, Use use, Index columns, bool terms, bool second_half,
               Random& random)
      : in(panels, Side::right, use, columns, random),
        factor(panels, Side::left, use, 1, random),
        addend(panels, Side::left, use, columns, random),
        asked{in.panel, {}, panels.make(Side::left, use, columns)},
        product(m * in.numbers) {
    if (second_half) asked.out = panels.make(Side::right, use, columns);
    if (terms) {
      asked.factor = factor.panel;
      asked.addend = addend.panel;
      product = factor.numbers.col(0).asDiagonal() * product + addend.numbers;
    }
    back = m.transpose() * (terms ? Eigen::MatrixXd(factor.numbers.col(0).asDiagonal() * product) : product);
  }
  void expect_right(Panels& panels, const std::string& where) const {
    const double tolerance = asked.in.use() == Use::exact ? 1e-12 : 1e-5;
    const auto expect_near = [&](const Panel& panel, const Eigen::MatrixXd& expected, const char* what) {
      EXPECT_LT((panels.download(panel) - expected).norm(), tolerance * (1 + expected.norm())) << what << where;
    };
    expect_near(asked.product, product, "the product");
    if (asked.out) expect_near(asked.out, back, "the second half");
  }

  Drawn in;
  Drawn factor;
  Drawn addend;
  NormalProduct asked;
  Eigen::MatrixXd product;
  Eigen::MatrixXd back;
};

/// The slopes as the store has them: what a penalty adds off the pattern is not there.
Eigen::MatrixXd stored_slopes(Evaluator& f) { return slope_matrix(f) - 2 * f.store().facts().off_pattern * iterate(f); }

TEST_P(EveryProblem, FusedProductsAreThoseOfDenseMatrices) {
  const auto f = make();
  wander(*f);
  const double width = 0.2;
  f->linearize(width, false);
  const Eigen::MatrixXd m = stored_slopes(*f);
  const Index several = f->store().facts().search_columns;
  Random random(12);
  for (const auto& [use, columns] :
       {std::pair{Use::exact, Index{1}}, {Use::search, Index{1}}, {Use::search, several}}) {
    for (const bool terms : {false, true}) {
      for (const bool second_half : {false, true}) {
        const FusedProduct one(f->panels(), m, use, columns, terms, second_half, random);
        f->store().multiply(Slopes::current, one.asked);
        one.expect_right(f->panels(), " alone");
        if (use == Use::exact || columns != several) continue;
        const FusedProduct first(f->panels(), m, use, columns, terms, second_half, random);
        f->store().linearize(width, false, &first.asked);
        first.expect_right(f->panels(), " of a pass that makes slopes");
      }
    }
  }
}

TEST(SymmetricProblem, FusedProductsEndWithTheirFirstHalf) {
  for (const SolvedProblem& solved : semidefinite_problems()) {
    SCOPED_TRACE(solved.name);
    const auto f = make_evaluator(solved.problem);
    f->linearize(0.2, false);
    const Eigen::MatrixXd m = stored_slopes(*f);
    Random random(13);
    for (const bool terms : {false, true}) {
      const FusedProduct one(f->panels(), m, Use::search, 1, terms, false, random);
      f->store().multiply(Slopes::current, one.asked);
      one.expect_right(f->panels(), " alone");
      const FusedProduct first(f->panels(), m, Use::search, 1, terms, false, random);
      f->store().linearize(0.2, false, &first.asked);
      first.expect_right(f->panels(), " of a pass that makes slopes");
    }
  }
}

TEST_P(EveryProblem, GramsAreThoseOfDenseMatrices) {
  const auto f = make();
  Panels& panels = f->panels();
  Random random(14);
  struct List {
    std::vector<Panel> panels;
    Eigen::MatrixXd numbers;
  };
  const auto list = [&](Side side, Use use, Index columns, int count) {
    List all;
    for (int k = 0; k < count; ++k) {
      const Drawn one(panels, side, use, columns, random);
      all.panels.push_back(one.panel);
      all.numbers.conservativeResize(one.numbers.rows(), all.numbers.cols() + columns);
      all.numbers.rightCols(columns) = one.numbers;
    }
    return all;
  };
  const Index several = f->store().facts().search_columns;
  for (const auto& [use, columns] : {std::pair{Use::exact, Index{1}}, {Use::exact, 2}, {Use::search, several}}) {
    for (const auto& [a_side, b_side] : {std::pair{Side::right, Side::left}, {Side::left, Side::left}}) {
      for (const auto& [a_count, b_count] : {std::pair{1, 1}, {3, 3}, {2, 3}}) {
        const List a = list(a_side, use, columns, a_count);
        const List b = list(b_side, use, columns, b_count);
        Eigen::MatrixXd of_a(a.numbers.cols(), a.numbers.cols());
        Eigen::MatrixXd of_b(b.numbers.cols(), b.numbers.cols());
        panels.grams(a.panels, of_a, b.panels, of_b);
        const double tolerance = use == Use::exact ? 1e-13 : 1e-5;
        EXPECT_LT((of_a - a.numbers.transpose() * a.numbers).norm(), tolerance * a.numbers.squaredNorm());
        EXPECT_LT((of_b - b.numbers.transpose() * b.numbers).norm(), tolerance * b.numbers.squaredNorm());
      }
    }
  }
}

}  // namespace
}  // namespace tracenorm::test
