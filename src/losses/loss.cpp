#include "tracenorm/loss.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace tracenorm {

namespace {

template <class... All>
constexpr bool all_separable(const std::variant<All...>*) {
  return (SeparableLoss<All> && ...);
}
static_assert(all_separable(static_cast<const Loss*>(nullptr)), "losses/common.hpp says what a loss has");

/// Parameters of losses are numbers, all of them. `L` is a loss or a const one.
template <class L>
auto& parameter_of(L& loss, const Field<std::remove_const_t<L>>& field) {
  return loss.*std::get<double std::remove_const_t<L>::*>(field.member);
}

template <class L>
LossHelp help_of() {
  const L loss;
  LossHelp help{L::name, "", 0, "", L::wants};
  for (const Field<L>& field : L::fields) help = {L::name, field.name, parameter_of(loss, field), field.help, L::wants};
  return help;
}

template <class L>
std::optional<Loss> try_parse(std::string_view name, std::string_view parameter, bool has_parameter) {
  if (name != L::name) return std::nullopt;
  L loss;
  if (has_parameter) {
    if (L::fields.empty()) {
      throw Error(ErrorCode::usage, fmt::format("loss {} takes no parameter, but got '{}'", L::name, parameter));
    }
    double value = 0;
    const auto [end, code] = std::from_chars(parameter.data(), parameter.data() + parameter.size(), value);
    if (code != std::errc() || end != parameter.data() + parameter.size()) {
      throw Error(ErrorCode::usage, fmt::format("loss {}: parameter '{}' is not a number", L::name, parameter));
    }
    for (const Field<L>& field : L::fields) {
      check_value(field, value, fmt::format("loss {}", L::name));
      parameter_of(loss, field) = value;
    }
  }
  return loss;
}

}  // namespace

std::vector<LossHelp> loss_help() {
#define TRACENORM_HELP(L) help_of<losses::L>(),
  return {TRACENORM_FOR_EACH_LOSS(TRACENORM_HELP)};
#undef TRACENORM_HELP
}

Loss parse_loss(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const bool has_parameter = colon != std::string_view::npos;
  const std::string_view parameter = has_parameter ? text.substr(colon + 1) : std::string_view{};
#define TRACENORM_TRY(L) \
  if (auto loss = try_parse<losses::L>(name, parameter, has_parameter)) return *loss;
  TRACENORM_FOR_EACH_LOSS(TRACENORM_TRY)
#undef TRACENORM_TRY
  std::string known;
  for (const LossHelp& help : loss_help()) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", help.name);
    if (!help.parameter.empty()) known += fmt::format("[:{}]", help.parameter);
  }
  throw Error(ErrorCode::usage, fmt::format("unknown loss '{}'; there are: {}", text, known));
}

bool wants_labels(const Loss& loss) {
  return std::visit([](const auto& chosen) { return !chosen.accepts(0.5); }, loss);
}

std::string to_string(const Loss& loss) {
  return std::visit(
      [](const auto& l) -> std::string {
        using L = std::decay_t<decltype(l)>;
        if constexpr (std::is_same_v<L, losses::Custom>) {
          return l.label;
        } else {
          std::string text(L::name);
          for (const Field<L>& field : L::fields) text += fmt::format(":{}", parameter_of(l, field));
          return text;
        }
      },
      loss);
}

}  // namespace tracenorm
