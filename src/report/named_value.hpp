// A name and a value: options of a command, facts about a data set or a build.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tracenorm::report {

/// monostate: not given.
struct NamedValue {
  std::string name;
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, std::vector<std::string>> value;
};

/// One JSON object and a line end. What is not a finite number is null.
std::string to_json(const std::vector<NamedValue>& values);

/// For people: "none", "yes", "0.25".
std::string value_text(const NamedValue& named);

/// The same with the names, one line per value.
std::string to_text(const std::vector<NamedValue>& values);

}  // namespace tracenorm::report
