// Every instruction set's kernels against the reference, on awkward sizes, missing entries, empty rows and weights.
#include "kernels/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/random.hpp"

namespace tracenorm::kernels {
namespace {

class EverySet : public testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override { ASSERT_TRUE(available(GetParam())); }
  Random random{7};

  std::vector<double> vector(Index n) {
    std::vector<double> v(static_cast<std::size_t>(n));
    for (double& x : v) x = random.normal();
    return v;
  }
  std::vector<Real> reals(Offset n) {
    std::vector<Real> v(static_cast<std::size_t>(n));
    for (Real& x : v) x = Real(random.normal());
    return v;
  }
};

template <class Number>
void expect_close(const std::vector<Number>& a, const std::vector<Number>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << i;
}

std::vector<Real> to_real(const std::vector<double>& v) { return {v.begin(), v.end()}; }

/// Row factors and addends, given or not.
template <class Work>
std::vector<std::pair<const Work*, const Work*>> row_terms(const std::vector<Work>& factor,
                                                           const std::vector<Work>& addend) {
  return {{nullptr, nullptr}, {nullptr, addend.data()}, {factor.data(), nullptr}, {factor.data(), addend.data()}};
}

/// The fused product by a product, the row terms, and a transposed product.
template <class Rows, class Product>
void normal_by_halves(const Rows& m, Product* apply, Product* apply_transpose, const std::vector<double>& v,
                      const RowTerms<double>& terms, std::vector<double>& out) {
  apply(m, v.data(), terms.product);
  std::vector<double> back(std::size_t(m.last));
  for (Index i = m.first; i < m.last; ++i) {
    const double factor = terms.factor ? terms.factor[i] : 1;
    terms.product[i] = factor * terms.product[i] + (terms.addend ? terms.addend[i] : 0);
    back[std::size_t(i)] = factor * terms.product[i];
  }
  apply_transpose(m, back.data(), out.data());
}

TEST_P(EverySet, SparseProductsAgreeWithTheReference) {
  const LinearKernels& fast = linear_kernels(GetParam());
  const LinearKernels& plain = linear_kernels(InstructionSet::reference);
  for (const Index cols : {1, 5, 33, 200}) {
    const Index rows = 23;
    std::vector<Offset> begin{0};
    std::vector<Index> col;
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < cols; ++j) {
        if (i % 5 != 2 && random.uniform() < 0.4) col.push_back(j);  // every fifth row is empty
      }
      begin.push_back(Offset(col.size()));
    }
    const std::vector<Real> value = reals(Offset(col.size()));
    const RowsOf<Index> m{begin.data(), col.data(), value.data(), 2, 21};
    const std::vector<ShortIndex> short_col(col.begin(), col.end());
    const RowsOf<ShortIndex> short_m{begin.data(), short_col.data(), value.data(), 2, 21};
    const auto v = vector(cols);
    const auto u = vector(rows);
    const auto addend = vector(rows);
    std::vector<double> p1(23, 0.5);
    std::vector<double> p2(23, 0.5);
    fast.wide.apply(m, v.data(), p1.data());
    plain.wide.apply(m, v.data(), p2.data());
    expect_close(p1, p2, 1e-13);
    std::vector<double> o1(std::size_t(cols), 1.0);
    std::vector<double> o2(std::size_t(cols), 1.0);
    fast.wide.apply_transpose(m, u.data(), o1.data());
    plain.wide.apply_transpose(m, u.data(), o2.data());
    expect_close(o1, o2, 1e-13);
    const auto factor = vector(rows);
    for (const auto& [d, s] : row_terms(factor, addend)) {
      fast.wide.normal(m, v.data(), {d, s, p1.data()}, o1.data());
      normal_by_halves(m, plain.wide.apply, plain.wide.apply_transpose, v, {d, s, p2.data()}, o2);
      expect_close(p1, p2, 1e-13);
      expect_close(o1, o2, 1e-12);
    }
    const auto real_v = to_real(v);
    const auto real_addend = to_real(addend);
    const auto real_factor = to_real(factor);
    for (const auto& [d, s] : row_terms(real_factor, real_addend)) {
      std::vector<Real> q1(23, Real(0.5)), q2 = q1, q3 = q1;
      std::vector<Real> r1(std::size_t(cols), Real(1)), r2 = r1, r3 = r1;
      fast.wide.normal_fast(m, real_v.data(), {d, s, q1.data()}, r1.data());
      plain.wide.normal_fast(m, real_v.data(), {d, s, q2.data()}, r2.data());
      fast.narrow.normal_fast(short_m, real_v.data(), {d, s, q3.data()}, r3.data());
      expect_close(q1, q2, 1e-5);
      expect_close(r1, r2, 1e-4);
      EXPECT_EQ(q1, q3);
      EXPECT_EQ(r1, r3);
    }
    const auto block_v = reals(cols * kBlockColumns);
    const auto block_addend = reals(rows * kBlockColumns);
    for (const auto& [d, s] : row_terms(real_factor, block_addend)) {
      std::vector<Real> q1(std::size_t(rows * kBlockColumns), Real(0.5)), q3 = q1;
      std::vector<Real> r1(std::size_t(cols * kBlockColumns), Real(1)), r3 = r1;
      fast.wide.normal_block(m, block_v.data(), {d, s, q1.data()}, r1.data());
      fast.narrow.normal_block(short_m, block_v.data(), {d, s, q3.data()}, r3.data());
      EXPECT_EQ(q1, q3);
      EXPECT_EQ(r1, r3);
      for (Index k = 0; k < kBlockColumns; ++k) {  // one vector of the block after the other
        const auto column = [&](const std::vector<Real>& block) {
          std::vector<Real> out;
          for (std::size_t i = std::size_t(k); i < block.size(); i += kBlockColumns) out.push_back(block[i]);
          return out;
        };
        std::vector<Real> q2(std::size_t(rows), Real(0.5));
        std::vector<Real> r2(std::size_t(cols), Real(1));
        const std::vector<Real> addend_k = column(block_addend);
        plain.wide.normal_fast(m, column(block_v).data(), {d, s ? addend_k.data() : nullptr, q2.data()}, r2.data());
        expect_close(column(q1), q2, 1e-5);
        expect_close(column(r1), r2, 1e-4);
      }
    }
    {
      std::vector<Real> q1(std::size_t(rows), Real(0.5)), q2 = q1, q3 = q1;
      std::vector<Real> r1(std::size_t(cols), Real(1)), r2 = r1, r3 = r1;
      const std::vector<Real> real_u = to_real(u);
      fast.wide.apply_both_fast(m, real_u.data(), real_v.data(), q1.data(), r1.data());
      plain.wide.apply_both_fast(m, real_u.data(), real_v.data(), q2.data(), r2.data());
      fast.narrow.apply_both_fast(short_m, real_u.data(), real_v.data(), q3.data(), r3.data());
      expect_close(q1, q2, 1e-5);
      expect_close(r1, r2, 1e-5);
      EXPECT_EQ(q1, q3);
      EXPECT_EQ(r1, r3);
      std::vector<double> s1(std::size_t(rows), 0.5), s2 = s1;
      fast.wide.apply_both(m, u.data(), v.data(), s1.data(), o1.data());
      plain.wide.apply_both(m, u.data(), v.data(), s2.data(), o2.data());
      expect_close(s1, s2, 1e-13);
    }
    for (const Index width : {1, 7, 16}) {
      const auto block = vector(cols * width);
      std::vector<double> b1(std::size_t(rows * width), 0.5);
      std::vector<double> b2 = b1;
      fast.wide.apply_block(m, block.data(), width, b1.data());
      plain.wide.apply_block(m, block.data(), width, b2.data());
      expect_close(b1, b2, 1e-13);
    }
    std::vector<Real> x1 = reals(Offset(col.size()));
    std::vector<Real> x2 = x1;
    std::vector<Real> x3 = x1;
    const double change = plain.wide.move(m, x2.data(), u.data(), real_v.data(), 0.3);
    EXPECT_NEAR(fast.wide.move(m, x1.data(), u.data(), real_v.data(), 0.3), change, 1e-5);
    EXPECT_NEAR(fast.narrow.move(short_m, x3.data(), u.data(), real_v.data(), 0.3), change, 1e-5);
    expect_close(x1, x2, 1e-5);
    EXPECT_EQ(x1, x3);
  }
}

