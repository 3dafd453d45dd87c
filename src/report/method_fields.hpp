// Walks the numeric options of a method, whichever it is: its own table of fields, those of the Frank-Wolfe loop inside
// it, and those of the width rule inside that. So the command line and the JSON of a run know a new method's options
// without being told.
#pragma once

#include <optional>
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
  bool whole;  ///< it counts something
};

/// Whether a field counts something, so that only whole numbers make sense.
bool is_count(std::string_view field);

/// Calls visit(FieldInfo, double&) for every numeric option of `options` and of the structs inside it.
template <class Options, class Visit>
void visit_option_fields(Options& options, Visit&& visit) {
  for (const auto& field : std::remove_const_t<Options>::fields) {
    visit(FieldInfo{field.name, field.lower, field.upper, field.help, is_count(field.name)}, options.*(field.member));
  }
  if constexpr (requires { options.frank_wolfe; }) visit_option_fields(options.frank_wolfe, visit);
  if constexpr (requires { options.width; }) {
    std::visit([&](auto& rule) { visit_option_fields(rule, visit); }, options.width);
  }
}

/// The same for the chosen method; `MethodLike` is Method or const Method.
template <class MethodLike, class Visit>
void visit_fields(MethodLike& method, Visit&& visit) {
  std::visit([&](auto& chosen) { visit_option_fields(chosen, visit); }, method);
}

/// The Frank-Wolfe loop that the method is or contains; null when there is none.
methods::FrankWolfe* frank_wolfe(Method& method);
const methods::FrankWolfe* frank_wolfe(const Method& method);

/// "balanced", "paper", "hybrid", "constant", "zero", "root"; empty for a method without a width.
std::string_view width_name(const Method& method);

/// Whether the method leaves the width rule to the user (FWUA's own) rather than being defined by it.
bool has_width_choice(const Method& method);

/// "open-loop", "measured", "line-search"; empty for a method without a choice of steps.
std::string_view step_name(const Method& method);

/// Whether the problem that the method solves is convex, so that lower bounds of its optimum exist: the trace norm,
/// bounded or penalised, is what keeps the answer low-rank, not a rank.
bool is_convex(const Method& method);

/// The weight of the trace norm in the objective, for a method that penalises it instead of bounding it.
std::optional<double> trace_penalty(const Method& method);

}  // namespace tracenorm::report
