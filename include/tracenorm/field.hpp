// One table of fields per option struct feeds command line, JSON, Python keywords, validation and the manual.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "tracenorm/error.hpp"

namespace tracenorm {

/// As a lower limit: 0 itself is too small.
inline constexpr double kAboveZero = std::numeric_limits<double>::denorm_min();
/// As an upper limit: any finite number will do.
inline constexpr double kUnlimited = 1e300;

/// The value of an option: none, a whole number, a number, or a word.
using OptionValue = std::variant<std::monostate, std::int64_t, double, std::string>;

/// Words in quotes, "none" where there is no value.
std::string to_string(const OptionValue& value);

/// What there is to know about a field but where it lives: name, the closed interval it must lie in, one line of help.
struct FieldInfo {
  std::string_view name;
  double lower;
  double upper;
  std::string_view help;
  bool whole;                ///< it counts something
  std::string_view words{};  ///< "cpu|cuda": it is one of these instead of a number
};

/// The words that a field can be; none where it is a number.
std::vector<std::string_view> words_of(const FieldInfo& field);

/// "a whole number from 1 to 10", "a number above 0", "one of cpu, cuda".
std::string describe_range(const FieldInfo& field);

/// Throws "NAME = VALUE; it must be ..." where the value does not fit; none always does. An owner is named in front.
void check_value(const FieldInfo& field, const OptionValue& value, std::string_view owner = {});

/// One member of an option struct. Whole numbers live in an int, what need not be given in an optional, words in a
/// string.
template <class Struct>
struct Field : FieldInfo {
  std::variant<double Struct::*, int Struct::*, std::uint64_t Struct::*, std::optional<double> Struct::*,
               std::string Struct::*>
      member;

  template <class T>
  constexpr Field(std::string_view called, T Struct::*where, double least, double most, std::string_view meaning)
      : FieldInfo{called, least, most, meaning, std::is_integral_v<T>}, member(where) {}
  constexpr Field(std::string_view called, std::string Struct::*where, std::string_view choices,
                  std::string_view meaning)
      : FieldInfo{called, 0, 0, meaning, false, choices}, member(where) {}

  [[nodiscard]] OptionValue get(const Struct& options) const {
    return std::visit(
        [&]<class T>(T Struct::*where) -> OptionValue {
          if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(options.*where);
          if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::string>) return options.*where;
          if constexpr (std::is_same_v<T, std::optional<double>>) {
            if (options.*where) return *(options.*where);
          }
          return std::monostate{};
        },
        member);
  }

  /// Checks, then sets. None leaves a member as it is that must have a value.
  void set(Struct& options, const OptionValue& value) const {
    check_value(*this, value);
    std::visit(
        [&]<class T>(T Struct::*where) {
          if constexpr (std::is_same_v<T, std::string>) {
            if (const auto* word = std::get_if<std::string>(&value)) options.*where = *word;
            return;
          } else {
            if constexpr (std::is_same_v<T, std::optional<double>>) (options.*where).reset();
            if (const auto* count = std::get_if<std::int64_t>(&value)) options.*where = static_cast<Number<T>>(*count);
            if (const auto* number = std::get_if<double>(&value)) options.*where = static_cast<Number<T>>(*number);
          }
        },
        member);
  }

 private:
  template <class T>
  using Number = std::conditional_t<std::is_integral_v<T>, T, double>;
};

/// A field with its value, and the words it can be where it is no number.
struct Option {
  FieldInfo field;
  OptionValue value;
  std::vector<std::string_view> words{};
};

template <class Struct>
std::vector<Option> options_of(const Struct& options) {
  std::vector<Option> all;
  all.reserve(Struct::fields.size());
  for (const auto& field : Struct::fields) all.push_back({field, field.get(options), words_of(field)});
  return all;
}

/// The words that the field of that name can be.
template <class Struct>
std::vector<std::string_view> words_of(const Struct& /*options*/, std::string_view name) {
  for (const auto& field : Struct::fields) {
    if (field.name == name) return words_of(field);
  }
  return {};
}

/// Sets the field of that name; returns whether there is one.
template <class Struct>
bool set_option(Struct& options, std::string_view name, const OptionValue& value) {
  for (const auto& field : Struct::fields) {
    if (field.name != name) continue;
    field.set(options, value);
    return true;
  }
  return false;
}

/// Throws a usage error about the first field out of its range.
template <class Struct>
void check_fields(const Struct& options, std::string_view owner = {}) {
  for (const auto& field : Struct::fields) check_value(field, field.get(options), owner);
}

}  // namespace tracenorm
