#include "tracenorm/field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tracenorm {

std::string to_string(const OptionValue& value) {
  return std::visit(
      []<class T>(const T& chosen) -> std::string {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return "none";
        } else if constexpr (std::is_same_v<T, std::string>) {
          return fmt::format("'{}'", chosen);
        } else {
          return fmt::format("{}", chosen);
        }
      },
      value);
}

std::vector<std::string_view> words_of(const FieldInfo& field) {
  std::vector<std::string_view> words;
  for (std::string_view rest = field.words; !rest.empty();) {
    const std::size_t length = std::min(rest.find('|'), rest.size());
    words.push_back(rest.substr(0, length));
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return words;
}

std::string describe_range(const FieldInfo& field) {
  if (!field.words.empty()) return fmt::format("one of {}", fmt::join(words_of(field), ", "));
  if (field.whole) {
    return fmt::format("a whole number from {} to {}", static_cast<std::int64_t>(field.lower),
                       static_cast<std::int64_t>(field.upper));
  }
  const bool limited = field.upper < kUnlimited;
  if (field.lower == kAboveZero) {
    return limited ? fmt::format("a number above 0 and at most {:.10g}", field.upper) : "a number above 0";
  }
  if (limited) return fmt::format("a number from {:.10g} to {:.10g}", field.lower, field.upper);
  return fmt::format("a number that is {:.10g} or more", field.lower);
}

void check_value(const FieldInfo& field, const OptionValue& value, std::string_view owner) {
  const bool fits = std::visit(
      [&]<class T>(const T& chosen) {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return true;
        } else if constexpr (std::is_same_v<T, std::string>) {
          const auto words = words_of(field);
          return std::find(words.begin(), words.end(), chosen) != words.end();
        } else if (!field.words.empty()) {
          return false;
        } else {  // written so that NaN is refused
          const auto number = static_cast<double>(chosen);
          return number >= field.lower && number <= field.upper && (!field.whole || number == std::floor(number));
        }
      },
      value);
  if (fits) return;
  const std::string message =
      fmt::format("{} = {}; it must be {} ({})", field.name, to_string(value), describe_range(field), field.help);
  if (!owner.empty()) throw Error(ErrorCode::usage, fmt::format("{}: {}", owner, message));
  throw Error(ErrorCode::usage, message, std::string(field.name));
}

}  // namespace tracenorm
