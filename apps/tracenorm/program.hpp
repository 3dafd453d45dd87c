// The program's command line as a whole.
#pragma once

#include <string>
#include <vector>

#include "commands.hpp"

namespace tracenorm::app {

/// Every command with its options; parsing a command line then sets `action`.
void set_up(CLI::App& program, Action& action);

/// Runs a command as if it had been typed, and returns its exit code. What is wrong with it is a usage error.
int run_command(const std::vector<std::string>& words);

}  // namespace tracenorm::app
