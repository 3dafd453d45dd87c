// What claims are tested with.
#pragma once

#include <vector>

#include "tracenorm/problem.hpp"

namespace tracenorm::test {

inline const std::vector<Loss>& every_loss() {
  static const std::vector<Loss> losses{losses::Absolute{},
                                        losses::Squared{0.5},
                                        losses::Huber{0.5},
                                        losses::Quantile{0.3},
                                        losses::EpsilonInsensitive{0.2},
                                        losses::Hinge{},
                                        losses::Logistic{}};
  return losses;
}

inline const std::vector<Penalty>& every_penalty() {
  static const std::vector<Penalty> penalties{NoPenalty{}, L1Penalty{0.2}, ComplementSquaredPenalty{0.1}};
  return penalties;
}

}  // namespace tracenorm::test
