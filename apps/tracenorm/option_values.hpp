// Options with checked values. Every complaint names the option, the value, and what would be right.
#pragma once

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracenorm/error.hpp"
#include "tracenorm/field.hpp"

namespace tracenorm::app {

/// "norm_power" -> "--norm-power".
std::string option_name(std::string_view field);

/// What is wrong, with the option as a command line has it.
std::string message_of(const Error& error);

/// The text as a whole number, a number or a word.
OptionValue parse_value(const std::string& text);

/// A value as a help text shows it; empty where there is none.
std::string plain_text(const OptionValue& value);

/// Adds these fields of an option struct.
template <class Struct>
void add_fields(CLI::App& app, Struct& options, const std::vector<std::string_view>& names, const std::string& group) {
  for (const auto& [field, value, words] : options_of(options)) {
    if (std::find(names.begin(), names.end(), field.name) == names.end()) continue;
    app.add_option_function<std::string>(
           option_name(field.name),
           [&options, name = field.name](const std::string& text) { set_option(options, name, parse_value(text)); },
           std::string(field.help))
        ->type_name(!field.words.empty() ? std::string(field.words)
                    : field.whole        ? "N"
                                         : "X")
        ->default_str(plain_text(value))
        ->group(group);
  }
}

/// A usage error about one option.
[[noreturn]] void reject(std::string_view option, std::string_view value, std::string_view what_would_be_right);

/// The numbers an option accepts; `wants` says the same in words.
struct NumberRange {
  double lower;
  double upper;
  std::string_view wants;
  bool lower_included = true;
};

inline constexpr NumberRange kPositive{0, 1e300, "a number above 0", false};
inline constexpr NumberRange kNotNegative{0, 1e300, "a number that is 0 or more"};
inline constexpr NumberRange kProbability{0, 1, "a number from 0 to 1"};
inline constexpr NumberRange kShare{0, 1, "a number above 0, at most 1", false};

double to_number(std::string_view option, const std::string& text, const NumberRange& range);
std::int64_t to_integer(std::string_view option, const std::string& text, std::int64_t lower, std::int64_t upper);

CLI::Option* add_number(CLI::App& app, const std::string& name, double& target, const NumberRange& range,
                        const std::string& help);
CLI::Option* add_number(CLI::App& app, const std::string& name, std::optional<double>& target, const NumberRange& range,
                        const std::string& help);

template <class Integer>
CLI::Option* add_integer(CLI::App& app, const std::string& name, Integer& target, std::int64_t lower,
                         std::int64_t upper, const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [&target, name, lower, upper](const std::string& text) {
            target = static_cast<Integer>(to_integer(name, text, lower, upper));
          },
          help)
      ->type_name("N")
      ->default_str(std::to_string(target));
}

/// `--seed`, the same everywhere.
CLI::Option* add_seed(CLI::App& app, std::uint64_t& target, const std::string& help);

/// An option whose words mean values.
template <class T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& target,
                        const std::vector<std::pair<std::string, T>>& choices, const std::string& help) {
  std::string words;
  std::string chosen;
  for (const auto& [word, value] : choices) {
    words += (words.empty() ? "" : "|") + word;
    if (value == target) chosen = word;
  }
  return app
      .add_option_function<std::string>(
          name,
          [&target, name, choices, words](const std::string& text) {
            for (const auto& [word, value] : choices) {
              if (word == text) {
                target = value;
                return;
              }
            }
            reject(name, text, "one of " + words);
          },
          help)
      ->type_name(words)
      ->default_str(chosen);
}

/// Adds the option's name to the errors of a library function that parses its value.
template <class Parse>
auto parse_for(std::string_view option, Parse&& parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw Error(error.code(), std::string(option) + ": " + error.what());
  }
}

}  // namespace tracenorm::app
