#include "method_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "option_values.hpp"
#include "report/method_fields.hpp"

namespace tracenorm::app {

namespace {

using report::FieldInfo;
using report::visit_fields;

/// The options that define the problem a method solves; the others tune how it is solved.
constexpr std::array<std::string_view, 2> kEssential{"rank", "trace_penalty"};

/// "oracle_products" -> "--oracle-products".
std::string option_name(std::string_view field) {
  std::string name = "--" + std::string(field);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

[[noreturn]] void refuse(const std::string& option, const Method& method, const std::string& owners) {
  throw Error(ErrorCode::usage, fmt::format("{}: method {} does not have this option; it belongs to {}", option,
                                            method_name(method), owners));
}

using report::has_width_choice;

/// The rules of FWUA, the default first.
constexpr std::array<const char*, 3> kWidths{"balanced", "paper", "hybrid"};

bool has_step_choice(const Method& method) { return report::frank_wolfe(method) != nullptr; }

void set_width(Method& method, const std::string& width) {
  if (!has_width_choice(method)) refuse("--width", method, methods_where(has_width_choice));
  methods::FrankWolfe& loop = *report::frank_wolfe(method);
  if (width == "balanced") {
    loop.width = BalancedWidth{};
  } else if (width == "hybrid") {
    loop.width = HybridWidth{};
  } else {
    loop.width = PaperWidth{};
    loop.step = methods::StepRule::open_loop;  // the paper's method is both
  }
}

/// One meaning of a field. Methods that share it may differ in their defaults.
struct Meaning {
  std::string help;
  std::vector<std::pair<std::string, double>> defaults;  ///< by owner as a user names it: "sccg", "fwua --width paper"
};

struct KnownField {
  std::string name;
  bool whole;
  std::vector<Meaning> meanings;
};

void add_use(std::vector<KnownField>& all, const std::string& owner, const FieldInfo& field, double value) {
  auto known = std::find_if(all.begin(), all.end(), [&](const KnownField& other) { return other.name == field.name; });
  if (known == all.end()) known = all.insert(all.end(), {std::string(field.name), field.whole, {}});
  for (Meaning& meaning : known->meanings) {
    if (meaning.help != field.help) continue;
    if (meaning.defaults.back().first != owner) meaning.defaults.emplace_back(owner, value);
    return;
  }
  known->meanings.push_back({std::string(field.help), {{owner, value}}});
}

bool has_field(const Method& method, std::string_view name) {
  bool found = false;
  visit_fields(method, [&](const FieldInfo& field, double) { found = found || field.name == name; });
  return found;
}

/// The fields of a method that lets the user choose the width: those of every rule, the rule named only where it
/// matters.
void add_uses_by_width(std::vector<KnownField>& all, std::string_view name, const Method& method) {
  const auto with = [&](const char* width) {
    Method chosen = method;
    set_width(chosen, width);
    return chosen;
  };
  for (const char* width : kWidths) {
    const Method mine = with(width);
    visit_fields(mine, [&](const FieldInfo& field, double value) {
      const bool always = std::all_of(kWidths.begin(), kWidths.end(),
                                      [&](const char* other) { return has_field(with(other), field.name); });
      add_use(all, always ? std::string(name) : fmt::format("{} --width {}", name, width), field, value);
    });
  }
}

/// Every numeric option of every method, in the order of the methods.
std::vector<KnownField> all_fields() {
  std::vector<KnownField> all;
  for (const MethodHelp& help : method_help()) {
    const Method method = parse_method(help.name);
    if (has_width_choice(method)) {
      add_uses_by_width(all, help.name, method);
    } else {
      visit_fields(method,
                   [&](const FieldInfo& field, double value) { add_use(all, std::string(help.name), field, value); });
    }
  }
  return all;
}

std::string owners_of(const Meaning& meaning) {
  std::vector<std::string> owners;
  for (const auto& [owner, value] : meaning.defaults) owners.push_back(owner);
  return fmt::format("{}", fmt::join(owners, ", "));
}

std::string owners_of(const std::string& field) {
  std::vector<std::string> owners;
  for (const KnownField& known : all_fields()) {
    if (known.name != field) continue;
    for (const Meaning& meaning : known.meanings) owners.push_back(owners_of(meaning));
  }
  return fmt::format("{}", fmt::join(owners, ", "));
}

/// "(default: 4) [fwua, sccg]", or "(default: 5 for rlrmc, 10 for glrl)" where they differ.
std::string defaults_of(const Meaning& meaning) {
  const double first = meaning.defaults.front().second;
  const bool same = std::all_of(meaning.defaults.begin(), meaning.defaults.end(),
                                [&](const auto& owned) { return owned.second == first; });
  if (same) return fmt::format("(default: {:g}) [{}]", first, owners_of(meaning));
  std::vector<std::string> words;
  for (const auto& [owner, value] : meaning.defaults) words.push_back(fmt::format("{:g} for {}", value, owner));
  return fmt::format("(default: {})", fmt::join(words, ", "));
}

/// One line per meaning.
std::string help_of(const KnownField& known) {
  std::vector<std::string> lines;
  for (const Meaning& meaning : known.meanings) lines.push_back(meaning.help + " " + defaults_of(meaning));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string method_list() {
  std::string text = "how to solve it";
  for (const MethodHelp& help : method_help()) text += fmt::format("\n{}: {}", help.name, help.help);
  return text;
}

std::string range_words(const FieldInfo& field) {
  constexpr double unlimited = 1e300;
  const char* number = field.whole ? "a whole number" : "a number";
  if (field.upper >= unlimited) return fmt::format("{} that is {:g} or more", number, field.lower);
  return fmt::format("{} from {:.10g} to {:.10g}", number, field.lower, field.upper);
}

double to_field_value(const FieldInfo& field, const std::string& option, const std::string& text) {
  if (field.whole) {
    return static_cast<double>(
        to_integer(option, text, static_cast<std::int64_t>(field.lower), static_cast<std::int64_t>(field.upper)));
  }
  return to_number(option, text, {field.lower, field.upper, range_words(field)});
}

void set_field(Method& method, const std::string& name, const std::string& text) {
  const std::string option = option_name(name);
  if (!has_field(method, name)) refuse(option, method, owners_of(name));
  visit_fields(method, [&](const FieldInfo& field, double& value) {
    if (field.name == name) value = to_field_value(field, option, text);
  });
}

/// A rule for methods that choose between rules, a number for a method that has a field of that name.
void set_step(Method& method, const std::string& text) {
  if (has_field(method, "step")) return set_field(method, "step", text);
  if (!has_step_choice(method)) refuse("--step", method, methods_where(has_step_choice) + ", " + owners_of("step"));
  using methods::StepRule;
  const std::map<std::string, StepRule> rules{
      {"open-loop", StepRule::open_loop}, {"measured", StepRule::measured}, {"line-search", StepRule::line_search}};
  const auto chosen = rules.find(text);
  if (chosen == rules.end()) reject("--step", text, "open-loop, measured or line-search");
  report::frank_wolfe(method)->step = chosen->second;
}

}  // namespace

std::string methods_where(const std::function<bool(const Method&)>& holds) {
  std::vector<std::string_view> names;
  for (const MethodHelp& help : method_help()) {
    if (holds(parse_method(help.name))) names.push_back(help.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void MethodOptions::add_to(CLI::App& app) {
  app.add_option("--method", name_, method_list())
      ->type_name("NAME")
      ->default_str("fwua; with --gap corrective")
      ->group("Method");
  app.add_option_function<std::string>(
         "--width",
         [this](const std::string& text) {
           if (std::find(kWidths.begin(), kWidths.end(), text) == kWidths.end()) {
             reject("--width", text, fmt::format("one of {}", fmt::join(kWidths, ", ")));
           }
           width_ = text;
         },
         fmt::format("rule for the width: balanced splits the certified gap evenly between its two parts; paper is the "
                     "paper's (with --step open-loop); hybrid is the paper's with a floor [{}]",
                     methods_where(has_width_choice)))
      ->type_name(fmt::format("{}", fmt::join(kWidths, "|")))
      ->default_str(kWidths.front())
      ->group("Method");
  app.add_option_function<std::string>(
         "--step", [this](const std::string& text) { step_ = text; },
         fmt::format(
             "step length: 2/(k+2), 2/(k+d) with the best first step 2/d (measured), or the best on the segment "
             "(default: measured for fwua and rdfw, open-loop for the others) [{}]",
             methods_where(has_step_choice)))
      ->type_name("open-loop|measured|line-search")
      ->group("Method");
  add_fields(app);
}

void MethodOptions::add_fields(CLI::App& app) {
  for (const KnownField& known : all_fields()) {
    const std::string option = option_name(known.name);
    if (known.name == "step") {  // the option is there already: it also chooses a rule
      CLI::Option* step = app.get_option(option);
      step->description(step->get_description() + "\n" + help_of(known));
      step->type_name("open-loop|measured|line-search|X");
      continue;
    }
    const bool essential = std::find(kEssential.begin(), kEssential.end(), known.name) != kEssential.end();
    app.add_option_function<std::string>(
           option, [this, field = known.name](const std::string& text) { values_[field] = text; }, help_of(known))
        ->type_name(known.whole ? "N" : "X")
        ->group(essential ? "Method" : "Method details");
  }
}

std::string MethodOptions::default_name(bool asks_gap) const {
  const Method corrective = methods::Corrective{};
  const bool fits = !width_ && !step_ && std::all_of(values_.begin(), values_.end(), [&](const auto& value) {
    return has_field(corrective, value.first);
  });
  return asks_gap && fits ? method_name(corrective) : method_name(methods::FrankWolfe{});
}

Method MethodOptions::make(bool asks_gap) const {
  const std::string name = name_.value_or(default_name(asks_gap));
  Method method = parse_for("--method", [&] { return parse_method(name); });
  if (width_) set_width(method, *width_);
  if (step_) set_step(method, *step_);
  for (const auto& [field, text] : values_) set_field(method, field, text);
  return method;
}

}  // namespace tracenorm::app
