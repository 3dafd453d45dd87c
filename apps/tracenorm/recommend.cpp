// tracenorm recommend: the columns with the largest predictions of a row.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "commands.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "reading_options.hpp"
#include "report/ranking.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

namespace {

struct RecommendOptions {
  std::string model;
  std::vector<std::string> rows;
  std::int64_t top = 10;
  std::string seen;
  io::ReadOptions read{.duplicates = io::ReadOptions::Duplicates::first};  // the values do not matter
  std::string output{kStdout};
  bool quiet = false;
};

constexpr const char* kRecommendExamples = R"(Examples:
  tracenorm recommend model.npz --row 196
  tracenorm recommend model.npz --row alice --row bob --top 20 --seen ratings.csv --output lists.tsv

The output has row, place, column and prediction, separated by tabs, best first. --seen leaves out what a row has already.
A row the model does not know gets the columns with the largest offsets, where the model has offsets.)";

/// Which columns each of the wanted rows has in the data already, ascending.
std::vector<std::vector<Index>> seen_columns(const RecommendOptions& options, const Model& model,
                                             const std::vector<std::optional<Index>>& rows) {
  std::vector<std::vector<Index>> seen(rows.size());
  if (options.seen.empty()) return seen;
  Offset unknown = 0;
  const io::NamedEntries table = io::read_entries_like(options.seen, model.rows, model.cols, model.factors.rows(),
                                                       model.factors.cols(), false, &unknown, options.read);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t e = 0; e < table.entries.row.size(); ++e) {
      if (rows[r] && table.entries.row[e] == *rows[r]) seen[r].push_back(table.entries.col[e]);
    }
    std::sort(seen[r].begin(), seen[r].end());
  }
  return seen;
}

int run(const RecommendOptions& options) {
  check_outputs({{"--output", options.output}}, {options.model, options.seen});
  const Model model = io::read_model(options.model);
  const io::LabelIndex names(model.rows, model.factors.rows());
  std::vector<std::optional<Index>> rows;
  for (const std::string& name : options.rows) {
    rows.push_back(names.find(name));
    if (rows.back()) continue;
    if (model.preparation.col_offset.empty()) {
      throw Error(ErrorCode::input, fmt::format("--row: the model does not know row '{}', and has no column offsets to "
                                                "answer by; give a row of the training data",
                                                name));
    }
    note(options.quiet, fmt::format("the model does not know row '{}': its list is by column offsets alone", name));
  }
  const std::vector<std::vector<Index>> seen = seen_columns(options, model, rows);
  fmt::memory_buffer text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::vector<double> prediction = report::row_predictions(model, rows[r]);
    std::size_t place = 0;
    for (const Index col : report::best_columns(prediction, seen[r], static_cast<std::size_t>(options.top))) {
      fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{:.7g}\n", options.rows[r], ++place, model.cols.name(col),
                     prediction[static_cast<std::size_t>(col)]);
    }
  }
  write_output(options.output, {text.data(), text.size()});
  return 0;
}

}  // namespace

void add_recommend(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("recommend", "the columns with the largest predictions for given rows");
  const auto options = std::make_shared<RecommendOptions>();
  app->add_option("MODEL", options->model, "a file that --model wrote")->required()->type_name("FILE.npz");
  app->add_option("--row", options->rows, "name of a row; may be given several times")
      ->required()
      ->type_name("ID")
      ->allow_extra_args(false);
  add_integer(*app, "--top", options->top, 1, 1'000'000'000, "how many columns a row gets");
  app->add_option("--seen", options->seen, "entries whose columns are left out for their row")->type_name("FILE");
  add_columns_option(*app, options->read, "USER,ITEM,VALUE");
  app->add_option("--output", options->output, "where the lists go; - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  app->add_flag("--quiet,-q", options->quiet, "no notes");
  app->footer(kRecommendExamples);
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
