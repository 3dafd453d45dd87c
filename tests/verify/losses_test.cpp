// The verifier's formulas against the definition of the conjugate, sup over x of (g x - weight * loss(x, y)), and
// against the solver's.
#include "verify/losses.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace tracenorm::rigorous {
namespace {

struct Example {
  Loss loss;
  bool labels;
};

std::vector<Example> examples() {
  return {{losses::Absolute{}, false},
          {losses::Squared{0.7}, false},
          {losses::Huber{0.4}, false},
          {losses::Quantile{0.9}, false},
          {losses::EpsilonInsensitive{0.3}, false},
          {losses::Hinge{}, true},
          {losses::Logistic{}, true}};
}

template <class Work>
void with_solver_loss(const Loss& loss, const Work& work) {
  std::visit(
      [&]<class L>(const L& chosen) {
        if constexpr (!std::is_same_v<L, losses::Custom>) work(chosen);
      },
      loss);
}

TEST(VerifierLosses, AgreeWithTheSolversUpToRounding) {
  Random random(5);
  for (const auto& example : examples()) {
    const Loss& loss = example.loss;
    const bool labels = example.labels;
    SCOPED_TRACE(to_string(loss));
    with_solver_loss(loss, [&](const auto& theirs) {
      with_loss(loss, [&](const auto& ours) {
        for (int k = 0; k < 20000; ++k) {
          const double y = labels ? (random.uniform() < 0.5 ? -1 : 1) : 3 * random.normal();
          const double x = 4 * random.normal();
          const double weight = 0.1 + 3 * random.uniform();
          const double value = theirs.value(x, y);
          EXPECT_GE(ours.value(x, y), value * (1 - 1e-15));
          EXPECT_LE(ours.value(x, y), value + 1e-14 * (1 + std::abs(x) + std::abs(y)) * (1 + value));
          const SlopeDomain domain = ours.slopes(y, weight);
          const double slope = domain.nearest(weight * theirs.subgradient(x, y));
          const double conjugate = weight * theirs.conjugate(slope / weight, y);
          const double size = 1 + std::abs(slope * y) + std::abs(conjugate);
          EXPECT_GE(ours.conjugate(slope, y, weight), conjugate - 1e-15 * size);
          EXPECT_LE(ours.conjugate(slope, y, weight), conjugate + 1e-14 * size);
          // Fenchel and Young: no x may contradict the bound.
          const double other = 6 * random.normal();
          EXPECT_GE(ours.conjugate(slope, y, weight), slope * other - weight * theirs.value(other, y) - 1e-14 * size);
        }
      });
    });
  }
}

TEST(VerifierLosses, ARangeIsBoundedAtItsWorstPoint) {
  Random random(6);
  for (const auto& example : examples()) {
    const Loss& loss = example.loss;
    const bool labels = example.labels;
    SCOPED_TRACE(to_string(loss));
    with_solver_loss(loss, [&](const auto& theirs) {
      with_loss(loss, [&](const auto& ours) {
        for (int k = 0; k < 5000; ++k) {
          const double y = labels ? (random.uniform() < 0.5 ? -1 : 1) : random.normal();
          const double from = 2 * random.normal();
          const double to = from + random.uniform();
          const double bound = ours.value({from, to}, y);
          for (const double share : {0.0, 0.3, 0.7, 1.0}) {
            EXPECT_GE(bound, theirs.value(from + share * (to - from), y) - 1e-15);
          }
        }
      });
    });
  }
}

TEST(VerifierLosses, DomainsEndWhereTheConjugateDoes) {
  // Slopes of 1/2 - level and so on are rounded by the solver; the domain is that of the level as it is.
  const double level = 0.1;
  const SlopeDomain domain = QuantileLoss{level}.slopes(0, 3);
  EXPECT_LE(-domain.lower, 3 * level);
  EXPECT_GE(-domain.lower, 3 * level * (1 - 1e-15));
  EXPECT_LE(domain.upper, 3 * (1 - level));
  EXPECT_EQ(AbsoluteLoss{}.slopes(2, 0.25).upper, 0.25);  // exact numbers stay
  EXPECT_EQ(HingeLoss{}.slopes(1, 2).lower, -2);
  EXPECT_EQ(HingeLoss{}.slopes(-1, 2).lower, 0);
}

TEST(VerifierLosses, AtTheEndsOfTheDomainTheLogisticConjugateIsZero) {
  EXPECT_NEAR((LogisticLoss{}.conjugate(-1.5, 1, 1.5)), 0, 1e-300);
  EXPECT_NEAR((LogisticLoss{}.conjugate(0, 1, 1.5)), 0, 1e-300);
}

TEST(VerifierLosses, AFunctionOfOnesOwnIsRefusedInOneSentence) {
  losses::Custom own;
  own.function = [](double x, double y) { return std::abs(x - y); };
  EXPECT_THROW(with_loss(Loss(own), [](const auto&) { return 0; }), Error);
}

}  // namespace
}  // namespace tracenorm::rigorous
