// tracenorm recommend: the columns with the largest predictions of given rows, of new rows, or of all rows.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include "base/execution.hpp"
#include "base/topic.hpp"
#include "commands.hpp"
#include "model_input.hpp"
#include "option_values.hpp"
#include "output_stream.hpp"
#include "outputs.hpp"
#include "process_ranks.hpp"
#include "reading_options.hpp"
#include "report/ranking.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

struct RecommendOptions {
  std::string model;
  std::vector<std::string> rows;
  bool all = false;
  std::string new_rows;
  std::int64_t top = 10;
  std::string seen;
  io::ReadOptions read{.duplicates = io::ReadOptions::Duplicates::first};  // the values do not matter
  int threads = 0;
  std::string output{kStdout};
  bool quiet = false;
};

constexpr const char* kRecommendExamples = R"(Examples:
  tracenorm recommend model.npz --row 196
  tracenorm recommend model.npz --row alice --row bob --top 20 --seen ratings.csv --output lists.tsv
  tracenorm recommend model.npz --all --seen ratings.csv --output lists.tsv
  tracenorm recommend model.npz --new-rows newcomers.csv

The output has row, place, column and prediction, separated by tabs, best first. --seen leaves out what a row has already; what
--new-rows holds is left out for its rows.
A row the model does not know gets the columns with the largest offsets, where the model has offsets.)";

/// Which columns each row has in the data already, ascending; of a row without an index nothing is known.
class Seen {
 public:
  Seen(const RecommendOptions& options, const Model& model) {
    if (options.seen.empty()) return;
    const Entries entries =
        io::read_entries_like(io::data_files({options.seen}), model.rows, model.cols, model.factors.rows(),
                              model.factors.cols(), io::Strangers::leave_out, options.read)
            .entries;
    pattern_ = make_sparse(model.factors.rows(), model.factors.cols(), entries).pattern;
  }
  [[nodiscard]] std::vector<Index> columns(std::optional<Index> row) const {
    std::vector<Index> columns;
    if (!row || pattern_.entries() == 0) return columns;
    for (Offset e = pattern_.begin()[*row]; e < pattern_.begin()[*row + 1]; ++e) columns.push_back(pattern_.col()[e]);
    return columns;
  }

 private:
  SparsePattern pattern_;
};

/// The list of one row as text. Ranked as predicted, shown as clipped.
void append_list(std::string& text, const std::string& name, const Model& model, const std::vector<double>& prediction,
                 const std::vector<Index>& left_out, std::int64_t top) {
  std::size_t place = 0;
  for (const Index col : report::best_columns(prediction, left_out, static_cast<std::size_t>(top))) {
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{:.7g}\n", name, ++place, model.cols.name(col),
                   model.preparation.range.clip(prediction[static_cast<std::size_t>(col)]));
  }
}

/// Every row of the model.
void write_all(const RecommendOptions& options, const Model& model, const Seen& seen, OutputStream& lines) {
  constexpr Offset kBlock = 64;
  const Index cols = model.factors.cols();
  const Execution execution(own_threads(options.threads));
  write_in_waves(execution, model.factors.rows(), kBlock, lines, [&](Offset first, Offset count, std::string& text) {
    const auto begin = static_cast<Index>(first);
    const auto end = static_cast<Index>(first + count);
    const Eigen::MatrixXd block = model.factors.dense_rows(begin, end);
    std::vector<double> prediction(static_cast<std::size_t>(cols));
    for (Index i = begin; i < end; ++i) {
      for (Index j = 0; j < cols; ++j) {
        prediction[static_cast<std::size_t>(j)] = model.preparation.undo(block(i - begin, j), i, j);
      }
      append_list(text, model.rows.name(i), model, prediction, seen.columns(i), options.top);
    }
  });
}

void write_given(const RecommendOptions& options, const Model& model, const Seen& seen, const NewRows& fresh,
                 OutputStream& lines) {
  const io::LabelIndex names(model.rows, model.factors.rows());
  std::vector<std::optional<Index>> rows;
  for (const std::string& name : options.rows) {
    rows.push_back(names.find(name));
    if (rows.back()) continue;
    if (model.preparation.col_offset.empty()) {
      throw TopicError(ErrorCode::input, Topic::unknown_names,
                       fmt::format("--row: the model does not know row '{}', and has no column offsets to "
                                   "answer by; give a row of the training data, or its entries with "
                                   "--new-rows",
                                   name));
    }
    note(options.quiet, fmt::format("the model does not know row '{}': its list is by column offsets alone; --new-rows "
                                    "would fit it to entries of its own",
                                    name));
  }
  const std::size_t known = rows.size();
  const auto append = [&](std::size_t r, std::string& text) {
    if (r < known) {
      append_list(text, options.rows[r], model, report::row_predictions(model, rows[r]), seen.columns(rows[r]),
                  options.top);
    } else {
      const std::size_t f = r - known;
      append_list(text, fresh.names()[f], model, fresh.row(f).scores(model), fresh.columns(f), options.top);
    }
  };
  write_in_waves(Execution(own_threads(options.threads)), static_cast<Offset>(known + fresh.names().size()), 1, lines,
                 [&](Offset first, Offset count, std::string& text) {
                   for (Offset r = first; r < first + count; ++r) append(static_cast<std::size_t>(r), text);
                 });
}

int run(const RecommendOptions& options) {
  if (options.all == (!options.rows.empty() || !options.new_rows.empty())) {
    throw Error(ErrorCode::usage, "whose lists? give --row ID, --new-rows FILE or --all");
  }
  check_outputs({{"--output", options.output}}, {options.model, options.seen, options.new_rows});
  const Model model = open_model(options.model);
  const Seen seen(options, model);
  const NewRows fresh(model, options.new_rows, options.read, options.quiet);
  OutputStream lines(options.output);
  if (options.all) {
    write_all(options, model, seen, lines);
  } else {
    write_given(options, model, seen, fresh, lines);
  }
  lines.finish();
  return 0;
}

}  // namespace

void add_recommend(CLI::App& program, Action& action) {
  CLI::App* app =
      program.add_subcommand("recommend", "the columns with the largest predictions, for some rows or for all");
  const auto options = std::make_shared<RecommendOptions>();
  add_model_argument(*app, options->model);
  app->add_option("--row", options->rows, "name of a row; may be given several times")
      ->type_name("ID")
      ->allow_extra_args(false);
  app->add_flag("--all", options->all, "lists for every row of the model");
  add_new_rows_option(*app, options->new_rows);
  add_integer(*app, "--top", options->top, 1, 1'000'000'000, "how many columns a row gets");
  app->add_option("--seen", options->seen, "entries whose columns are left out for their row")->type_name("FILE");
  add_columns_option(*app, options->read, "USER,ITEM,VALUE");
  add_integer(*app, "--threads", options->threads, 0, 4096, "0: all cores; the result does not depend on it");
  app->add_option("--output", options->output, "where the lists go; - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  app->add_flag("--quiet,-q", options->quiet, "no notes");
  app->footer(kRecommendExamples);
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
