// --method and what belongs to it. The options come from the library's tables, so a new method's appear here without a
// line of code.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <optional>
#include <string>

#include "tracenorm/options.hpp"

namespace tracenorm::app {

class MethodOptions {
 public:
  void add_to(CLI::App& app);

  /// The method that was asked for; empty where nothing was said. A usage error when an option was given that it does
  /// not have.
  [[nodiscard]] std::optional<Method> make(bool asks_gap) const {
    if (!name_ && given_.empty()) return std::nullopt;
    return make_method(name_, given_, asks_gap);
  }

 private:
  std::optional<std::string> name_;
  GivenOptions given_;
};

/// "genfb, rlrmc, glrl": the methods for which this holds.
std::string methods_where(const std::function<bool(const Method&)>& holds);

}  // namespace tracenorm::app
