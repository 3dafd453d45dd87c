#include "tracenorm/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tracenorm {

namespace {

using methods::FrankWolfe;
using methods::StepRule;

/// By the order of the variant. The first ones are FWUA's own; the others define a method.
constexpr std::array<std::string_view, std::variant_size_v<WidthRule>> kWidths{"balanced", "paper", "hybrid",
                                                                               "constant", "zero",  "root"};
constexpr std::size_t kOwnWidths = 3;
/// By the order of the enum.
constexpr std::array<std::string_view, 3> kSteps{"open-loop", "measured", "line-search"};

constexpr FieldInfo kWidth{"width", 0, 0,
                           "rule for the width: balanced splits the certified gap evenly between its two parts; paper "
                           "is the paper's, with its open-loop steps; hybrid is the paper's with a floor",
                           false};
constexpr FieldInfo kStep{"step", 0, 0,
                          "step length: 2/(k+2), 2/(k+d) with the best first step 2/d (measured), or the best on the "
                          "segment",
                          false};

template <std::size_t... each>
WidthRule width_rule(std::size_t index, std::index_sequence<each...>) {
  const std::array<WidthRule, sizeof...(each)> rules{WidthRule(std::in_place_index<each>)...};
  return rules[index];
}

/// The loop that the method is or contains; null when there is none. `MethodLike` is Method or const Method.
template <class MethodLike>
auto* loop_of(MethodLike& method) {
  using Loop = std::conditional_t<std::is_const_v<MethodLike>, const FrankWolfe, FrankWolfe>;
  return std::visit(
      [](auto& chosen) -> Loop* {
        if constexpr (std::is_same_v<std::decay_t<decltype(chosen)>, FrankWolfe>) {
          return &chosen;
        } else if constexpr (requires { chosen.frank_wolfe; }) {
          return &chosen.frank_wolfe;
        } else {
          return nullptr;
        }
      },
      method);
}

/// visit(struct with fields) for the method and the structs inside it.
template <class Options, class Visit>
void walk(Options& options, const Visit& visit) {
  visit(options);
  if constexpr (requires { options.frank_wolfe; }) walk(options.frank_wolfe, visit);
  if constexpr (requires { options.width; }) std::visit([&](auto& rule) { walk(rule, visit); }, options.width);
}

Option width_option(const FrankWolfe& loop) {
  const std::size_t chosen = loop.width.index();
  const std::size_t first = chosen < kOwnWidths ? 0 : chosen;
  const std::size_t last = chosen < kOwnWidths ? kOwnWidths : chosen + 1;
  return {kWidth, std::string(kWidths[chosen]), {kWidths.begin() + first, kWidths.begin() + last}};
}

Option step_option(const FrankWolfe& loop) {
  return {kStep, std::string(kSteps[static_cast<std::size_t>(loop.step)]), {kSteps.begin(), kSteps.end()}};
}

/// The place of the word among those of the option.
std::size_t choose(const Option& option, const OptionValue& value, const Method& method) {
  const auto* word = std::get_if<std::string>(&value);
  const auto at = word != nullptr ? std::find(option.words.begin(), option.words.end(), *word) : option.words.end();
  if (at != option.words.end()) return static_cast<std::size_t>(at - option.words.begin());
  const std::string name(option.field.name);
  throw Error(ErrorCode::usage,
              fmt::format("{} = {}; method {} takes one of {}", name, to_string(value), method_name(method),
                          fmt::join(option.words, ", ")),
              name);
}

void set_width(Method& method, const OptionValue& value) {
  FrankWolfe& loop = *loop_of(method);
  const std::size_t rule = choose(width_option(loop), value, method);
  if (loop.width.index() >= kOwnWidths) return;  // the only one there is
  loop.width = width_rule(rule, std::make_index_sequence<std::variant_size_v<WidthRule>>());
  if (std::holds_alternative<PaperWidth>(loop.width)) loop.step = StepRule::open_loop;  // the paper's method is both
}

[[noreturn]] void refuse(const std::string& name, const Method& method) {
  std::vector<std::string> owners;
  for (const MethodOption& known : method_options()) {
    const bool listed = std::find(owners.begin(), owners.end(), known.owner) != owners.end();
    if (known.option.field.name == name && !listed) owners.push_back(known.owner);
  }
  std::vector<std::string_view> own;
  for (const Option& option : options_of(method)) own.push_back(option.field.name);
  throw Error(ErrorCode::usage,
              fmt::format("{}: method {} does not have this option{}; it has: {}", name, method_name(method),
                          owners.empty() ? "" : fmt::format(", it belongs to {}", fmt::join(owners, ", ")),
                          fmt::join(own, ", ")),
              name);
}

void set_option(Method& method, const std::string& name, const OptionValue& value) {
  FrankWolfe* loop = loop_of(method);
  if (loop != nullptr && name == kWidth.name) return set_width(method, value);
  if (loop != nullptr && name == kStep.name) {
    loop->step = static_cast<StepRule>(choose(step_option(*loop), value, method));
    return;
  }
  bool found = false;
  std::visit(
      [&](auto& chosen) { walk(chosen, [&](auto& part) { found |= tracenorm::set_option(part, name, value); }); },
      method);
  if (!found) refuse(name, method);
}

bool has_option(const Method& method, std::string_view name) {
  const std::vector<Option> all = options_of(method);
  return std::any_of(all.begin(), all.end(), [&](const Option& option) { return option.field.name == name; });
}

/// The options of a method for one choice of its width; the choice is named where not every choice has the option.
void add_options(std::vector<MethodOption>& all, const std::string& name, const std::vector<Method>& by_width) {
  for (const Method& method : by_width) {
    for (const Option& option : options_of(method)) {
      const bool always = std::all_of(by_width.begin(), by_width.end(),
                                      [&](const Method& other) { return has_option(other, option.field.name); });
      if (always && &method != &by_width.front()) continue;  // it is there already
      const auto* loop = loop_of(method);
      all.push_back({always ? name : fmt::format("{} with width {}", name, kWidths[loop->width.index()]), option});
    }
  }
}

}  // namespace

