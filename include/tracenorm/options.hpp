// The options of methods by name, for whoever has words instead of structs: a command line, JSON, Python keywords.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracenorm/solve.hpp"

namespace tracenorm {

/// Options as they were said, in any order.
using GivenOptions = std::vector<std::pair<std::string, OptionValue>>;

/// Every option of a method: its width and step rules, its own fields, those of the Frank-Wolfe loop inside it and
/// those of the width rule inside that. A rule that defines the method is the only word it can be.
std::vector<Option> options_of(const Method& method);

/// The method of that name with these options. Without a name it is `corrective` where a certified gap is asked for and
/// no option of another method is given, `fwua` otherwise. Throws a usage error about an option that the method does
/// not have.
Method make_method(const std::optional<std::string>& name, const GivenOptions& given, bool asks_gap = false);

/// An option and who has it: "sccg", "fwua with width paper".
struct MethodOption {
  std::string owner;
  Option option;
};
/// Every option of every method, in the order of the methods.
std::vector<MethodOption> method_options();

/// Whether the problem that the method solves is convex, so that lower bounds of its optimum exist: the trace norm,
/// bounded or penalised, is what keeps the answer low-rank, not a rank.
bool is_convex(const Method& method);

/// The weight of the trace norm in the objective, for a method that penalises it instead of bounding it.
std::optional<double> trace_penalty(const Method& method);

}  // namespace tracenorm
