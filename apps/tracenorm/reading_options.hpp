// The options about how files are read.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "tracenorm/io.hpp"

namespace tracenorm::app {

void add_reading_options(CLI::App& app, io::ReadOptions& options);

/// `--columns` alone, for commands that read nothing but triplets or pairs.
void add_columns_option(CLI::App& app, io::ReadOptions& options, const std::string& type_name);

/// The message of a reader's complaint, with the option of this command that may settle it.
std::string message_with_option(const io::ReadError& error, const CLI::App& command);

}  // namespace tracenorm::app