TEST_P(EverySet, DenseProductsAgreeWithTheReference) {
  const LinearKernels& fast = linear_kernels(GetParam());
  const LinearKernels& plain = linear_kernels(InstructionSet::reference);
  for (const Index cols : {1, 3, 16, 37, 130}) {
    const Index rows = 11;
    const std::vector<Real> value = reals(Offset(rows) * cols);
    const DenseRows m{value.data(), cols, 1, 10};
    const auto v = vector(cols);
    const auto u = vector(rows);
    const auto addend = vector(rows);
    std::vector<double> p1(11, 0.5);
    std::vector<double> p2(11, 0.5);
    fast.dense_apply(m, v.data(), p1.data());
    plain.dense_apply(m, v.data(), p2.data());
    expect_close(p1, p2, 1e-13);
    std::vector<double> o1(std::size_t(cols), 1.0);
    std::vector<double> o2(std::size_t(cols), 1.0);
    fast.dense_apply_transpose(m, u.data(), o1.data());
    plain.dense_apply_transpose(m, u.data(), o2.data());
    expect_close(o1, o2, 1e-13);
    const auto factor = vector(rows);
    for (const auto& [d, s] : row_terms(factor, addend)) {
      fast.dense_normal(m, v.data(), {d, s, p1.data()}, o1.data());
      normal_by_halves(m, plain.dense_apply, plain.dense_apply_transpose, v, {d, s, p2.data()}, o2);
      expect_close(p1, p2, 1e-13);
      expect_close(o1, o2, 1e-12);
    }
    const auto real_v = to_real(v);
    const auto real_addend = to_real(addend);
    const auto real_factor = to_real(factor);
    for (const auto& [d, s] : row_terms(real_factor, real_addend)) {
      std::vector<Real> q1(11, Real(0.5)), q2 = q1;
      std::vector<Real> r1(std::size_t(cols), Real(1)), r2 = r1;
      fast.dense_normal_fast(m, real_v.data(), {d, s, q1.data()}, r1.data());
      plain.dense_normal_fast(m, real_v.data(), {d, s, q2.data()}, r2.data());
      expect_close(q1, q2, 1e-5);
      expect_close(r1, r2, 1e-4);
    }
    const std::vector<Real> real_u = to_real(u);
    for (const bool sums_alone : {false, true}) {
      std::vector<double> s1(std::size_t(rows), 0.5), s2 = s1;
      fast.dense_apply_both(m, u.data(), v.data(), s1.data(), sums_alone ? nullptr : o1.data());
      plain.dense_apply_both(m, u.data(), v.data(), s2.data(), sums_alone ? nullptr : o2.data());
      expect_close(s1, s2, 1e-13);
      expect_close(o1, o2, 1e-12);
      std::vector<Real> q1(std::size_t(rows), Real(0.5)), q2 = q1;
      std::vector<Real> r1(std::size_t(cols), Real(1)), r2 = r1;
      fast.dense_apply_both_fast(m, real_u.data(), real_v.data(), q1.data(), sums_alone ? nullptr : r1.data());
      plain.dense_apply_both_fast(m, real_u.data(), real_v.data(), q2.data(), sums_alone ? nullptr : r2.data());
      expect_close(q1, q2, 1e-5);
      expect_close(r1, r2, 1e-5);
    }
    for (const Index width : {1, 7, 16}) {
      const auto block = vector(cols * width);
      std::vector<double> b1(std::size_t(rows * width), 0.5);
      std::vector<double> b2 = b1;
      fast.dense_apply_block(m, block.data(), width, b1.data());
      plain.dense_apply_block(m, block.data(), width, b2.data());
      expect_close(b1, b2, 1e-13);
    }
    std::vector<Real> mask = reals(Offset(rows) * cols);
    for (std::size_t e = 0; e < mask.size(); e += 3) mask[e] = std::numeric_limits<Real>::quiet_NaN();
    for (const Real* use : {static_cast<const Real*>(nullptr), static_cast<const Real*>(mask.data())}) {
      std::vector<Real> x1 = reals(Offset(rows) * cols);
      std::vector<Real> x2 = x1;
      EXPECT_NEAR(fast.dense_move(m, x1.data(), use, u.data(), real_v.data(), 0.3),
                  plain.dense_move(m, x2.data(), use, u.data(), real_v.data(), 0.3), 1e-5);
      for (std::size_t e = 0; e < x1.size(); ++e) EXPECT_NEAR(double(x1[e]), double(x2[e]), 1e-5);
    }
    std::vector<Real> a1 = reals(77);
    std::vector<Real> a2 = a1;
    const std::vector<Real> b = reals(77);
    fast.blend(a1.data(), b.data(), 77, 0.25);
    plain.blend(a2.data(), b.data(), 77, 0.25);
    const std::vector<std::int8_t> code = {0, 1, CodedData::kMissing, 127, 5, 0, CodedData::kMissing, 2, 3};
    const CodedData coded{code.data(), Real(-1.5), Real(0.25)};
    std::vector<Real> y1(code.size());
    std::vector<Real> y2(code.size());
    fast.decode(coded, 9, y1.data());
    plain.decode(coded, 9, y2.data());
    for (std::size_t e = 0; e < code.size(); ++e) {
      EXPECT_TRUE(y1[e] == y2[e] || (std::isnan(y1[e]) && std::isnan(y2[e]))) << e;
      EXPECT_EQ(std::isnan(y1[e]), code[e] == CodedData::kMissing);
    }
    EXPECT_EQ(y1[3], Real(30.25));
    for (std::size_t e = 0; e < a1.size(); ++e) EXPECT_NEAR(double(a1[e]), double(a2[e]), 1e-6);
  }
}

