// tracenorm predict: the entries of a saved model at given (row, column) pairs, in the units of the raw data. Ranks
// have some rows of the model and some of the pairs each.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/among_ranks.hpp"
#include "base/block_sums.hpp"
#include "base/mail.hpp"
#include "base/topic.hpp"
#include "commands.hpp"
#include "io/row_directory.hpp"
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

/// How many pairs of all ranks are on their way at once: they may all be about rows that one rank has.
constexpr std::size_t kRound = std::size_t{1} << 17U;

/// Those of one of them.
std::size_t own_round() {
  constexpr std::size_t least = 4096;
  return std::max(least, kRound / static_cast<std::size_t>(ranks() == nullptr ? 1 : ranks()->size()));
}

/// Where a pair is in the whole model, or among the new rows.
struct Place {
  Index row;
  Index col;
  const NewRow* folded;
  [[nodiscard]] bool row_known() const { return row != Preparation::kUnknown || folded != nullptr; }
  [[nodiscard]] bool known() const { return row_known() && col != Preparation::kUnknown; }
};

/// What the rank that has a row says of an entry there: the prediction, and how far it may be off.
struct Answer {
  double prediction;
  double half_width;
};

/// The pairs that this rank has read, and where they are.
struct Asked {
  io::Pairs pairs;
  std::vector<Place> places{};
  std::vector<Offset> of_ranks{};  ///< how many pairs each rank has

  [[nodiscard]] std::size_t size() const { return pairs.row.size(); }
  [[nodiscard]] Offset before() const {
    const int rank = ranks() == nullptr ? 0 : ranks()->rank();
    return std::accumulate(of_ranks.begin(), of_ranks.begin() + rank, Offset{0});
  }
  [[nodiscard]] Offset all() const { return std::accumulate(of_ranks.begin(), of_ranks.end(), Offset{0}); }
};

/// What the first rank with something to say does say, to all of them; nothing where none has.
std::string first_word(const std::string& mine) {
  if (ranks() == nullptr) return mine;
  const std::vector<char> speaks = gathered(std::vector<char>{mine.empty() ? '\0' : '\1'}, ranks());
  const auto first = std::find(speaks.begin(), speaks.end(), '\1');
  return first == speaks.end() ? "" : told(mine, static_cast<int>(first - speaks.begin()), *ranks());
}

std::string unknown_name(const Asked& asked) {
  for (std::size_t p = 0; p < asked.size(); ++p) {
    if (asked.places[p].known()) continue;
    const bool row_known = asked.places[p].row_known();
    return fmt::format("{}: the model does not know {} '{}'; leave the pair out, or drop --strict to predict the mean",
                       asked.pairs.where(p), row_known ? "column" : "row",
                       row_known ? asked.pairs.col[p] : asked.pairs.row[p]);
  }
  return {};
}

/// The first line of all is, where nobody knows its names.
std::string unknown_first_line(const PredictOptions& options, const Asked& asked) {
  if (asked.size() == 0 || asked.before() > 0) return {};
  const auto& [row, col, folded] = asked.places.front();
  if (row != Preparation::kUnknown || col != Preparation::kUnknown) return {};
  return fmt::format(
      "{0}: the model knows nothing of the first line, '{1}' and '{2}'; if it is a header, say so with "
      "--columns {1},{2}",
      options.pairs, asked.pairs.row.front(), asked.pairs.col.front());
}

Index index_of(const std::optional<Index>& found) { return found.value_or(Preparation::kUnknown); }

Asked find_pairs(const PredictOptions& options, const std::vector<std::string>& files, const io::RowDirectory& rows,
                 const io::LabelIndex& cols, const NewRows& fresh, const Execution& execution) {
  Asked asked{io::read_pairs(files, options.read, ranks())};
  io::Pairs& pairs = asked.pairs;
  if (options.read.columns.empty() && pairs.header && cols.find(pairs.header->second) &&
      rows.find({&pairs.header->first, 1}, execution).front() != Preparation::kUnknown) {
    // It looked like a header, but the model knows these names.
    const auto& [row, col] = *pairs.header;
    if (files.size() > 1) {  // the same line may have been left out of others
      throw Error(ErrorCode::input,
                  fmt::format("'{0}': the first line, '{1}' and '{2}', looks like a header, but the model knows these "
                              "names; say --columns {1},{2} if it is one, and otherwise give one file at a time",
                              files.front(), row, col));
    }
    if (is_spokesman()) {
      pairs.row.insert(pairs.row.begin(), row);
      pairs.col.insert(pairs.col.begin(), col);
      pairs.where = [behind = std::move(pairs.where)](std::size_t pair) { return behind(pair - 1); };  // it is known
    }
  }
  asked.of_ranks = gathered(std::vector<Offset>{static_cast<Offset>(asked.size())}, ranks());
  asked.places.resize(asked.size());
  in_rounds(asked.size(), own_round(), ranks(), [&](std::size_t first, std::size_t count) {
    const std::vector<Index> row = rows.find({pairs.row.data() + first, count}, execution);
    for_each_element(execution, count, [&](std::size_t k) {
      const std::size_t p = first + k;
      asked.places[p] = {row[k], index_of(cols.find(pairs.col[p])), fresh.find(pairs.row[p])};
    });
  });
  return asked;
}

