// One suite for the contract of a loss, run over every loss: nothing here knows a closed form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "support/identifier.hpp"
#include "tracenorm/loss.hpp"

namespace tracenorm {
namespace {

/// A loss seen through plain functions, whatever its type.
struct Seen {
  std::string name;
  bool labels;
  std::function<double(double, double)> value;
  std::function<double(double, double)> subgradient;
  std::function<double(double, double, double)> chord;
  std::function<double(double, double)> conjugate;
  std::function<Interval(double)> slopes;
};

template <class L>
Seen see(const L& loss, const std::string& name) {
  return {name,
          L::wants == losses::Hinge::wants,
          [loss](double x, double y) { return loss.value(x, y); },
          [loss](double x, double y) { return loss.subgradient(x, y); },
          [loss](double x, double w, double y) { return loss.chord(x, w, y); },
          [loss](double s, double y) { return loss.conjugate(s, y); },
          [loss](double y) { return loss.slopes(y); }};
}

Seen see(const Loss& loss, const std::string& name) {
  return std::visit([&](const auto& l) { return see(l, name); }, loss);
}

std::vector<Seen> all_losses() {
  std::vector<Seen> list;
  for (const char* text :
       {"absolute", "squared", "squared:0.5", "huber", "huber:0.25", "quantile:0.5", "quantile:0.9", "quantile:0.1",
        "epsilon-insensitive", "epsilon-insensitive:0.5", "epsilon-insensitive:0", "logistic", "hinge"}) {
    list.push_back(see(parse_loss(text), text));
  }
  const losses::Custom custom{
      [](double x, double y) { return std::abs(x - y) + 0.25 * (x - y) * (x - y); }, "mixed", {}};
  list.push_back(see(Loss(custom), "custom"));
  return list;
}

std::vector<double> data_for(const Seen& loss) {
  return loss.labels ? std::vector<double>{-1, 1} : std::vector<double>{-1.5, 0, 0.75};
}

const std::vector<double> kPoints = {-7.3, -2.0, -1.0, -0.6, -0.1, 0.0, 1e-3, 0.4, 1.0, 1.7, 5.5};
const std::vector<double> kWidths = {1e-3, 0.05, 0.3, 1.0, 2.5, 20.0};

class LossContract : public testing::TestWithParam<Seen> {};

TEST_P(LossContract, ValueIsConvexAndFinite) {
  const Seen& loss = GetParam();
  for (const double y : data_for(loss)) {
    for (const double a : kPoints) {
      for (const double b : kPoints) {
        const double middle = loss.value((a + b) / 2, y);
        EXPECT_TRUE(std::isfinite(middle));
        EXPECT_LE(middle, (loss.value(a, y) + loss.value(b, y)) / 2 + 1e-12) << a << " " << b << " y=" << y;
      }
    }
  }
}

TEST_P(LossContract, SubgradientSupportsTheFunction) {
  const Seen& loss = GetParam();
  const double tolerance = loss.name == "custom" ? 1e-5 : 1e-9;
  for (const double y : data_for(loss)) {
    for (const double x : kPoints) {
      const double g = loss.subgradient(x, y);
      for (const double z : kPoints) {
        EXPECT_GE(loss.value(z, y), loss.value(x, y) + g * (z - x) - tolerance * (1 + std::abs(z - x)))
            << x << " " << z;
      }
    }
  }
}

TEST_P(LossContract, ChordIsTheDifferenceQuotient) {
  const Seen& loss = GetParam();
  for (const double y : data_for(loss)) {
    for (const double x : kPoints) {
      for (const double w : kWidths) {
        const double quotient = (loss.value(x + w, y) - loss.value(x - w, y)) / (2 * w);
        EXPECT_NEAR(loss.chord(x, w, y), quotient, 1e-9 * (1 + std::abs(quotient)) / std::min(1.0, w))
            << x << " w=" << w;
      }
    }
  }
}

// The chord is the slope of the best uniform affine approximation: no other slope has a smaller largest error.
TEST_P(LossContract, ChordSolvesTheMinimaxProblem) {
  const Seen& loss = GetParam();
  for (const double y : data_for(loss)) {
    for (const double x : {-1.2, 0.0, 0.35, 1.1}) {
      for (const double w : {0.2, 0.9, 2.0}) {
        // With the best constant, the largest error of slope s is half the range of f(z) - s z on the interval.
        const auto error = [&](double s) {
          double low = 1e300;
          double high = -1e300;
          for (int i = 0; i <= 400; ++i) {
            const double z = x - w + 2 * w * i / 400;
            const double r = loss.value(z, y) - s * z;
            low = std::min(low, r);
            high = std::max(high, r);
          }
          return (high - low) / 2;
        };
        const double chord = loss.chord(x, w, y);
        const double best = error(chord);
        for (int i = -40; i <= 40; ++i)
          EXPECT_LE(best, error(chord + 0.05 * i) + 1e-9) << x << " w=" << w << " y=" << y;
      }
    }
  }
}

TEST_P(LossContract, ChordTendsToASubgradient) {
  const Seen& loss = GetParam();
  if (loss.name == "custom") return;  // its least width is part of its contract
  for (const double y : data_for(loss)) {
    for (const double x : kPoints) {
      const double limit = loss.chord(x, 0.0, y);
      EXPECT_NEAR(loss.chord(x, 1e-12, y), limit, 1e-6);
      EXPECT_TRUE(std::isfinite(limit));
    }
  }
}

TEST_P(LossContract, ChordsAreAdmissibleSlopesAlsoInFloat) {
  const Seen& loss = GetParam();
  for (const double y : data_for(loss)) {
    const Interval slopes = loss.slopes(y);
    for (const double x : kPoints) {
      for (const double w : kWidths) {
        const double s = loss.chord(x, w, y);
        EXPECT_GE(s, slopes.lower - 1e-9);
        EXPECT_LE(s, slopes.upper + 1e-9);
      }
    }
  }
}

TEST_P(LossContract, ConjugateIsTheSupremum) {
  const Seen& loss = GetParam();
  for (const double y : data_for(loss)) {
    for (const double x : kPoints) {
      for (const double w : kWidths) {
        const double s = loss.chord(x, w, y);
        double supremum = -1e300;
        for (int i = -80000; i <= 80000; ++i) {
          const double z = i / 1000.0;
          supremum = std::max(supremum, s * z - loss.value(z, y));
        }
        // The grid can only miss the supremum from below; it is dense enough to come close (logistic's lies far out).
        EXPECT_GE(loss.conjugate(s, y), supremum - 1e-9 * (1 + std::abs(supremum))) << "s=" << s << " y=" << y;
        EXPECT_NEAR(loss.conjugate(s, y), supremum, 5e-3) << "s=" << s << " y=" << y;
      }
    }
  }
}

TEST_P(LossContract, ConjugateOutsideTheSlopesIsThatOfTheNearestSlope) {
  const Seen& loss = GetParam();
  for (const double y : data_for(loss)) {
    const Interval slopes = loss.slopes(y);
    if (std::isinf(slopes.upper)) continue;
    EXPECT_EQ(loss.conjugate(slopes.upper + 1e-6, y), loss.conjugate(slopes.upper, y));
    EXPECT_EQ(loss.conjugate(slopes.lower - 1e-6, y), loss.conjugate(slopes.lower, y));
  }
}

TEST_P(LossContract, TheLeastValueIsZeroSoTheConjugateAtZeroIs) {
  // Kernels count on it where a datum is missing.
  const Seen& loss = GetParam();
  if (loss.name.find("custom") != std::string::npos) return;
  for (const double y : data_for(loss)) EXPECT_EQ(loss.conjugate(0, y), 0);
}

INSTANTIATE_TEST_SUITE_P(All, LossContract, testing::ValuesIn(all_losses()),
                         [](const auto& tested) { return test::identifier(tested.param.name); });

// The closed forms of the paper's supplement for f = |x|: slope -1, x/tau, 1, and the smoothed x^2/(2 tau) + tau/2.
TEST(Losses, AbsoluteMatchesTheSupplement) {
  const losses::Absolute loss;
  const double tau = 0.8;
  for (const double x : {-3.0, -0.8, -0.3, 0.0, 0.5, 0.8, 2.0}) {
    const double expected = x < -tau ? -1 : (x > tau ? 1 : x / tau);
    EXPECT_NEAR(loss.chord(x, tau, 0.0), expected, 1e-15);
    // Integrating the slope from -10 gives the smoothed function.
    double integral = 10;
    const int steps = 200000;
    for (int i = 0; i < steps; ++i) {
      integral += loss.chord(-10 + (x + 10) * (i + 0.5) / steps, tau, 0.0) * (x + 10) / steps;
    }
    const double smoothed = std::abs(x) < tau ? x * x / (2 * tau) + tau / 2 : std::abs(x);
    EXPECT_NEAR(integral, smoothed, 1e-6);
  }
}

TEST(Losses, QuantileLossIsMinimisedByTheQuantile) {
  const losses::Quantile loss{0.9};
  double best_x = 0;
  double best = 1e300;
  for (int i = 0; i <= 1000; ++i) {
    const double x = i / 1000.0;
    double sum = 0;
    for (int d = 0; d < 100; ++d) sum += loss.value(x, (d + 0.5) / 100);
    if (sum < best) {
      best = sum;
      best_x = x;
    }
  }
  EXPECT_NEAR(best_x, 0.9, 0.011);
}

TEST(Losses, ParseAndPrintAreInverse) {
  for (const char* text :
       {"absolute", "squared:0.5", "huber:0.25", "quantile:0.9", "epsilon-insensitive:0.5", "logistic", "hinge"}) {
    EXPECT_EQ(to_string(parse_loss(text)), text);
  }
}

TEST(Losses, BadTextIsAnsweredWithWhatThereIs) {
  const auto message = [](const char* text) -> std::string {
    try {
      parse_loss(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message("abs").find("absolute, squared"), std::string::npos) << message("abs");
  EXPECT_NE(message("huber:x").find("'x' is not a number"), std::string::npos) << message("huber:x");
  EXPECT_NE(message("quantile:2").find("level = 2; it must be"), std::string::npos) << message("quantile:2");
  EXPECT_NE(message("hinge:1").find("takes no parameter"), std::string::npos) << message("hinge:1");
}

}  // namespace
}  // namespace tracenorm