/// Weights of missing entries are those that nobody looks at.
constexpr Real kUnusedWeights[] = {Real(1.5), Real(0), std::numeric_limits<Real>::quiet_NaN(),
                                   std::numeric_limits<Real>::infinity()};

/// The same sums, up to the rounding of shipped kernels that sum in Real.
void expect_close(const EntrySums& a, const EntrySums& b) {
  EXPECT_NEAR(a.objective, b.objective, 1e-4 * (1 + std::abs(b.objective)));
  EXPECT_NEAR(a.inner, b.inner, 2e-3);
  EXPECT_NEAR(a.conjugate, b.conjugate, 2e-3 * (1 + std::abs(b.conjugate)));
  EXPECT_NEAR(a.square_slope, b.square_slope, 1e-4 * (1 + b.square_slope));
  EXPECT_NEAR(a.square_x, b.square_x, 1e-4 * (1 + b.square_x));
}

/// Derivatives of the smoothed objective on a segment, with slopes taken beside x: against the reference, and at t = 0
/// against the slopes that linearize makes.
template <class L>
void compare_smoothed(const LossKernels<L>& fast, const LossKernels<L>& plain, const L& loss, EntryRange r,
                      const std::vector<Real>& target) {
  constexpr double width = 0.4;
  const auto count = static_cast<std::size_t>(r.count);
  std::vector<Real> loss_x(count), penalty_x(count);
  for (std::size_t i = 0; i < count; ++i) {
    loss_x[i] = r.x[i] + Real(0.2 * std::sin(double(i)));
    penalty_x[i] = r.x[i] - Real(0.3 * std::cos(double(i)));
  }
  r.loss_x = loss_x.data();
  r.penalty_x = penalty_x.data();
  double t[kSegmentPoints];
  for (int p = 0; p < kSegmentPoints; ++p) t[p] = p / 7.0;
  SegmentSums a;
  SegmentSums b;
  fast.smoothed_segment(loss, r, target.data(), t, width, a);
  plain.smoothed_segment(loss, r, target.data(), t, width, b);
  for (int p = 0; p < kSegmentPoints; ++p) {
    EXPECT_NEAR(a.derivative[p], b.derivative[p], 1e-3 * (1 + std::abs(b.derivative[p])));
    EXPECT_NEAR(a.square[p], b.square[p], 1e-4 * (1 + b.square[p]));
    EXPECT_NEAR(a.square_derivative[p], b.square_derivative[p], 1e-3 * (1 + std::abs(b.square_derivative[p])));
    if (p > 0) {
      EXPECT_GE(a.derivative[p], a.derivative[p - 1] - 1e-2) << "a convex function's derivative grows";
    }
  }
  const EntrySums sums = fast.linearize(loss, r, width);
  std::vector<Real> slope(count);
  EntryRange same = r;
  same.slope = slope.data();
  expect_close(sums, plain.linearize(loss, same, width));
  for (std::size_t i = 0; i < count; ++i) ASSERT_NEAR(double(r.slope[i]), double(slope[i]), 2e-5) << L::name << i;
  double derivative = 0;
  for (std::size_t i = 0; i < count; ++i) derivative += double(r.slope[i]) * (double(target[i]) - double(r.x[i]));
  // Stored slopes lack the part of a complement penalty that lives in factors; it is in neither derivative.
  derivative += sums.square_x > 0 ? a.square_derivative[0] * 0.125 : 0.0;
  EXPECT_NEAR(a.derivative[0], derivative, 2e-3 * (1 + std::abs(derivative)));
}

