// tracenorm generate: synthetic problems with known truth.
#include "generate.hpp"

#include <filesystem>

#include "commands.hpp"
#include "option_values.hpp"

namespace tracenorm::app {

std::string GenerateOptions::truth_path() const {
  if (!want_truth) return {};
  if (!truth.empty()) return truth;
  const std::filesystem::path path(file);
  return (path.parent_path() / (path.stem().string() + ".truth" + path.extension().string())).string();
}

OutputPaths GenerateOptions::outputs() const { return {{"FILE", file}, {"--truth", truth_path()}, {"--json", json}}; }

void add_generate_options(CLI::App& app, GenerateOptions& options, const std::string& file_type,
                          const std::string& truth_help) {
  app.add_option("FILE", options.file, "where the data go")->required()->type_name(file_type);
  app.add_option_function<std::string>(
         "--truth",
         [&options](const std::string& text) {
           options.want_truth = true;
           options.truth = text;
         },
         truth_help)
      ->expected(0, 1)
      ->type_name("[FILE]")
      ->group("Output");
  app.add_option("--json", options.json, "what was made, for scripts; - for standard output")
      ->type_name("FILE")
      ->group("Output");
  app.add_flag("--quiet,-q", options.quiet, "no summary")->group("Output");
  add_seed(app, options.seed, "of everything random; the same seed gives the same files");
}

void report_facts(const GenerateOptions& options, const std::vector<report::NamedValue>& facts) {
  if (!options.json.empty()) write_output(options.json, report::to_json(facts));
  if (!options.quiet && options.json != kStdout) write_output(std::string(kStdout), report::to_text(facts));
}

void add_generate(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("generate", "synthetic problems with known truth");
  app->require_subcommand(1);
  add_generate_covariance(*app, action);
  add_generate_completion(*app, action);
  app->footer(R"(Examples:
  tracenorm generate covariance cov.npy --n 750 --truth
  tracenorm generate completion train.tsv --rows 1000 --cols 800 --rank 5 --observed 0.2 --outliers 0.1 --truth truth.tsv)");
}

}  // namespace tracenorm::app
