#include "model/entry_bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.hpp"

namespace tracenorm {
namespace {

using kernels::Mode;

struct Some {
  std::vector<Real> y;
  std::vector<Real> w;
  std::vector<Real> slope;
  std::vector<double> x;
  std::vector<double> error;
};

Some draw(Random& random, const Loss& loss, bool holes) {
  Some some;
  for (int i = 0; i < 40; ++i) {
    Real y = wants_labels(loss) ? Real(random.uniform() < 0.5 ? -1 : 1) : Real(100 * random.normal());
    if (holes && random.uniform() < 0.3) y = std::numeric_limits<Real>::quiet_NaN();
    some.y.push_back(y);
    some.w.push_back(Real(0.1 + random.uniform()));
    some.slope.push_back(Real(3 * random.normal()));  // often outside of what the function has
    some.x.push_back(100 * random.normal());
    some.error.push_back(1e-9 * random.uniform());
  }
  return some;
}

/// The function of entry i at x, by its definition.
long double value(const Loss& loss, Mode mode, double lambda, const Some& some, std::size_t i, double x) {
  const bool hole = std::isnan(some.y[i]);
  long double sum = mode == Mode::masked_l1 ? lambda * std::abs(x) : 0.0;
  if (hole) return sum + (mode == Mode::masked_complement ? lambda * x * x : 0.0);
  return sum + std::visit([&](const auto& l) { return some.w[i] * double(l.value(x, double(some.y[i]))); }, loss);
}

const std::vector<Loss> kLosses{
    losses::Absolute{}, losses::Squared{0.5},
    losses::Huber{2},   losses::Quantile{0.9999},
    losses::Hinge{},    losses::EpsilonInsensitive{1.5},
    losses::Logistic{}, losses::Custom{[](double x, double y) { return std::abs(x - y); }, "by values", {}}};

TEST(EntryBounds, ConjugatesAreNotBelowAnyLine) {
  // f*(s) >= s x - f(x) for every x: a conjugate that is too small is found by some x, and the best ones are at kinks.
  Random random(1);
  for (const Loss& loss : kLosses) {
    for (const Mode mode : {Mode::observed, Mode::masked, Mode::masked_l1, Mode::masked_complement}) {
      Some some = draw(random, loss, mode != Mode::observed);
      const double lambda = 0.25;
      const EntryBounds bounds(loss, mode, lambda);
      const EntrySums sums = bounds.conjugates({some.y.data(), some.w.data(), 40}, some.slope.data());
      if (std::isinf(sums.conjugate)) continue;  // of a loss by its values, which does not know where its slopes end
      long double lines = 0;
      for (std::size_t i = 0; i < 40; ++i) {
        const double y = double(some.y[i]);
        long double best = -std::numeric_limits<double>::infinity();
        for (const double x :
             {0.0, y, y - 1.5, y + 1.5, 1 / y, y + double(some.slope[i]), y - 2, y + 2, -1e4, 1e4, some.x[i]}) {
          if (std::isnan(x)) continue;
          best = std::max(best, static_cast<long double>(some.slope[i]) * x - value(loss, mode, lambda, some, i, x));
        }
        lines += best;
      }
      EXPECT_GE(sums.conjugate + sums.rounding, lines) << to_string(loss) << " mode " << int(mode);
      EXPECT_LE(sums.rounding, 1e-10 * (1 + std::abs(sums.conjugate)));
    }
  }
}

TEST(EntryBounds, SlopesAreMovedToTheNearestOnesThatAreThere) {
  const std::vector<Real> y{5, 5, 5, std::numeric_limits<Real>::quiet_NaN()};
  std::vector<Real> slope{Real(1.5), Real(-0.25), Real(-7), Real(3)};
  const EntryBounds bounds(kLosses[0], Mode::masked, 0);
  EXPECT_EQ(bounds.conjugates({y.data(), nullptr, 4}, slope.data()).conjugate, 5 - 1.25 - 5);
  EXPECT_EQ(slope, (std::vector<Real>{1, Real(-0.25), -1, 0}));
}

TEST(EntryBounds, ValuesAreNotBelowTheTruthWithinTheError) {
  Random random(2);
  for (const Loss& loss : kLosses) {
    for (const Mode mode : {Mode::observed, Mode::masked_l1, Mode::masked_complement}) {
      const Some some = draw(random, loss, mode != Mode::observed);
      const EntrySums sums =
          EntryBounds(loss, mode, 0.25).values({some.y.data(), some.w.data(), 40}, some.x.data(), some.error.data());
      for (const double side : {-1.0, 0.0, 1.0}) {
        long double truth = 0;
        for (std::size_t i = 0; i < 40; ++i)
          truth += value(loss, mode, 0.25, some, i, some.x[i] + side * some.error[i]);
        EXPECT_GE(sums.objective + sums.rounding, truth) << to_string(loss);
        EXPECT_LE(sums.objective + sums.rounding, truth * (1 + 1e-6L) + 1e-6L) << to_string(loss);
      }
    }
  }
}

TEST(EntryBounds, WhatIsNotANumberStaysNone) {
  const std::vector<Real> y{1};
  const std::vector<double> x{std::numeric_limits<double>::quiet_NaN()};
  const std::vector<double> error{0};
  for (const Loss& loss : kLosses) {
    EXPECT_TRUE(std::isnan(
        EntryBounds(loss, Mode::observed, 0).values({y.data(), nullptr, 1}, x.data(), error.data()).objective))
        << to_string(loss);
  }
}

}  // namespace
}  // namespace tracenorm
