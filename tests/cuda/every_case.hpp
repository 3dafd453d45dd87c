// Problems on which the CUDA backend is put next to the CPU's: sizes that the fixtures do not have (rows of several
// pieces, rows that do not fit the fused product, shapes that are no multiple of anything). Where there is no device,
// the tests say why and are skipped.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "cpu/backend.hpp"
#include "cuda/backend.hpp"
#include "support/random_matrices.hpp"
#include "tracenorm/solve.hpp"

namespace tracenorm::test {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Case {
  std::string name;
  Problem problem;
};
inline void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

inline Observations observations(Index rows, Index cols, double share, bool weighted, bool labels, bool dense) {
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

inline Case make_case(const std::string& name, Index rows, Index cols, double share, const std::string& loss,
                      const std::string& penalty, bool weighted, bool dense) {
  const Loss parsed = parse_loss(loss);
  Problem problem{
      observations(rows, cols, share, weighted, wants_labels(parsed), dense), parsed, parse_penalty(penalty), {}};
  problem.constraint.radius = 30;
  return {name + " " + loss + " " + penalty + (weighted ? " weighted" : ""), std::move(problem)};
}

/// Sides beyond what a block of threads may keep of a vector, and beyond 16 bits.
inline std::vector<Case> long_cases() {
  return {make_case("long columns", 70000, 30, 0.5, "absolute", "none", false, false),
          make_case("long rows", 30, 40000, 0.5, "huber:0.5", "none", true, false),
          make_case("long and empty", 90000, 300, 0.0005, "absolute", "none", false, false)};
}

inline std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](auto... parts) { all.push_back(make_case(parts...)); };
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
/// The same product there.
struct BothProducts {
  NormalProduct cpu;
  NormalProduct cuda;
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
    Both both = blank(side, use, columns);
    const MatrixXd numbers = size * normal_matrix(rows(side), columns, random_);
    cpu_.panels->upload(numbers, both.cpu);
    cuda_.panels->upload(numbers, both.cuda);
    return both;
  }
  static BothProducts normal_product(const Both& in, const Both& out, const Both& product, const Both& factor,
                                     const Both& addend) {
    return {{in.cpu, out.cpu, product.cpu, factor.cpu, addend.cpu},
            {in.cuda, out.cuda, product.cuda, factor.cuda, addend.cuda}};
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

  /// Products that two digits are enough for, with and without their second half, and a move towards an atom.
  void expect_same_rough_products_and_moves() {
    load();
    const Index columns = cpu_.store->facts().search_columns;
    const Both in = panel(Side::right, Use::search, columns);
    const Both factor = panel(Side::left, Use::search, 1);
    const Both addend = panel(Side::left, Use::search, columns);
    for (const bool with_terms : {false, true}) {
      const Both out = blank(Side::right, Use::search, columns);
      const Both product = blank(Side::left, Use::search, columns);
      auto [on_cpu, on_cuda] =
          normal_product(in, out, product, with_terms ? factor : Both(), with_terms ? addend : Both());
      on_cuda.rough = true;
      const EntrySums expected = cpu_.store->linearize(0.3, false, &on_cpu);
      expect_same(cuda_.store->linearize(0.3, false, &on_cuda), expected, kReal, "linearize");
      expect_same(product, kRough, "D M v + addend");
      expect_same(out, kRough, "M' D (D M v + addend)");
      const Both half = blank(Side::left, Use::search, columns);
      for (const bool rough : {false, true}) {
        on_cpu.out = on_cuda.out = Panel();
        on_cpu.product = half.cpu;
        on_cuda.product = half.cuda;
        on_cuda.rough = rough;
        cpu_.store->multiply(Slopes::current, on_cpu);
        cuda_.store->multiply(Slopes::current, on_cuda);
        expect_same(half, rough ? kRough : 2 * kSlope, "D M v + addend alone");
      }
    }
    const Both u = panel(Side::left, Use::exact, 1);
    const Both v = panel(Side::right, Use::exact, 1);
    for (const double t : {0.3, 1.0}) {
      cpu_.store->aim({u.cpu, v.cpu});
      cuda_.store->aim({u.cuda, v.cuda});
      const double change = cpu_.store->move(t);
      EXPECT_LE(cuda_.store->move(t), change * (1 + kSlope));
      linearize(0.3);
      expect_same_slopes(Slopes::current, kSlope);
    }
  }

  static constexpr double kRough = 5e-3;  // numbers of eight bits
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

}  // namespace tracenorm::test
