// tracenorm predict: the entries of a saved model at given (row, column) pairs, in the units of the raw data.
#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <optional>

#include "base/block_sums.hpp"
#include "base/topic.hpp"
#include "commands.hpp"
#include "model_input.hpp"
#include "option_values.hpp"
#include "output_stream.hpp"
#include "outputs.hpp"
#include "process_ranks.hpp"
#include "reading_options.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

namespace {

struct PredictOptions {
  std::string model;
  std::string pairs;
  std::string new_rows;
  io::ReadOptions read;
  std::string output{kStdout};
  std::optional<double> interval;
  int threads = 0;
  bool strict = false;
  bool quiet = false;
};

constexpr const char* kPredictExamples = R"(Examples:
  tracenorm predict model.npz pairs.tsv
  tracenorm predict model.npz pairs.tsv --output predictions.tsv --strict
  tracenorm predict model.npz pairs.tsv --new-rows newcomers.csv

PAIRS has a row name and a column name per line, a value is ignored, and the first line may be a header. The output has row, column and prediction, separated by
tabs, in the same order, and with --interval the ends of an interval that holds the entry with that probability. A row or column the model does
not know gets the mean of the training data, plus the offset of the side that is known where the model has offsets. A row that --new-rows has
entries of is fitted to them, by the model's loss and at the price that the rows of the training data paid for their size.)";

[[noreturn]] void refuse_unknown(const PredictOptions& options, std::size_t line, const io::Pairs& pairs,
                                 bool row_known) {
  throw TopicError(ErrorCode::input, Topic::unknown_names,
                   fmt::format("{}: pair {}: the model does not know {} '{}'; leave the pair out, or drop "
                               "--strict to predict the mean",
                               options.pairs, line + 1, row_known ? "column" : "row",
                               row_known ? pairs.col[line] : pairs.row[line]));
}

/// Where a pair is in the model, or among the new rows.
struct Place {
  Index row;
  Index col;
  const NewRow* folded;
  [[nodiscard]] bool row_known() const { return row != Preparation::kUnknown || folded != nullptr; }
  [[nodiscard]] bool known() const { return row_known() && col != Preparation::kUnknown; }
};

Index index_of(const std::optional<Index>& found) { return found.value_or(Preparation::kUnknown); }

/// What a pair gets that the model cannot answer in full.
std::string fallback(const Preparation& preparation) {
  if (has_offsets(preparation.kind)) return "the offsets of what is known";
  return fmt::format("the mean {:.7g}", preparation.base(Preparation::kUnknown, Preparation::kUnknown));
}

int run(const PredictOptions& options) {
  check_outputs({{"--output", options.output}}, {options.model, options.pairs, options.new_rows});
  const Model model = open_model(options.model);
  if (options.interval && !model.spread) {
    throw Error(ErrorCode::usage, fmt::format("--interval: {} does not say how far its predictions are off; models of "
                                              "`complete` with a radius that was chosen do",
                                              options.model));
  }
  const NewRows fresh(model, options.new_rows, {}, options.quiet);
  io::Pairs pairs = io::read_pairs(options.pairs, options.read);
  const io::LabelIndex rows(model.rows, model.factors.rows());
  const io::LabelIndex cols(model.cols, model.factors.cols());
  const bool guessed = options.read.columns.empty();
  if (guessed && pairs.header && rows.find(pairs.header->first) && cols.find(pairs.header->second)) {
    // It looked like a header, but the model knows these names.
    pairs.row.insert(pairs.row.begin(), pairs.header->first);
    pairs.col.insert(pairs.col.begin(), pairs.header->second);
  }
  const Offset size = static_cast<Offset>(pairs.row.size());
  const Execution execution(own_threads(options.threads));
  std::vector<Place> places(pairs.row.size());
  for_each_element(execution, places.size(), [&](std::size_t p) {
    places[p] = {index_of(rows.find(pairs.row[p])), index_of(cols.find(pairs.col[p])), fresh.find(pairs.row[p])};
  });
  Offset unknown = 0;
  for (std::size_t p = 0; p < places.size(); ++p) {
    if (places[p].known()) continue;
    if (options.strict) refuse_unknown(options, p, pairs, places[p].row_known());
    ++unknown;
  }
  OutputStream lines(options.output);
  write_in_waves(execution, size, 4096, lines, [&](Offset first, Offset count, std::string& text) {
    for (auto p = static_cast<std::size_t>(first); p < static_cast<std::size_t>(first + count); ++p) {
      const Place& place = places[p];
      const double prediction =
          place.folded != nullptr ? place.folded->predict(model, place.col) : model.predict(place.row, place.col);
      fmt::format_to(std::back_inserter(text), "{}\t{}\t{:.7g}", pairs.row[p], pairs.col[p], prediction);
      if (options.interval) {
        const auto [lower, upper] = model.interval(*options.interval, prediction, place.row, place.col);
        fmt::format_to(std::back_inserter(text), "\t{:.7g}\t{:.7g}", lower, upper);
      }
      text.push_back('\n');
    }
  });
  lines.finish();
  if (guessed && !pairs.header && !rows.find(pairs.row.front()) && !cols.find(pairs.col.front())) {
    note(options.quiet,
         fmt::format("{}: the model knows nothing of the first line, '{}' and '{}'; if it is a header, "
                     "say so with --columns {},{}",
                     options.pairs, pairs.row.front(), pairs.col.front(), pairs.row.front(), pairs.col.front()));
  }
  if (unknown > 0) {
    note(options.quiet, fmt::format("{} of {} pairs have a row or column the model does not know; they got {}", unknown,
                                    pairs.row.size(), fallback(model.preparation)));
  }
  return 0;
}

}  // namespace

void add_predict(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("predict", "predictions of a saved model for given (row, column) pairs");
  const auto options = std::make_shared<PredictOptions>();
  add_model_argument(*app, options->model);
  app->add_option("PAIRS", options->pairs, "row and column names, one pair per line")->required()->type_name("FILE");
  add_columns_option(*app, options->read, "ROW,COLUMN");
  add_new_rows_option(*app, options->new_rows);
  app->add_option("--output", options->output, "where the predictions go; - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  add_number(*app, "--interval", options->interval, kProbability,
             "two more columns: ends of intervals that hold this share of entries to come, 0.9 say");
  add_integer(*app, "--threads", options->threads, 0, 4096, "0: all cores; the result does not depend on it");
  app->add_flag("--strict", options->strict, "an unknown row or column is an error");
  app->add_flag("--quiet,-q", options->quiet, "no notes");
  app->footer(kPredictExamples);
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
