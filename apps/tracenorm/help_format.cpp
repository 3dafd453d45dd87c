#include "help_format.hpp"

#include <algorithm>
#include <utility>

namespace tracenorm::app {

namespace {

constexpr std::size_t kNameColumns = 34;
constexpr std::size_t kTextColumns = 92;

/// Breaks lines at blanks; a line that continues another is set in by two.
std::string wrapped(const std::string& text) {
  std::string result;
  std::size_t line = 0;  // where the current line begins
  for (const char c : text) {
    result += c;
    if (c == '\n') line = result.size();
    if (result.size() - line <= kTextColumns) continue;
    const std::size_t blank = result.rfind(' ');
    if (blank == std::string::npos || blank <= line + 2) continue;
    result.replace(blank, 1, "\n  ");
    line = blank + 1;
  }
  return result;
}

}  // namespace

HelpFormat::HelpFormat() {
  column_width(kNameColumns);
  label("Positionals", "Arguments");
  label("SUBCOMMAND", "COMMAND");
}

std::string HelpFormat::make_group(std::string group, bool is_positional, std::vector<const CLI::Option*> opts) const {
  // Groups after the first are already set off by a line of their own.
  const bool first = is_positional || group == get_label("Options");
  std::string text = CLI::Formatter::make_group(std::move(group), is_positional, std::move(opts));
  if (!first) text.erase(0, 1);
  return text;
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  if (option->get_positional() || option->get_type_size() == 0) return {};
  return " " + option->get_type_name();
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  if (option->get_positional()) return text;
  std::string remark;
  if (option->get_required()) remark = " (required)";
  if (!option->get_default_str().empty()) remark = " (default: " + option->get_default_str() + ")";
  return wrapped(text.insert(std::min(text.find('\n'), text.size()), remark));
}

}  // namespace tracenorm::app
