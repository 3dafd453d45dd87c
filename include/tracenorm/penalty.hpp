// What is added to the loss.
#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace tracenorm {

struct NoPenalty {};

/// lambda * sum over all entries |X_ij|: sparse and low rank at once. Makes the slope matrix dense.
struct L1Penalty {
  double lambda = 0.1;
};

/// lambda * sum over the unobserved entries X_ij^2: keeps imputed values small. Slope matrix = sparse + low rank.
struct ComplementSquaredPenalty {
  double lambda = 0.001;
};

using Penalty = std::variant<NoPenalty, L1Penalty, ComplementSquaredPenalty>;

/// "none", "l1:LAMBDA", "complement-squared:LAMBDA".
Penalty parse_penalty(std::string_view text);
std::string to_string(const Penalty& penalty);

}  // namespace tracenorm
