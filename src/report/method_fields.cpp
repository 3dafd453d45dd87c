#include "report/method_fields.hpp"

namespace tracenorm::report {

namespace {

constexpr std::string_view name_of(const PaperWidth&) { return "paper"; }
constexpr std::string_view name_of(const HybridWidth&) { return "hybrid"; }
constexpr std::string_view name_of(const ConstantWidth&) { return "constant"; }
constexpr std::string_view name_of(const ZeroWidth&) { return "zero"; }
constexpr std::string_view name_of(const RootWidth&) { return "root"; }

}  // namespace

std::string_view width_name(const Method& method) {
  return std::visit(
      [](const auto& chosen) -> std::string_view {
        if constexpr (requires { chosen.width; }) {
          return std::visit([](const auto& rule) { return name_of(rule); }, chosen.width);
        } else {
          return {};
        }
      },
      method);
}

std::string_view step_name(const Method& method) {
  return std::visit(
      [](const auto& chosen) -> std::string_view {
        if constexpr (requires { chosen.step; }) {
          return chosen.step == methods::StepRule::open_loop ? "open-loop" : "line-search";
        } else {
          return {};
        }
      },
      method);
}

}  // namespace tracenorm::report