/// Data in one byte, where a table takes them.
template <class L>
void compare_coded(const LossKernels<L>& fast, const LossKernels<L>& plain, const L& loss, EntryRange r,
                   Random& random) {
  ASSERT_EQ(fast.linearize_coded == nullptr, plain.linearize_coded == nullptr);
  if (fast.linearize_coded == nullptr) return;
  const auto count = static_cast<std::size_t>(r.count);
  const bool labels = L::wants == losses::Hinge::wants;
  std::vector<std::int8_t> code(count);
  for (std::int8_t& c : code) {
    const int value = labels ? (random.uniform() < 0.5 ? -1 : 1) : static_cast<int>(11 * random.uniform()) - 5;
    c = random.uniform() < 0.3 ? CodedData::kMissing : static_cast<std::int8_t>(value);
  }
  r.coded = labels ? CodedData{code.data(), 0, 1} : CodedData{code.data(), Real(0.5), Real(0.25)};
  r.y = r.w = nullptr;
  std::vector<Real> s1(count), s2(count);
  r.slope = s1.data();
  const EntrySums a = fast.linearize_coded(loss, r, 0.4);
  r.slope = s2.data();
  expect_close(a, plain.linearize_coded(loss, r, 0.4));
  for (std::size_t i = 0; i < count; ++i) ASSERT_NEAR(double(s1[i]), double(s2[i]), 2e-5) << L::name << " entry " << i;
}

