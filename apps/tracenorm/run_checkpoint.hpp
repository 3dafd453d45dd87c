// The checkpoint file of a command: what led to it is in it, so that `resume` needs nothing else.
#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tracenorm/checkpoint.hpp"

namespace tracenorm::app {

struct CheckpointSettings {
  std::string file;  ///< empty: none
  CheckpointOptions options;
  bool resume = false;
};

void add_checkpoint_options(CLI::App& app, CheckpointSettings& settings);

/// The words of the command line that the program runs, without its own name.
void set_command_line(std::vector<std::string> words);

/// The command that a checkpoint was made by.
struct KeptCommand {
  std::string folder;  ///< where it was given
  std::vector<std::string> words;
};
KeptCommand command_of(const Checkpoint& checkpoint, const std::string& file);

class RunCheckpoint {
 public:
  /// Reads the file where the run goes on from it. An input error when it is there and the run does not.
  RunCheckpoint(const CheckpointSettings& settings, bool quiet);

  /// Null where none was asked for.
  [[nodiscard]] Checkpoints* get() { return checkpoints_.get(); }
  /// Everything is written. A run that is done needs its checkpoint no more; of others it says how to go on.
  void end(bool done);

 private:
  void write(const Checkpoint& checkpoint);

  std::string file_;
  bool quiet_;
  bool failed_ = false;
  bool written_ = false;
  std::unique_ptr<Checkpoints> checkpoints_;
};

}  // namespace tracenorm::app
