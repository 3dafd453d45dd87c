#include "report/method_fields.hpp"

#include <algorithm>
#include <array>

namespace tracenorm::report {

namespace {

constexpr std::string_view name_of(const BalancedWidth&) { return "balanced"; }
constexpr std::string_view name_of(const PaperWidth&) { return "paper"; }
constexpr std::string_view name_of(const HybridWidth&) { return "hybrid"; }
constexpr std::string_view name_of(const ConstantWidth&) { return "constant"; }
constexpr std::string_view name_of(const ZeroWidth&) { return "zero"; }
constexpr std::string_view name_of(const RootWidth&) { return "root"; }

constexpr std::string_view to_string(methods::StepRule rule) {
  switch (rule) {
    case methods::StepRule::open_loop:
      return "open-loop";
    case methods::StepRule::measured:
      return "measured";
    case methods::StepRule::line_search:
      return "line-search";
  }
  return {};
}

/// `Loop` is FrankWolfe or const FrankWolfe.
template <class Loop, class MethodLike>
Loop* loop_in(MethodLike& method) {
  return std::visit(
      [](auto& chosen) -> Loop* {
        if constexpr (std::is_same_v<std::decay_t<decltype(chosen)>, methods::FrankWolfe>) {
          return &chosen;
        } else if constexpr (requires { chosen.frank_wolfe; }) {
          return &chosen.frank_wolfe;
        } else {
          return nullptr;
        }
      },
      method);
}

}  // namespace

bool is_count(std::string_view field) {
  constexpr std::array<std::string_view, 5> counts{"rank", "interval", "block", "stages", "inner"};
  return std::find(counts.begin(), counts.end(), field) != counts.end();
}

methods::FrankWolfe* frank_wolfe(Method& method) { return loop_in<methods::FrankWolfe>(method); }
const methods::FrankWolfe* frank_wolfe(const Method& method) { return loop_in<const methods::FrankWolfe>(method); }

std::string_view width_name(const Method& method) {
  const methods::FrankWolfe* loop = frank_wolfe(method);
  if (loop == nullptr) return {};
  return std::visit([](const auto& rule) { return name_of(rule); }, loop->width);
}

bool has_width_choice(const Method& method) {
  const methods::FrankWolfe* loop = frank_wolfe(method);
  return loop != nullptr &&
         (std::holds_alternative<BalancedWidth>(loop->width) || std::holds_alternative<PaperWidth>(loop->width) ||
          std::holds_alternative<HybridWidth>(loop->width));
}

std::string_view step_name(const Method& method) {
  const methods::FrankWolfe* loop = frank_wolfe(method);
  if (loop == nullptr) return {};
  return to_string(loop->step);
}

bool is_convex(const Method& method) { return is_bounded(method) || trace_penalty(method); }

std::optional<double> trace_penalty(const Method& method) {
  return std::visit(
      [](const auto& chosen) -> std::optional<double> {
        if constexpr (requires { chosen.trace_penalty; }) {
          return chosen.trace_penalty;
        } else {
          return std::nullopt;
        }
      },
      method);
}

}  // namespace tracenorm::report