template <class L>
void compare_losses(InstructionSet set, const L& loss, Random& random) {
  constexpr Offset count = 1037;  // more than one block of the segment kernel, and no multiple of any vector
  for (int m = 0; m < kModes; ++m) {
    const Mode mode = static_cast<Mode>(m);
    const bool holes = mode != Mode::observed && mode != Mode::observed_complement;
    for (const bool weighted : {false, true}) {
      const LossKernels<L>& fast = loss_kernels<L>(set, mode, weighted);
      const LossKernels<L>& plain = loss_kernels<L>(InstructionSet::reference, mode, weighted);
      std::vector<Real> y(count), w(count), x(count), target(count), s2(count);
      std::vector<Real> s1(count + 1, Real(7));  // and one that is not theirs
      for (std::size_t i = 0; i < count; ++i) {
        y[i] = L::wants == losses::Hinge::wants ? (random.uniform() < 0.5 ? Real(-1) : Real(1)) : Real(random.normal());
        w[i] = Real(0.25 + random.uniform());
        if (holes && random.uniform() < 0.3) {
          y[i] = std::numeric_limits<Real>::quiet_NaN();
          w[i] = kUnusedWeights[i % std::size(kUnusedWeights)];
        }
        x[i] = Real(random.normal());
        target[i] = Real(3 * random.normal());
      }
      const EntryRange r1{y.data(), w.data(), x.data(), s1.data(), count, 0.125};
      const EntryRange r2{y.data(), w.data(), x.data(), s2.data(), count, 0.125};
      for (const double width : {0.0, 0.1, 3.0}) {
        const EntrySums a = fast.linearize_conjugate(loss, r1, width);
        const EntrySums b = plain.linearize_conjugate(loss, r2, width);
        expect_close(a, b);
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_NEAR(double(s1[i]), double(s2[i]), 2e-5)
              << L::name << " mode " << m << " width " << width << " entry " << i;
        }
        const EntrySums c = fast.linearize(loss, r1, width);
        EXPECT_EQ(c.conjugate, 0.0);
        EXPECT_NEAR(c.objective, b.objective, 1e-4 * (1 + std::abs(b.objective)));
      }
      EXPECT_EQ(s1[count], Real(7));
      EXPECT_NEAR(fast.objective(loss, r1), plain.objective(loss, r2),
                  1e-4 * (1 + std::abs(plain.objective(loss, r2))));
      double t[kSegmentPoints];
      for (int p = 0; p < kSegmentPoints; ++p) t[p] = p / 7.0;
      SegmentSums a;
      SegmentSums b;
      fast.segment(loss, r1, target.data(), t, a);
      plain.segment(loss, r2, target.data(), t, b);
      compare_smoothed(fast, plain, loss, r1, target);
      compare_coded(fast, plain, loss, r1, random);
      for (int p = 0; p < kSegmentPoints; ++p) {
        EXPECT_NEAR(a.value[p], b.value[p], 1e-4 * (1 + std::abs(b.value[p])));
        EXPECT_NEAR(a.derivative[p], b.derivative[p], 1e-3 * (1 + std::abs(b.derivative[p])));
        EXPECT_NEAR(a.square[p], b.square[p], 1e-4 * (1 + b.square[p]));
        EXPECT_NEAR(a.square_derivative[p], b.square_derivative[p], 1e-4 * (1 + std::abs(b.square_derivative[p])));
      }
    }
  }
}

