#include "program.hpp"

#include <CLI/Config.hpp>
#include <memory>

#include "help_format.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/version.hpp"

namespace tracenorm::app {

void set_up(CLI::App& program, Action& action) {
  program.description("Low-rank matrix estimation with nonsmooth losses under a trace-norm bound, with a certificate.");
  program.set_version_flag("--version", std::string("tracenorm ") + TRACENORM_VERSION, "print the version");
  program.set_help_flag("--help,-h", "print this help");
  program.formatter(std::make_shared<HelpFormat>());  // before the commands, which inherit it
  program.require_subcommand(1);
  add_complete(program, action);
  add_denoise(program, action);
  add_links(program, action);
  add_evaluate(program, action);
  add_predict(program, action);
  add_recommend(program, action);
  add_generate(program, action);
  add_reproduce(program, action);
  add_fetch(program, action);
  add_info(program, action);
  for (CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) command->group("Commands");
  program.footer(R"(Examples:
  tracenorm complete ratings.csv --model m.npz
  tracenorm complete u.data --radius 1200 --split 0.5,0.25,0.25
  tracenorm generate completion train.tsv --truth truth.tsv
  tracenorm complete --help)");
}

int run_command(const std::vector<std::string>& words) {
  CLI::App program{"", "tracenorm"};
  Action action;
  set_up(program, action);
  try {
    program.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // it takes the last word first
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::usage, error.what());
  }
  return action();
}

}  // namespace tracenorm::app
