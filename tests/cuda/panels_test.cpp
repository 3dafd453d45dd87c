// Panels of a CUDA device next to the CPU's.
#include "cuda/every_case.hpp"
#include "solver/decomposition.hpp"

namespace tracenorm::test {
namespace {

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
  constexpr Index width = 5;
  const MatrixXd whole = MatrixXd::Identity(width, width);
  MatrixXd long_and_short = whole;
  MatrixXd nearly_dependent = whole;
  MatrixXd dependent = whole;
  long_and_short.diagonal() << 1e6, 1, 1e-6, 3, 1e-9;
  nearly_dependent.col(4) = 1e-9 * whole.col(4) + whole.col(2);
  dependent.col(4) = whole.col(2) - whole.col(1);
  MatrixXd empty = whole;
  empty.col(1).setZero();
  for (const MatrixXd& turn : {whole, long_and_short, nearly_dependent, dependent, empty}) {
    const Both left = panel(Side::left, Use::exact, width);
    const Both right = panel(Side::right, Use::exact, width);
    for (const auto& [panels, side] : {std::pair(cpu_.panels.get(), left.cpu), {cuda_.panels.get(), left.cuda}}) {
      panels->combine(0, side, turn, side);
    }
    const MatrixXd before = cpu_.panels->download(left.cpu) * cpu_.panels->download(right.cpu).transpose();
    VectorXd values = VectorXd::Ones(width);
    VectorXd expected = values;
    Panel u = left.cuda;
    Panel v = right.cuda;
    Panel u_cpu = left.cpu;
    Panel v_cpu = right.cpu;
    ASSERT_TRUE(cpu_.panels->decompose(u_cpu, expected, v_cpu));
    ASSERT_TRUE(decompose(*cuda_.panels, u, values, v));
    ASSERT_EQ(values.size(), expected.size());
    EXPECT_LE((values - expected).norm(), 1e-13 * expected.norm());
    const MatrixXd q = cuda_.panels->download(u);
    const MatrixXd p = cuda_.panels->download(v);
    EXPECT_LE((q * values.asDiagonal() * p.transpose() - before).norm(), 1e-12 * before.norm());
    EXPECT_LE((cuda_.panels->gram(u, u) - MatrixXd::Identity(q.cols(), q.cols())).norm(), 1e-12);
    EXPECT_LE((cuda_.panels->gram(v, v) - MatrixXd::Identity(p.cols(), p.cols())).norm(), 1e-12);
    for (Eigen::Index k = 1; k < values.size(); ++k) EXPECT_LE(values[k], values[k - 1]);
  }
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

}  // namespace
}  // namespace tracenorm::test
