// Bad input is an exception that says what is wrong and what would be right. Numerical outcomes are a `Status`, never
// this.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace tracenorm {

/// The values are the program's exit codes.
enum class ErrorCode : int {
  usage = 2,      ///< an option or argument that cannot be
  input = 3,      ///< data or files that cannot be used
  numerical = 4,  ///< arithmetic that produced no usable number
};

class Error : public std::runtime_error {
 public:
  /// `option`, where the error is about one: the name that the message begins with.
  Error(ErrorCode code, const std::string& message, std::string option = {})
      : std::runtime_error(message), code_(code), option_(std::move(option)) {}
  [[nodiscard]] ErrorCode code() const { return code_; }
  [[nodiscard]] const std::string& option() const { return option_; }

 private:
  ErrorCode code_;
  std::string option_;
};

}  // namespace tracenorm
