// Walks the numeric options of a method, whichever it is: its own table of fields and that of its width rule. So the
// command line and the JSON of a run know a new method's options without being told.
#pragma once

#include <string_view>
#include <type_traits>
#include <variant>

#include "tracenorm/solve.hpp"

namespace tracenorm::report {

/// A field without the type of its struct.
struct FieldInfo {
  std::string_view name;
  double lower;
  double upper;
  std::string_view help;
};

template <class Options, class Visit>
void visit_own_fields(Options& options, Visit&& visit) {
  for (const auto& field : std::remove_const_t<Options>::fields) {
    visit(FieldInfo{field.name, field.lower, field.upper, field.help}, options.*(field.member));
  }
}

/// Calls visit(FieldInfo, double&) for every numeric option; `MethodLike` is Method or const Method.
template <class MethodLike, class Visit>
void visit_fields(MethodLike& method, Visit&& visit) {
  std::visit(
      [&](auto& chosen) {
        visit_own_fields(chosen, visit);
        if constexpr (requires { chosen.width; }) {
          std::visit([&](auto& rule) { visit_own_fields(rule, visit); }, chosen.width);
        }
      },
      method);
}

/// "paper", "hybrid", "constant", "zero", "root"; empty for a method without a width.
std::string_view width_name(const Method& method);

/// "open-loop", "line-search"; empty for a method without a choice of steps.
std::string_view step_name(const Method& method);

}  // namespace tracenorm::report