TEST_P(EverySet, FactorKernelsAgreeWithTheReference) {
  const LinearKernels& fast = linear_kernels(GetParam());
  const LinearKernels& plain = linear_kernels(InstructionSet::reference);
  constexpr Index cols = 9;
  const std::vector<Index> col{8, 0, 3, 5, 1};
  for (const Index width : {16, 32, 48, 64, 112, 208}) {
    const auto reals = [&](Index count) {
      std::vector<Real> v(std::size_t(count * width));
      for (Real& value : v) value = Real(random.normal());
      return v;
    };
    const std::vector<Real> u = reals(1);
    const std::vector<Real> right = reals(cols);
    std::vector<Real> x1(col.size()), x2(col.size());
    fast.wide.factor_dots(col.data(), Offset(col.size()), u.data(), right.data(), width, x1.data());
    plain.wide.factor_dots(col.data(), Offset(col.size()), u.data(), right.data(), width, x2.data());
    for (std::size_t e = 0; e < col.size(); ++e) EXPECT_NEAR(double(x1[e]), double(x2[e]), 1e-4);
    std::vector<Real> left1 = reals(1), out1 = reals(cols);
    std::vector<Real> left2 = left1, out2 = out1;
    fast.wide.factor_products(col.data(), x1.data(), Offset(col.size()), u.data(), right.data(), width, left1.data(),
                              out1.data());
    plain.wide.factor_products(col.data(), x1.data(), Offset(col.size()), u.data(), right.data(), width, left2.data(),
                               out2.data());
    for (std::size_t k = 0; k < left1.size(); ++k) EXPECT_NEAR(double(left1[k]), double(left2[k]), 1e-3);
    for (std::size_t k = 0; k < out1.size(); ++k) EXPECT_NEAR(double(out1[k]), double(out2[k]), 1e-3);
  }
}

TEST_P(EverySet, LossKernelsAgreeWithTheReference) {
#define TRACENORM_COMPARE(L) compare_losses(GetParam(), losses::L{}, random);
  TRACENORM_FOR_EACH_LOSS(TRACENORM_COMPARE)
#undef TRACENORM_COMPARE
}

std::vector<InstructionSet> sets_here() {
  std::vector<InstructionSet> sets;
  for (const InstructionSet set : {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512}) {
    if (available(set)) sets.push_back(set);
  }
  return sets;
}

INSTANTIATE_TEST_SUITE_P(Here, EverySet, testing::ValuesIn(sets_here()),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

}  // namespace
}  // namespace tracenorm::kernels
