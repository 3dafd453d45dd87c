// How help texts look: the default and "required" stand after the explanation, not inside the option's name.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>
#include <string>
#include <vector>

namespace tracenorm::app {

class HelpFormat final : public CLI::Formatter {
 public:
  HelpFormat();

  std::string make_group(std::string group, bool is_positional, std::vector<const CLI::Option*> opts) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace tracenorm::app
