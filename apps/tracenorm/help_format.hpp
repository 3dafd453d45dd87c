// How help texts look: the default and "required" stand after the explanation, not inside the option's name. Commands
// with many options show the few that people need, and all of them with --help-all.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

namespace tracenorm::app {

class HelpFormat final : public CLI::Formatter {
 public:
  /// `first`: the options that --help shows, in this order; empty: all.
  explicit HelpFormat(std::vector<std::string> first = {});

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_group(std::string group, bool is_positional, std::vector<const CLI::Option*> opts) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;

 private:
  std::vector<std::string> first_;
  mutable bool brief_ = false;  // descriptions end at the first line; CLI11's functions are const
};

/// From here on --help of this command shows only these options, and --help-all shows all.
void show_first(CLI::App& command, std::vector<std::string> options);

}  // namespace tracenorm::app
