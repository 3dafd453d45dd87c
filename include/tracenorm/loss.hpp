// The closed set of losses. A new one is a file in losses/ and one line here.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tracenorm/losses/absolute.hpp"
#include "tracenorm/losses/custom.hpp"
#include "tracenorm/losses/epsilon_insensitive.hpp"
#include "tracenorm/losses/hinge.hpp"
#include "tracenorm/losses/huber.hpp"
#include "tracenorm/losses/logistic.hpp"
#include "tracenorm/losses/quantile.hpp"
#include "tracenorm/losses/squared.hpp"

namespace tracenorm {

/// Everything that lists losses (the variant, the kernels, the parser, the generic tests) expands this. `custom` stands
/// apart: it has no closed forms and cannot be named on a command line.
#define TRACENORM_FOR_EACH_LOSS(DO) \
  DO(Absolute)                      \
  DO(Squared)                       \
  DO(Huber)                         \
  DO(Quantile)                      \
  DO(EpsilonInsensitive)            \
  DO(Logistic)                      \
  DO(Hinge)

using Loss = std::variant<losses::Absolute, losses::Squared, losses::Huber, losses::Quantile,
                          losses::EpsilonInsensitive, losses::Logistic, losses::Hinge, losses::Custom>;

/// Parses NAME or NAME:PARAMETER ("huber:0.5"). Throws a usage error that lists the names there are.
Loss parse_loss(std::string_view text);

/// The inverse of parse_loss: "huber:0.5".
std::string to_string(const Loss& loss);

/// Whether the loss is for labels -1 and +1 rather than for numbers.
bool wants_labels(const Loss& loss);

/// The losses that parse_loss knows, with their parameter, default and meaning, for help texts.
struct LossHelp {
  std::string_view name;
  std::string_view parameter;  ///< empty when there is none
  double default_value;
  std::string_view help;
  std::string_view wants;
};
std::vector<LossHelp> loss_help();

}  // namespace tracenorm
