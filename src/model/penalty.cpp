#include "tracenorm/penalty.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

double parse_lambda(std::string_view text, std::string_view number) {
  double lambda = 0;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), lambda);
  if (code != std::errc() || end != number.data() + number.size() || !(lambda >= 0) || std::isinf(lambda)) {
    throw Error(ErrorCode::usage, fmt::format("penalty '{}': '{}' is not a number >= 0", text, number));
  }
  return lambda;
}

}  // namespace

Penalty parse_penalty(std::string_view text) {
  if (text == "none") return NoPenalty{};
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view name = text.substr(0, colon);
    const std::string_view number = text.substr(colon + 1);
    if (name == "l1") return L1Penalty{parse_lambda(text, number)};
    if (name == "complement-squared") return ComplementSquaredPenalty{parse_lambda(text, number)};
  }
  throw Error(ErrorCode::usage,
              fmt::format("unknown penalty '{}'; there are: none, l1:LAMBDA, complement-squared:LAMBDA", text));
}

std::string to_string(const Penalty& penalty) {
  if (const auto* l1 = std::get_if<L1Penalty>(&penalty)) return fmt::format("l1:{}", l1->lambda);
  if (const auto* complement = std::get_if<ComplementSquaredPenalty>(&penalty)) {
    return fmt::format("complement-squared:{}", complement->lambda);
  }
  return "none";
}

}  // namespace tracenorm
