#include "method_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "option_values.hpp"

namespace tracenorm::app {

namespace {

/// The options that define the problem a method solves, and the rules it goes by; the others tune how it is solved.
constexpr std::array<std::string_view, 4> kEssential{"width", "step", "rank", "trace_penalty"};

/// Methods that share a default, in words.
struct Default {
  std::string value;
  std::vector<std::string> owners;
};

/// One meaning of an option. Methods that share it may differ in their defaults.
struct Meaning {
  std::string_view help;
  std::string type;  ///< "N", "X", or the words there are
  std::vector<Default> defaults;
};

struct KnownOption {
  std::string name;
  std::vector<Meaning> meanings;
};

std::string type_of(const Option& option) {
  if (!option.words.empty()) return fmt::format("{}", fmt::join(option.words, "|"));
  return option.field.whole ? "N" : "X";
}

/// The element for which this holds, or a new one at the end.
template <class T, class Holds>
T& find_or_add(std::vector<T>& all, const Holds& holds, T fresh) {
  const auto at = std::find_if(all.begin(), all.end(), holds);
  return at != all.end() ? *at : all.emplace_back(std::move(fresh));
}

/// Every option of every method by its name, in the order of the methods.
std::vector<KnownOption> known_options() {
  std::vector<KnownOption> all;
  for (const auto& [owner, option] : method_options()) {
    if (option.words.size() == 1) continue;  // the rule that defines the method
    const std::string name(option.field.name);
    const std::string_view help = option.field.help;
    const std::string value = plain_text(option.value);
    auto& known = find_or_add(all, [&](const KnownOption& other) { return other.name == name; }, {name, {}});
    auto& meaning = find_or_add(known.meanings, [&](const Meaning& other) { return other.help == help; },
                                {help, type_of(option), {}});
    auto& owned =
        find_or_add(meaning.defaults, [&](const Default& other) { return other.value == value; }, {value, {}});
    owned.owners.push_back(owner);
  }
  return all;
}

/// "(default: 4) [fwua, sccg]", or "(default: 5 for rlrmc, 10 for glrl)" where they differ.
std::string defaults_of(const Meaning& meaning) {
  std::vector<std::string> words;
  for (const Default& one : meaning.defaults) {
    words.push_back(fmt::format("{} for {}", one.value, fmt::join(one.owners, ", ")));
  }
  if (words.size() > 1) return fmt::format("(default: {})", fmt::join(words, "; "));
  const Default& only = meaning.defaults.front();
  return fmt::format("(default: {}) [{}]", only.value, fmt::join(only.owners, ", "));
}

/// One line per meaning.
std::string help_of(const KnownOption& known) {
  std::vector<std::string> lines;
  for (const Meaning& meaning : known.meanings)
    lines.push_back(fmt::format("{} {}", meaning.help, defaults_of(meaning)));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

/// "fwua, rdfw": who has the option in any of its meanings; a remark such as "with width paper" is left to its help.
std::string owners_of(const KnownOption& known) {
  std::vector<std::string> owners;
  for (const Meaning& meaning : known.meanings) {
    for (const Default& one : meaning.defaults) {
      for (const std::string& owner : one.owners) {
        std::string name = owner.substr(0, owner.find(' '));
        if (std::find(owners.begin(), owners.end(), name) == owners.end()) owners.push_back(std::move(name));
      }
    }
  }
  return fmt::format("{}", fmt::join(owners, ", "));
}

std::string types_of(const KnownOption& known) {
  std::vector<std::string> types;
  for (const Meaning& meaning : known.meanings) {
    if (std::find(types.begin(), types.end(), meaning.type) == types.end()) types.push_back(meaning.type);
  }
  return fmt::format("{}", fmt::join(types, "|"));
}

std::string method_list() {
  std::string text = "how to solve it";
  for (const MethodHelp& help : method_help()) text += fmt::format("\n{}: {}", help.name, help.help);
  return text;
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
  for (const KnownOption& known : known_options()) {
    const bool essential = std::find(kEssential.begin(), kEssential.end(), known.name) != kEssential.end();
    app.add_option_function<std::string>(
           option_name(known.name),
           [this, name = known.name](const std::string& text) { given_.emplace_back(name, parse_value(text)); },
           help_of(known))
        ->type_name(types_of(known))
        ->group(essential ? "Method" : "Method " + owners_of(known));
  }
}

}  // namespace tracenorm::app