/// Pairs go to the ranks that have their rows, and their answers come back.
std::vector<Answer> answers(const PredictOptions& options, const Model& model, const RowBlocks& blocks,
                            std::span<const Place> places, const Execution& execution) {
  struct Question {
    Index row;
    Index col;
  };
  std::vector<Question> questions(places.size());
  std::vector<int> owners(places.size());
  for (std::size_t p = 0; p < places.size(); ++p) {
    questions[p] = {places[p].row, places[p].col};
    owners[p] = places[p].row == Preparation::kUnknown ? blocks.rank : blocks.owner(places[p].row);
  }
  const Mail mail(owners, ranks());
  questions = mail.deliver(std::move(questions));
  std::vector<Answer> given(questions.size());
  for_each_element(execution, questions.size(), [&](std::size_t q) {
    const Index row = questions[q].row == Preparation::kUnknown ? Preparation::kUnknown : blocks.here(questions[q].row);
    const Index col = questions[q].col;
    const double half_width = options.interval ? model.spread->half_width(*options.interval, row, col) : 0.0;
    given[q] = {model.predict(row, col), half_width};
  });
  return mail.reply(std::move(given));
}

/// The lines of all pairs: rounds of some pairs of every rank.
void write_predictions(const PredictOptions& options, const Model& model, const RowBlocks& blocks, const Asked& asked,
                       const Execution& execution) {
  constexpr Offset kBlock = 4096;
  OutputStream out(options.output);
  TurnStream lines(out);
  in_rounds(asked.size(), own_round(), ranks(), [&](std::size_t begin, std::size_t count) {
    const std::span<const Place> places(asked.places.data() + begin, count);
    const std::vector<Answer> given = answers(options, model, blocks, places, execution);
    std::vector<std::string> texts((count + kBlock - 1) / kBlock);
    execution.for_each_block(static_cast<Offset>(count), kBlock, [&](Offset first, Offset some) {
      std::string& text = texts[static_cast<std::size_t>(first / kBlock)];
      for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(first + some); ++k) {
        const Place& place = places[k];
        const double prediction =
            place.folded != nullptr ? place.folded->predict(model, place.col) : given[k].prediction;
        fmt::format_to(std::back_inserter(text), "{}\t{}\t{:.7g}", asked.pairs.row[begin + k],
                       asked.pairs.col[begin + k], prediction);
        if (options.interval) {
          const ValueRange& range = model.preparation.range;
          fmt::format_to(std::back_inserter(text), "\t{:.7g}\t{:.7g}", range.clip(prediction - given[k].half_width),
                         range.clip(prediction + given[k].half_width));
        }
        text.push_back('\n');
      }
    });
    for (std::string& text : texts) lines.write(std::move(text));
  });
  lines.finish();
  out.finish();
}

/// What a pair gets that the model cannot answer in full.
std::string fallback(const Preparation& preparation) {
  if (has_offsets(preparation.kind)) return "the offsets of what is known";
  return fmt::format("the mean {:.7g}", preparation.base(Preparation::kUnknown, Preparation::kUnknown));
}

int run(PredictOptions options) {
  options.read.threads = own_threads(options.threads);
  const std::vector<std::string> files = io::data_files({options.pairs});
  check_outputs({{"--output", options.output}}, {options.pairs, options.model, options.new_rows});
  RowBlocks blocks = shared_rows();
  Model model = open_model(options.model, blocks);
  if (options.interval && !model.spread) {
    throw Error(ErrorCode::usage, fmt::format("--interval: {} does not say how far its predictions are off; models of "
                                              "`complete` with a radius that was chosen do",
                                              options.model));
  }
  const NewRows fresh(model, options.new_rows, {.threads = options.read.threads}, options.quiet);
  const io::LabelIndex cols(model.cols, model.factors.cols());
  const io::RowDirectory rows(std::move(model.rows), blocks, ranks());
  const Execution execution(options.read.threads);
  const Asked asked = find_pairs(options, files, rows, cols, fresh, execution);
  if (options.strict) {
    if (const std::string refusal = first_word(unknown_name(asked)); !refusal.empty())
      throw TopicError(ErrorCode::input, Topic::unknown_names, refusal);
  }
  write_predictions(options, model, blocks, asked, execution);
  if (options.read.columns.empty() && !asked.pairs.header) {
    if (const std::string doubt = first_word(unknown_first_line(options, asked)); !doubt.empty())
      note(options.quiet, doubt);
  }
  const Offset unknown = total_count<Offset>(
      std::count_if(asked.places.begin(), asked.places.end(), [](const Place& place) { return !place.known(); }),
      ranks());
  if (unknown > 0) {
    note(options.quiet, fmt::format("{} of {} pairs have a row or column the model does not know; they got {}", unknown,
                                    asked.all(), fallback(model.preparation)));
  }
  return 0;
}

}  // namespace

void add_predict(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("predict", "predictions of a saved model for given (row, column) pairs");
  const auto options = std::make_shared<PredictOptions>();
  add_model_argument(*app, options->model);
  app->add_option("PAIRS", options->pairs,
                  "row and column names, one pair per line: a file, a folder, a pattern in quotes or @LIST")
      ->required()
      ->type_name("FILE");
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