std::vector<Option> options_of(const Method& method) {
  std::vector<Option> all;
  if (const FrankWolfe* loop = loop_of(method)) all = {width_option(*loop), step_option(*loop)};
  std::visit(
      [&](const auto& chosen) {
        walk(chosen, [&](const auto& part) {
          for (Option& option : tracenorm::options_of(part)) all.push_back(std::move(option));
        });
      },
      method);
  return all;
}

Method make_method(const std::optional<std::string>& name, const GivenOptions& given, bool asks_gap) {
  Method method = methods::FrankWolfe{};
  if (name) {
    method = parse_method(*name);
  } else if (asks_gap) {
    const Method corrective = methods::Corrective{};
    const bool fits =
        std::all_of(given.begin(), given.end(), [&](const auto& one) { return has_option(corrective, one.first); });
    if (fits) method = corrective;
  }
  // The width rule decides which fields there are, and comes with steps.
  for (const bool widths : {true, false}) {
    for (const auto& [option, value] : given) {
      if ((option == kWidth.name) == widths) set_option(method, option, value);
    }
  }
  return method;
}

std::vector<MethodOption> method_options() {
  std::vector<MethodOption> all;
  for (const MethodHelp& help : method_help()) {
    std::vector<Method> by_width{parse_method(help.name)};
    if (const FrankWolfe* loop = loop_of(std::as_const(by_width.front()))) {
      const std::vector<std::string_view> widths = width_option(*loop).words;
      by_width.resize(widths.size(), by_width.front());
      for (std::size_t k = 0; k < widths.size(); ++k) set_width(by_width[k], std::string(widths[k]));
    }
    add_options(all, std::string(help.name), by_width);
  }
  return all;
}

bool is_convex(const Method& method) { return is_bounded(method) || trace_penalty(method); }

std::optional<double> trace_penalty(const Method& method) {
  const auto* penalised = std::get_if<methods::GenFB>(&method);
  return penalised != nullptr ? std::optional(penalised->trace_penalty) : std::nullopt;
}

}  // namespace tracenorm
