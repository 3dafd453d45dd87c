#include "tracenorm/field.hpp"

#include <fmt/format.h>

namespace tracenorm {

std::string describe_out_of_range(std::string_view owner, std::string_view field, double value, double lower,
                                  double upper) {
  if (value >= lower && value <= upper) return {};
  return fmt::format("{}: {} = {} is outside [{}, {}]\n", owner, field, value, lower, upper);
}

}  // namespace tracenorm
