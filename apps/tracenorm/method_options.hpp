// --method and what belongs to it. The numeric options come from the methods' own tables of fields, so a new method's
// options appear here without a line of code.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tracenorm/solve.hpp"

namespace tracenorm::app {

class MethodOptions {
 public:
  void add_to(CLI::App& app);

  /// The method that was asked for; if none was, `corrective` where a certified gap is asked for and no option of
  /// another method is given, `fwua` otherwise. A usage error when an option was given that the method does not have.
  [[nodiscard]] Method make(bool asks_gap) const;

 private:
  void add_fields(CLI::App& app);
  [[nodiscard]] std::string default_name(bool asks_gap) const;

  std::optional<std::string> name_;
  std::optional<std::string> width_;
  std::optional<std::string> step_;
  std::map<std::string, std::string> values_;  // field name -> text, only those given
};

/// "genfb, rlrmc, glrl": the methods for which this holds.
std::string methods_where(const std::function<bool(const Method&)>& holds);

}  // namespace tracenorm::app
