// One function per subcommand: it adds the subcommand and its options to the program. When the command line names it,
// `action` becomes the work to do; the work starts only after the whole command line was found good.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

namespace tracenorm::app {

/// Returns the exit code.
using Action = std::function<int()>;

/// Runs a command line, without the program's own name.
int run_program(const std::vector<std::string>& words);

void add_complete(CLI::App& program, Action& action);
void add_denoise(CLI::App& program, Action& action);
void add_covariance(CLI::App& program, Action& action);
void add_links(CLI::App& program, Action& action);
void add_evaluate(CLI::App& program, Action& action);
void add_recommend(CLI::App& program, Action& action);
void add_similar(CLI::App& program, Action& action);
void add_resume(CLI::App& program, Action& action);
void add_predict(CLI::App& program, Action& action);
void add_verify(CLI::App& program, Action& action);
void add_generate(CLI::App& program, Action& action);
void add_info(CLI::App& program, Action& action);

/// The two subcommands of `generate`.
void add_generate_covariance(CLI::App& generate, Action& action);
void add_generate_completion(CLI::App& generate, Action& action);

}  // namespace tracenorm::app
