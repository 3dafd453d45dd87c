#include "help_format.hpp"

#include <algorithm>
#include <memory>
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

HelpFormat::HelpFormat(std::vector<std::string> first) : first_(std::move(first)) {
  column_width(kNameColumns);
  label("Positionals", "Arguments");
  label("SUBCOMMAND", "COMMAND");
}

std::string HelpFormat::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  if (first_.empty() || mode == CLI::AppFormatMode::All) return CLI::Formatter::make_help(app, std::move(name), mode);
  std::vector<const CLI::Option*> options;
  for (const std::string& option : first_) options.push_back(app->get_option(option));
  brief_ = true;
  const std::string list = make_group(get_label("Options"), false, options);
  brief_ = false;
  return make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) + list + "\n" +
         make_footer(app);
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
  if (brief_) text.erase(std::min(text.find('\n'), text.size()));
  std::string remark;
  if (option->get_required()) remark = " (required)";
  if (!option->get_default_str().empty()) remark = " (default: " + option->get_default_str() + ")";
  return wrapped(text.insert(std::min(text.find('\n'), text.size()), remark));
}

void show_first(CLI::App& command, std::vector<std::string> options) {
  command.set_help_all_flag("--help-all", "print all options, those of the methods too");
  options.insert(options.begin(), {"--help", "--help-all"});
  command.formatter(std::make_shared<HelpFormat>(std::move(options)));
}

}  // namespace tracenorm::app
