// One table of fields per option struct feeds command line, JSON, validation and the manual page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracenorm/error.hpp"

namespace tracenorm {

/// One numeric member of an option struct: its name, where it lives, the closed interval it must lie in, and one line
/// of help.
template <class Struct>
struct Field {
  std::string_view name;
  double Struct::*member;
  double lower;
  double upper;
  std::string_view help;
};

/// "NAME = VALUE is outside [LOWER, UPPER]" for every field that is; empty when all is well.
std::string describe_out_of_range(std::string_view owner, std::string_view field, double value, double lower,
                                  double upper);

/// Throws one usage error that names every field out of its range.
template <class Struct>
void check_fields(const Struct& options, std::string_view owner) {
  std::string problems;
  for (const Field<Struct>& field : Struct::fields) {
    problems += describe_out_of_range(owner, field.name, options.*(field.member), field.lower, field.upper);
  }
  if (!problems.empty()) throw Error(ErrorCode::usage, problems);
}

}  // namespace tracenorm
