// Every bound must lie on its side of the exact result, which is computed in 113 bits.
#include "verify/rounding.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.hpp"

namespace tracenorm::rigorous {
namespace {

__extension__ typedef __float128 Exact;  // 113 bits: sums and products of two doubles of similar size are exact

/// Of every size and sign, and now and then a power of two.
double draw(Random& random) {
  const double size = std::ldexp(0.5 + random.uniform() / 2, static_cast<int>(random.below(60)) - 30);
  const double even = random.uniform() < 0.2 ? std::ldexp(1.0, static_cast<int>(random.below(60)) - 30) : size;
  return random.uniform() < 0.5 ? -even : even;
}

void expect_inside(const Range& range, Exact exact) {
  EXPECT_TRUE(static_cast<Exact>(range.lower) <= exact);
  EXPECT_TRUE(static_cast<Exact>(range.upper) >= exact);
}

TEST(Rounding, AboveIsAtLeastTheNextNumber) {
  Random random(1);
  for (int k = 0; k < 100000; ++k) {
    const double v = draw(random);
    EXPECT_GE(above(v), std::nextafter(v, kInfinite));
    EXPECT_LE(below(v), std::nextafter(v, -kInfinite));
    EXPECT_LE(above(v) - v, std::abs(v) * 0x1p-50);  // and not far above it
  }
  EXPECT_EQ(above(0.0), 0.0);  // sums that are zero are exact
  const double tiny = 1e-200;
  EXPECT_GT(product_above(tiny, tiny), 0.0);  // products need not be
  EXPECT_GE(product_above(-tiny, tiny), 0.0);
  EXPECT_LT(product_below(-tiny, tiny), 0.0);
  EXPECT_EQ(product_above(tiny, 0.0), 0.0);
  EXPECT_GT((Range(tiny) / 1e200).upper, 0.0);
  EXPECT_TRUE(std::isnan(above(std::nan(""))));
}

TEST(Rounding, RangesHoldTheExactResults) {
  Random random(2);
  for (int k = 0; k < 100000; ++k) {
    const double a = draw(random);
    const double b = draw(random);
    expect_inside(Range(a) + b, static_cast<Exact>(a) + static_cast<Exact>(b));
    expect_inside(Range(a) - b, static_cast<Exact>(a) - static_cast<Exact>(b));
    expect_inside(Range(a) * b, static_cast<Exact>(a) * static_cast<Exact>(b));
    // The exact quotient is on the right side of a bound when the bound times the divisor is on that side of a.
    const Range quotient = Range(a) / std::abs(b);
    EXPECT_TRUE(static_cast<Exact>(quotient.lower) * std::abs(b) <= static_cast<Exact>(a));
    EXPECT_TRUE(static_cast<Exact>(quotient.upper) * std::abs(b) >= static_cast<Exact>(a));
    const Range wide{std::min(a, b), std::max(a, b)};
    const double inner = wide.lower + random.uniform() * (wide.upper - wide.lower);
    const double c = draw(random);
    expect_inside(wide * c, static_cast<Exact>(inner) * static_cast<Exact>(c));
    expect_inside(wide * wide, static_cast<Exact>(inner) * static_cast<Exact>(inner));
    expect_inside(absolute(wide), inner < 0 ? -static_cast<Exact>(inner) : static_cast<Exact>(inner));
    const double p = std::abs(a);
    const long double exact_log = std::log(static_cast<long double>(p));
    EXPECT_LE(static_cast<long double>(logarithm(p).lower), exact_log);
    EXPECT_GE(static_cast<long double>(logarithm(p).upper), exact_log);
  }
}

TEST(Rounding, InnerSumsAndProductsAreTheNearestOnTheirSide) {
  Random random(3);
  int exact = 0;
  for (int k = 0; k < 100000; ++k) {
    const double a = draw(random);
    const double b = draw(random);
    const Exact sum = static_cast<Exact>(a) + static_cast<Exact>(b);
    const Exact product = static_cast<Exact>(a) * static_cast<Exact>(b);
    EXPECT_TRUE(static_cast<Exact>(tight_sum_below(a, b)) <= sum);
    EXPECT_TRUE(static_cast<Exact>(std::nextafter(tight_sum_below(a, b), kInfinite)) > sum);
    EXPECT_TRUE(static_cast<Exact>(tight_sum_above(a, b)) >= sum);
    EXPECT_TRUE(static_cast<Exact>(tight_product_below(a, b)) <= product);
    EXPECT_TRUE(static_cast<Exact>(std::nextafter(tight_product_below(a, b), kInfinite)) > product);
    exact += tight_product_below(a, b) == a * b && tight_product_below(-a, b) == -a * b ? 1 : 0;
  }
  EXPECT_GT(exact, 1000);  // products with powers of two are not moved
}

TEST(Rounding, SumsOfManyNumbersStayAboveAndClose) {
  Random random(4);
  for (const double shift : {0.0, 1.0, 1e8}) {
    SumAbove sum;
    SumAbove in_parts;
    SumAbove part;
    Exact exact = 0;
    double size = 0;
    for (int k = 0; k < 200000; ++k) {
      const double term = random.normal() + shift;
      sum.add(term);
      part.add(term);
      if (k % 1000 == 999) {
        in_parts.add(part);
        part = {};
      }
      exact += static_cast<Exact>(term);
      size += std::abs(term);
    }
    for (const double bound : {sum.value(), in_parts.value()}) {
      EXPECT_TRUE(static_cast<Exact>(bound) >= exact);
      EXPECT_LE(static_cast<double>(static_cast<Exact>(bound) - exact), 1e-15 * size);
    }
  }
  SumAbove spoilt;
  spoilt.add(std::nan(""));
  spoilt.add(1.0);
  EXPECT_TRUE(std::isnan(spoilt.value()));
}

TEST(Rounding, GammaCoversAProductOfRoundings) {
  for (const double k : {1.0, 10.0, 1e4, 1e8}) {
    const Exact product = static_cast<Exact>(k) * static_cast<Exact>(kUnit);
    EXPECT_TRUE(static_cast<Exact>(gamma(k)) >= product / (1 - product));
    EXPECT_LE(gamma(k), k * kUnit * (1 + 1e-6));
  }
}

}  // namespace
}  // namespace tracenorm::rigorous
