// The program: finds the subcommand, runs it, and turns what went wrong into one line on standard error and an exit
// code.
#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

#include "commands.hpp"
#include "help_format.hpp"
#include "memory.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "process_ranks.hpp"
#include "reading_options.hpp"
#include "run_checkpoint.hpp"
#include "suggestion.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/version.hpp"

namespace tracenorm::app {

namespace {

/// Every command with its options; parsing a command line then sets `action`.
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
  tracenorm evaluate ratings.csv
  tracenorm generate completion train.tsv --truth truth.tsv
  tracenorm complete --help)");
}

constexpr int kUsage = static_cast<int>(ErrorCode::usage);

/// Whether something went wrong, other than what a result may say.
bool failed = false;

int complain(std::string_view message, int code) {
  failed = true;
  tell_user(fmt::format("tracenorm: error: {}\n", message));
  return code;
}

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

int usage_error(const CLI::App& program, std::string_view message) {
  complain(message, kUsage);
  tell_user(fmt::format("Try '{} --help'.\n", full_name(named_command(program))));
  return kUsage;
}

/// Whether ranks share its work; what solves nothing is done by one of them.
bool works_on_ranks(const std::string& command) {
  constexpr std::array names{"complete", "denoise", "links", "evaluate", "resume"};
  return std::find(names.begin(), names.end(), command) != names.end();
}

int parse_error(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& app = named_command(program);
  const std::vector<std::string> strangers = program.remaining(true);
  if (!strangers.empty()) return usage_error(program, describe_stranger(app, strangers.front()));
  if (const auto commands = command_names(app); !commands.empty()) {
    return usage_error(program, fmt::format("a command is missing; give one of {}", fmt::join(commands, ", ")));
  }
  return usage_error(program, error.what());
}

}  // namespace

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
    return parse_error(program, error);
  } catch (const Error& error) {
    return usage_error(program, message_of(error));
  }
  try {
    if (!is_spokesman() && !works_on_ranks(named_command(program).get_name())) return 0;
    return action();
  } catch (const io::ReadError& error) {
    return complain(message_with_option(error, named_command(program)), static_cast<int>(error.code()));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::usage) return usage_error(program, message_of(error));
    throw;
  }
}

}  // namespace tracenorm::app

int main(int argc, char** argv) {
  using namespace tracenorm;
  // A file that grows beyond a limit must be an error of the write, with a message, not the death of the program.
  std::signal(SIGXFSZ, SIG_IGN);
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 22);  // entry-sized arrays go back to the system when they are freed
#endif
  int code = 0;
  try {
    app::join_ranks();
    code = app::run_program({argv + std::min(argc, 1), argv + argc});
  } catch (const Error& error) {
    code = app::complain(app::message_of(error), static_cast<int>(error.code()));
  } catch (const std::bad_alloc&) {
    const std::size_t bytes = app::refused_bytes();
    const std::string wanted = bytes > 0 ? fmt::format(": {} bytes more were wanted", bytes) : "";
    // At once: without memory, threads of other libraries have been seen to hold up the end for ever.
    std::_Exit(app::end_after_error(app::complain(fmt::format("not enough memory for this problem{}", wanted),
                                                  static_cast<int>(ErrorCode::input))));
  } catch (const std::exception& error) {
    code = app::complain(error.what(), static_cast<int>(ErrorCode::numerical));
  }
  return app::failed ? app::end_after_error(code) : code;
}
