#include "option_values.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace tracenorm::app {

namespace {

/// The whole text as a number, or nothing.
template <class T>
std::optional<T> whole(const std::string& text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

bool accepts(const NumberRange& range, double value) {
  // Written so that NaN is refused.
  const bool above = range.lower_included ? value >= range.lower : value > range.lower;
  return above && value <= range.upper;
}

}  // namespace

std::string option_name(std::string_view field) {
  std::string name = "--" + std::string(field);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string message_of(const Error& error) {
  const std::string message = error.what();
  return error.option().empty() ? message : option_name(error.option()) + message.substr(error.option().size());
}

OptionValue parse_value(const std::string& text) {
  if (const auto count = whole<std::int64_t>(text)) return *count;
  if (const auto number = whole<double>(text)) return *number;
  return text;
}

std::string plain_text(const OptionValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return {};
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{:g}", *number);
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  return to_string(value);
}

void reject(std::string_view option, std::string_view value, std::string_view what_would_be_right) {
  throw Error(ErrorCode::usage, fmt::format("{}: '{}' cannot be used; give {}", option, value, what_would_be_right));
}

double to_number(std::string_view option, const std::string& text, const NumberRange& range) {
  const std::optional<double> value = whole<double>(text);
  if (!value || !accepts(range, *value)) reject(option, text, range.wants);
  return *value;
}

std::int64_t to_integer(std::string_view option, const std::string& text, std::int64_t lower, std::int64_t upper) {
  const std::optional<std::int64_t> value = whole<std::int64_t>(text);
  if (!value || *value < lower || *value > upper) {
    reject(option, text, fmt::format("a whole number from {} to {}", lower, upper));
  }
  return *value;
}

CLI::Option* add_number(CLI::App& app, const std::string& name, double& target, const NumberRange& range,
                        const std::string& help) {
  return app
      .add_option_function<std::string>(
          name, [&target, name, range](const std::string& text) { target = to_number(name, text, range); }, help)
      ->type_name("X")
      ->default_str(fmt::format("{:g}", target));
}

CLI::Option* add_number(CLI::App& app, const std::string& name, std::optional<double>& target, const NumberRange& range,
                        const std::string& help) {
  return app
      .add_option_function<std::string>(
          name, [&target, name, range](const std::string& text) { target = to_number(name, text, range); }, help)
      ->type_name("X");
}

CLI::Option* add_seed(CLI::App& app, std::uint64_t& target, const std::string& help) {
  return add_integer(app, "--seed", target, 0, std::numeric_limits<std::int64_t>::max(), help);
}

}  // namespace tracenorm::app
