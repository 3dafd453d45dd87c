#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/Config.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "help_format.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "process_ranks.hpp"
#include "reading_options.hpp"
#include "run_checkpoint.hpp"
#include "suggestion.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/version.hpp"
#include "troubleshooting.hpp"

namespace tracenorm::app {

namespace {

/// The innermost subcommand that the command line named.
const CLI::App& named_command(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

std::string with_suggestion(std::string message, std::string_view word, const std::vector<std::string>& known) {
  if (const auto meant = nearest(word, known)) message += fmt::format("; did you mean {}?", *meant);
  return message;
}

/// About the first word of the command line that nothing claimed.
std::string describe_stranger(const CLI::App& app, const std::string& word) {
  if (word.rfind("--", 0) == 0) {
    const std::string name = word.substr(0, word.find('='));
    return with_suggestion(fmt::format("unknown option {}", name), name, option_names(app));
  }
  if (const auto commands = command_names(app); !commands.empty()) {
    std::string message = fmt::format("unknown command '{}'", word);
    message = with_suggestion(message, word, commands);
    return message + fmt::format(" (commands: {})", fmt::join(commands, ", "));
  }
  return fmt::format("unexpected argument '{}'", word);
}

bool something_failed = false;

int usage_error(const CLI::App& program, std::string_view message, std::string_view anchor) {
  const int code = complain(message, ErrorCode::usage, anchor);
  tell_user(fmt::format("Try '{} --help'.\n", full_name(named_command(program))));
  return code;
}

/// Whether ranks share its work; what solves nothing is done by one of them.
bool works_on_ranks(const std::string& command) {
  constexpr std::array names{"tracenorm complete", "tracenorm denoise",   "tracenorm covariance",
                             "tracenorm links",    "tracenorm evaluate",  "tracenorm resume",
                             "tracenorm predict",  "tracenorm recommend", "tracenorm generate completion"};
  return std::find(names.begin(), names.end(), command) != names.end();
}

}  // namespace

void set_up(CLI::App& program, Action& action) {
  program.description("Low-rank matrix estimation with nonsmooth losses under a trace-norm bound, with a certificate.");
  program.set_version_flag("--version", std::string("tracenorm ") + TRACENORM_VERSION, "print the version");
  program.set_help_flag("--help,-h", "print this help");
  program.formatter(std::make_shared<HelpFormat>());  // before the commands, which inherit it
  program.require_subcommand(1);
  add_complete(program, action);
  add_denoise(program, action);
  add_covariance(program, action);
  add_links(program, action);
  add_evaluate(program, action);
  add_resume(program, action);
  add_predict(program, action);
  add_recommend(program, action);
  add_verify(program, action);
  add_similar(program, action);
  add_generate(program, action);
  add_info(program, action);
  for (CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) command->group("Commands");
  program.footer(R"(Examples:
  tracenorm complete ratings.csv --model m.npz --report run.html
  tracenorm recommend m.npz --row alice --seen ratings.csv
  tracenorm denoise noisy.npy --output clean.npy
  tracenorm covariance samples.csv --output covariance.csv
  tracenorm evaluate ratings.csv
  tracenorm generate completion train.tsv --truth truth.tsv
  tracenorm complete --help)");
}

std::string usage_message(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& app = named_command(program);
  const std::vector<std::string> strangers = program.remaining(true);
  if (!strangers.empty()) return describe_stranger(app, strangers.front());
  if (const auto commands = command_names(app); !commands.empty()) {
    return fmt::format("a command is missing; give one of {}", fmt::join(commands, ", "));
  }
  return error.what();
}

int complain(std::string_view message, ErrorCode code, std::string_view anchor) {
  something_failed = true;
  tell_user(fmt::format("tracenorm: error: {}\nSee docs: troubleshooting#{}\n", message, anchor));
  return static_cast<int>(code);
}

bool complained() { return something_failed; }

int run_program(const std::vector<std::string>& words) {
  set_command_line(words);
  CLI::App program{"", "tracenorm"};
  Action action;
  set_up(program, action);
  try {
    program.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // it takes them from the end
  } catch (const CLI::Success& request) {                                   // --help, --version
    const int code = program.exit(request);
    flush_stdout();
    return code;
  } catch (const CLI::ParseError& error) {
    const bool strange = !program.remaining(true).empty();
    return usage_error(program, usage_message(program, error),
                       strange ? kUnknownWord : troubleshooting_anchor(ErrorCode::usage));
  } catch (const Error& error) {
    return usage_error(program, message_of(error), troubleshooting_anchor(error));
  }
  try {
    if (!is_spokesman() && !works_on_ranks(full_name(named_command(program)))) return 0;
    return action();
  } catch (const io::ReadError& error) {
    return complain(message_with_option(error, named_command(program)), error.code(), troubleshooting_anchor(error));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::usage) return usage_error(program, message_of(error), troubleshooting_anchor(error));
    throw;
  }
}

}  // namespace tracenorm::app
