#include "method_options.hpp"

#include <fmt/format.h>

#include <vector>

#include "option_values.hpp"
#include "report/method_fields.hpp"

namespace tracenorm::app {

namespace {

using report::FieldInfo;
using report::visit_fields;

/// "oracle_products" -> "--oracle-products".
std::string option_name(std::string_view field) {
  std::string name = "--" + std::string(field);
  for (char& c : name) c = c == '_' ? '-' : c;
  return name;
}

/// Whether the method leaves the width rule to the user (FWUA's own two) rather than being defined by it.
bool has_width_choice(const Method& method) {
  const auto width = report::width_name(method);
  return width == "paper" || width == "hybrid";
}

void set_width(Method& method, const std::string& width) {
  if (!has_width_choice(method)) {
    throw Error(ErrorCode::usage, fmt::format("--width: method {} has no choice of width; leave it out, or use "
                                              "--method fwua",
                                              method_name(method)));
  }
  std::visit(
      [&](auto& chosen) {
        if constexpr (requires { chosen.width; }) {
          if (width == "paper") {
            chosen.width = PaperWidth{};
          } else {
            chosen.width = HybridWidth{};
          }
        }
      },
      method);
}

void set_step(Method& method, const std::string& step) {
  std::visit(
      [&](auto& chosen) {
        if constexpr (requires { chosen.step; }) {
          chosen.step = step == "line-search" ? methods::StepRule::line_search : methods::StepRule::open_loop;
        } else {
          throw Error(ErrorCode::usage,
                      fmt::format("--step: method {} has no choice of steps; leave it out", method_name(method)));
        }
      },
      method);
}

/// A method as a user names it: "sccg", "fwua --width paper".
struct NamedMethod {
  std::string words;
  Method method;
};

std::vector<NamedMethod> all_methods() {
  std::vector<NamedMethod> all;
  for (const MethodHelp& help : method_help()) {
    const Method method = parse_method(help.name);
    if (!has_width_choice(method)) {
      all.push_back({std::string(help.name), method});
      continue;
    }
    for (const char* width : {"paper", "hybrid"}) {
      Method with_width = method;
      set_width(with_width, width);
      all.push_back({fmt::format("{} --width {}", help.name, width), with_width});
    }
  }
  return all;
}

struct KnownField {
  std::string help;
  double default_value;
  std::vector<std::string> owners;
};

/// Every numeric option of every method, in the order of the methods.
std::vector<std::pair<std::string, KnownField>> all_fields() {
  std::vector<std::pair<std::string, KnownField>> all;
  for (const NamedMethod& named : all_methods()) {
    visit_fields(named.method, [&](const FieldInfo& field, double value) {
      for (auto& [name, known] : all) {
        if (name == field.name) {
          known.owners.push_back(named.words);
          return;
        }
      }
      all.push_back({std::string(field.name), {std::string(field.help), value, {named.words}}});
    });
  }
  return all;
}

std::string owners_of(const std::string& field) {
  for (const auto& [name, known] : all_fields()) {
    if (name == field) return fmt::format("{}", fmt::join(known.owners, ", "));
  }
  return {};
}

std::string method_list() {
  std::string text = "how to solve it";
  for (const MethodHelp& help : method_help()) text += fmt::format("\n{}: {}", help.name, help.help);
  return text;
}

void set_field(Method& method, const std::string& name, const std::string& text) {
  const std::string option = option_name(name);
  bool found = false;
  visit_fields(method, [&](const FieldInfo& field, double& value) {
    if (field.name != name) return;
    found = true;
    const std::string wants = fmt::format("a number from {:g} to {:g}", field.lower, field.upper);
    value = to_number(option, text, {field.lower, field.upper, wants});
  });
  if (!found) {
    throw Error(ErrorCode::usage, fmt::format("{}: method {} does not have this option; it belongs to {}", option,
                                              method_name(method), owners_of(name)));
  }
}

}  // namespace

void MethodOptions::add_to(CLI::App& app) {
  app.add_option("--method", name_, method_list())->type_name("NAME")->capture_default_str()->group("Method");
  app.add_option_function<std::string>(
         "--width",
         [this](const std::string& text) {
           if (text != "paper" && text != "hybrid") reject("--width", text, "paper or hybrid");
           width_ = text;
         },
         "rule for fwua's width: hybrid starts like the paper's and provably converges")
      ->type_name("paper|hybrid")
      ->default_str("hybrid")
      ->group("Method");
  app.add_option_function<std::string>(
         "--step",
         [this](const std::string& text) {
           if (text != "open-loop" && text != "line-search") reject("--step", text, "open-loop or line-search");
           step_ = text;
         },
         "step length: 2/(k+2), or the best on the segment")
      ->type_name("open-loop|line-search")
      ->default_str("open-loop")
      ->group("Method");
  add_fields(app);
}

void MethodOptions::add_fields(CLI::App& app) {
  const std::size_t method_count = all_methods().size();
  for (const auto& [name, known] : all_fields()) {
    const bool everyone = known.owners.size() == method_count;
    const std::string help = everyone ? known.help : fmt::format("{} [{}]", known.help, fmt::join(known.owners, ", "));
    app.add_option_function<std::string>(
           option_name(name), [this, field = name](const std::string& text) { values_[field] = text; }, help)
        ->type_name("X")
        ->default_str(fmt::format("{:g}", known.default_value))
        ->group("Method");
  }
}

Method MethodOptions::make() const {
  Method method = parse_for("--method", [&] { return parse_method(name_); });
  if (width_) set_width(method, *width_);
  if (step_) set_step(method, *step_);
  for (const auto& [name, text] : values_) set_field(method, name, text);
  return method;
}

}  // namespace tracenorm::app
