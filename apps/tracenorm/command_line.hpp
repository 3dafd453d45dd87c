// The command line as a whole: every command with its options, what is said of one that cannot be understood, and
// running it (`run_program` of commands.hpp).
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>

#include "commands.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

/// Every command with its options; parsing a command line then sets `action`.
void set_up(CLI::App& program, Action& action);

/// What is wrong with a command line that `program` could not parse.
std::string usage_message(const CLI::App& program, const CLI::ParseError& error);

/// Says an error to the user, and where the documentation says more of it; returns the exit code.
int complain(std::string_view message, ErrorCode code, std::string_view anchor);

/// Whether something went wrong, other than what a result may say.
bool complained();

}  // namespace tracenorm::app
