// --method and what belongs to it. The numeric options come from the methods' own tables of fields, so a new method's
// options appear here without a line of code.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tracenorm/solve.hpp"

namespace tracenorm::app {

class MethodOptions {
 public:
  explicit MethodOptions(std::string default_name = "fwua") : name_(std::move(default_name)) {}

  void add_to(CLI::App& app);

  /// The method that was asked for. A usage error when an option was given that this method does not have.
  [[nodiscard]] Method make() const;

 private:
  void add_fields(CLI::App& app);

  std::string name_;
  std::optional<std::string> width_;
  std::optional<std::string> step_;
  std::map<std::string, std::string> values_;  // field name -> text, only those given
};

/// "genfb, rlrmc, glrl": the methods for which this holds.
std::string methods_where(const std::function<bool(const Method&)>& holds);

}  // namespace tracenorm::app
