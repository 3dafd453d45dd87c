// Where results go. Outputs are tried before the work starts, so that a long run is never lost to a wrong path.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracenorm::app {

/// "-" stands for standard output, and as an input for standard input.
inline constexpr std::string_view kStdout = "-";
inline constexpr std::string_view kStdin = "-";

/// Outputs of a command as (option, path); empty paths were not asked for.
using OutputPaths = std::vector<std::pair<std::string, std::string>>;

/// Throws an input error that names the option when a path cannot be written, and a usage error when two outputs share
/// a path, one would overwrite an input, or two inputs are standard input. Inputs are words of the command line:
/// folders, patterns and "@list" mean the files in them, and that list.
void check_outputs(const OutputPaths& outputs, const std::vector<std::string>& words);

/// Writes to a file (by way of a temporary one) or to standard output.
void write_output(const std::string& path, std::string_view text);

/// Throws an input error when something written to standard output could not be delivered.
void flush_stdout();

/// On standard error, if anybody is there to read it: a terminal that is gone does not matter.
void tell_user(const std::string& text);

/// "tracenorm: note: ..." on standard error, unless quiet.
void note(bool quiet, std::string_view text);

}  // namespace tracenorm::app
