#include "run_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/topic.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "process_ranks.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> command_line;

std::string word_name(std::size_t k) { return fmt::format("word{}", k); }

State kept_command() {
  State state;
  state.texts["folder"] = fs::current_path().string();
  std::size_t count = 0;
  for (const std::string& word : command_line) {
    if (word != "--resume") state.texts[word_name(count++)] = word;
  }
  return state;
}

}  // namespace

void add_checkpoint_options(CLI::App& app, CheckpointSettings& settings) {
  app.add_option("--checkpoint", settings.file,
                 "keep the run here as it goes, so that `tracenorm resume FILE` can go on with it; goes when the run "
                 "is done")
      ->type_name("FILE")
      ->group("Run");
  add_number(app, "--checkpoint-every", settings.options.seconds, kNotNegative,
             "about so many seconds between two; 0: as often as possible")
      ->group("Run");
  add_number(
      app, "--checkpoint-passes", settings.options.leg_passes, kPositive,
      "a run can be kept every so many passes over the data (by default about 1e11 / entries, 200 to 5000); part "
      "of what makes the bits of the answer, unlike the seconds")
      ->group("Run");
  app.add_flag("--resume", settings.resume, "go on from --checkpoint FILE")->group("Run");
}

void set_command_line(std::vector<std::string> words) { command_line = std::move(words); }

KeptCommand command_of(const Checkpoint& checkpoint, const std::string& file) {
  const auto folder = checkpoint.run.texts.find("folder");
  if (folder == checkpoint.run.texts.end()) {
    throw Error(ErrorCode::input, fmt::format("'{}' was not made by this program's commands, but by the library; go on "
                                              "with it there",
                                              file));
  }
  KeptCommand command{folder->second, {}};
  for (auto at = checkpoint.run.texts.find(word_name(0)); at != checkpoint.run.texts.end();
       at = checkpoint.run.texts.find(word_name(command.words.size()))) {
    command.words.push_back(at->second);
  }
  return command;
}

RunCheckpoint::RunCheckpoint(const CheckpointSettings& settings, bool quiet) : file_(settings.file), quiet_(quiet) {
  if (file_.empty()) {
    if (settings.resume)
      throw TopicError(ErrorCode::usage, Topic::checkpoint, "--resume: goes on from --checkpoint FILE; give that, too");
    return;
  }
  Checkpoint from;
  if (settings.resume) {
    from = about(Topic::checkpoint, [&] { return io::read_checkpoint(file_); });
    written_ = true;
  } else if (is_spokesman() && fs::exists(file_) && fs::is_regular_file(file_)) {
    throw TopicError(
        ErrorCode::input, Topic::checkpoint,
        fmt::format("--checkpoint: '{}' is there already; go on from it with --resume or `tracenorm resume`, or "
                    "remove it",
                    file_));
  }
  from.run = kept_command();
  checkpoints_ = std::make_unique<Checkpoints>(
      std::move(from), fmt::format("'{}'", file_), [this](const Checkpoint& checkpoint) { write(checkpoint); },
      settings.options);
}

void RunCheckpoint::write(const Checkpoint& checkpoint) {
  if (!is_spokesman()) return;
  try {
    io::write_checkpoint(file_, checkpoint);
    written_ = true;
    failed_ = false;
  } catch (const Error& error) {  // the run is worth more than its checkpoint, of which the last one stays
    if (!std::exchange(failed_, true)) note(quiet_, fmt::format("{}; the run goes on without", error.what()));
  }
}

void RunCheckpoint::end(bool done) {
  if (checkpoints_ == nullptr || !is_spokesman()) return;
  if (done) {
    std::error_code ignored;
    if (written_) fs::remove(file_, ignored);
    return;
  }
  if (checkpoints_->open()) checkpoints_->write();  // stopped by a limit that may be given anew
  if (written_) {
    note(quiet_, fmt::format("go on with: tracenorm resume {}", file_));
  }
}

}  // namespace tracenorm::app
