// tracenorm resume: goes on with a run from its checkpoint, as its own command line says.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/topic.hpp"
#include "commands.hpp"
#include "help_format.hpp"
#include "run_checkpoint.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

namespace {

namespace fs = std::filesystem;

/// What may differ from the command that made a checkpoint: limits, and where results go.
constexpr std::array<std::string_view, 10> kChangeable{
    "--iterations",       "--gap",   "--time",   "--patience", "--threads", "--json",
    "--checkpoint-every", "--model", "--report", "--output"};
constexpr std::array<std::string_view, 4> kFiles{"--json", "--model", "--report", "--output"};
constexpr std::array<std::string_view, 2> kFlags{"--quiet", "-q"};

template <class Names>
bool is_one_of(const Names& names, std::string_view word) {
  return std::find(names.begin(), names.end(), word) != names.end();
}

/// An option with its value, as "--gap 0.01" or "--gap=0.01" says it.
struct Change {
  std::string option;
  std::string value;
};

std::vector<Change> parse_changes(const std::vector<std::string>& words) {
  std::vector<Change> changes;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const std::size_t equals = words[k].find('=');
    const std::string option = words[k].substr(0, equals);
    if (is_one_of(kFlags, option)) {
      changes.push_back({option, {}});
      continue;
    }
    if (!is_one_of(kChangeable, option)) {
      throw Error(ErrorCode::usage, fmt::format("{}: cannot change while a run goes on; what can: {}, {}", option,
                                                fmt::join(kChangeable, ", "), kFlags.front()));
    }
    if (equals == std::string::npos && k + 1 >= words.size())
      throw Error(ErrorCode::usage, fmt::format("{}: a value is missing", option));
    std::string value = equals == std::string::npos ? words[++k] : words[k].substr(equals + 1);
    // The run goes on in the folder that its command was given in.
    if (is_one_of(kFiles, option) && value != "-") value = fs::absolute(value).string();
    changes.push_back({option, std::move(value)});
  }
  return changes;
}

/// Leaves out an option and its value.
void remove_option(std::vector<std::string>& words, const std::string& option) {
  for (std::size_t k = 0; k < words.size();) {
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(k);
    if (words[k] == option) {
      words.erase(at, at + (k + 1 < words.size() ? 2 : 1));
    } else if (words[k].starts_with(option + "=")) {
      words.erase(at);
    } else {
      ++k;
    }
  }
}

int resume(const std::string& file, const std::vector<std::string>& changed) {
  const std::vector<Change> changes = parse_changes(changed);
  KeptCommand command = about(Topic::checkpoint, [&] { return command_of(io::read_checkpoint(file), file); });
  const std::string path = fs::absolute(file).string();
  std::error_code failure;
  fs::current_path(command.folder, failure);
  if (failure) {
    throw Error(ErrorCode::input,
                fmt::format("'{}': its command was given in the folder '{}', which cannot be entered: {}", file,
                            command.folder, failure.message()));
  }
  std::vector<std::string>& words = command.words;
  remove_option(words, "--checkpoint");
  words.insert(words.end(), {"--checkpoint", path, "--resume"});
  for (const Change& change : changes) {
    if (is_one_of(kFlags, change.option)) {
      std::erase_if(words, [](const std::string& word) { return is_one_of(kFlags, word); });
      words.push_back(change.option);
    } else {
      remove_option(words, change.option);
      words.insert(words.end(), {change.option, change.value});
    }
  }
  return run_program(words);
}

}  // namespace

void add_resume(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("resume", "go on with a run from its checkpoint");
  const auto file = std::make_shared<std::string>();
  app->add_option("FILE", *file, "what --checkpoint of the run said")->required()->type_name("FILE");
  app->prefix_command();  // what follows are options of the command that goes on
  app->footer(fmt::format(R"(Examples:
  tracenorm complete ratings.csv --gap 0.001 --model m.npz --checkpoint run.npz
  tracenorm resume run.npz
  tracenorm resume run.npz --time 3600 --gap 0.002

The command line of the run is in the checkpoint. After FILE these may be given anew: {}, {}.)",
                          fmt::join(kChangeable, ", "), kFlags.front()));
  app->callback(
      [app, file, &action] { action = [file, changed = app->remaining()] { return resume(*file, changed); }; });
}

}  // namespace tracenorm::app
