// tracenorm recommend: the columns with the largest predictions of given rows, of new rows, or of all rows. Ranks have
// some rows of the model each, and make their lists.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/among_ranks.hpp"
#include "base/execution.hpp"
#include "base/mail.hpp"
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

/// The rows of the model that this rank has, by the numbers that they have here, and their names.
class OwnRows {
 public:
  OwnRows(const Model& model, const RowBlocks& blocks) : blocks_(blocks), labels_(model.rows) {}

  [[nodiscard]] io::LabelIndex index() const {
    return {labels_, labels_.names.empty() ? blocks_.rows : blocks_.count()};
  }
  [[nodiscard]] std::optional<Index> find(std::string_view name, const io::LabelIndex& index) const {
    const std::optional<Index> found = index.find(name);
    if (!found || !labels_.names.empty()) return found;
    return blocks_.has(*found) ? std::optional(blocks_.here(*found)) : std::nullopt;  // a row's name is its number
  }
  [[nodiscard]] std::string name(Index here) const {
    return labels_.name(labels_.names.empty() ? blocks_.whole(here) : here);
  }
  [[nodiscard]] const RowBlocks& blocks() const { return blocks_; }

  /// Of several rows with a name the first of all is meant: the rank with the largest of these has it.
  static constexpr double kNowhere = -std::numeric_limits<double>::infinity();
  [[nodiscard]] double before_all(std::optional<Index> here) const {
    return here ? -static_cast<double>(blocks_.whole(*here)) : kNowhere;
  }

 private:
  const RowBlocks& blocks_;
  const Labels& labels_;
};

/// Entries that ranks have read in parts, of rows that they know all names of, go to who has the rows in the model.
Entries deal(const io::NamedEntries& table, const OwnRows& rows, const Labels& cols, Index col_count) {
  const io::LabelIndex own = rows.index();
  std::vector<double> place(static_cast<std::size_t>(table.rows));
  for (Index i = 0; i < table.rows; ++i)
    place[static_cast<std::size_t>(i)] = rows.before_all(rows.find(table.row_labels.name(i), own));
  ranks()->largest(place);
  const io::LabelIndex known(cols, col_count);
  std::vector<std::optional<Index>> col(static_cast<std::size_t>(table.cols));
  for (Index j = 0; j < table.cols; ++j) col[static_cast<std::size_t>(j)] = known.find(table.col_labels.name(j));
  Entries mine;
  std::vector<int> owners;
  for (std::size_t e = 0; e < table.entries.row.size(); ++e) {
    const double first = place[static_cast<std::size_t>(table.entries.row[e])];
    const std::optional<Index> its = col[static_cast<std::size_t>(table.entries.col[e])];
    if (first == OwnRows::kNowhere || !its) continue;
    const auto row = static_cast<Index>(-first);
    owners.push_back(rows.blocks().owner(row));
    mine.row.push_back(rows.blocks().here(row));
    mine.col.push_back(*its);
  }
  const Mail mail(owners, ranks());
  mine.row = mail.deliver(std::move(mine.row));
  mine.col = mail.deliver(std::move(mine.col));
  mine.value.resize(mine.row.size());
  return mine;
}

/// Which columns each row has in the data already, ascending; of a row without an index nothing is known.
class Seen {
 public:
  Seen(const RecommendOptions& options, const Model& model, const OwnRows& rows) {
    if (options.seen.empty()) return;
    const Index cols = model.factors.cols();
    const std::vector<std::string> files = io::data_files({options.seen});
    Entries entries;
    if (ranks() != nullptr && io::reads_in_parts(files, options.read)) {
      DealtEntries dealt{.ranks = ranks()};
      entries = deal(io::read_entries(files, options.read, dealt), rows, model.cols, cols);
    } else {
      const bool named = !model.rows.names.empty();
      entries = io::read_entries_like(files, model.rows, model.cols, named ? rows.blocks().count() : rows.blocks().rows,
                                      cols, io::Strangers::leave_out, options.read)
                    .entries;
      if (!named) keep_own(entries, rows.blocks());
    }
    pattern_ = make_sparse(rows.blocks().count(), cols, entries).pattern;
  }
  [[nodiscard]] std::vector<Index> columns(std::optional<Index> row) const {
    std::vector<Index> columns;
    if (!row || pattern_.entries() == 0) return columns;
    for (Offset e = pattern_.begin()[*row]; e < pattern_.begin()[*row + 1]; ++e) columns.push_back(pattern_.col()[e]);
    return columns;
  }

 private:
  static void keep_own(Entries& entries, const RowBlocks& blocks) {
    std::size_t kept = 0;
    for (std::size_t e = 0; e < entries.row.size(); ++e) {
      if (!blocks.has(entries.row[e])) continue;
      entries.row[kept] = blocks.here(entries.row[e]);
      entries.col[kept++] = entries.col[e];
    }
    entries.row.resize(kept);
    entries.col.resize(kept);
    entries.value.resize(kept);
  }

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

/// How many rows of a list of all are multiplied at once.
constexpr Index kBlock = 64;

/// Every row of the model: a wave asks each rank for one of its blocks of rows.
void write_all(const RecommendOptions& options, const Model& model, const OwnRows& rows, const Seen& seen,
               const Execution& execution, OutputStream& lines) {
  const Index cols = model.factors.cols();
  write_in_waves(execution, rows.blocks().rows, kBlock, lines, [&](Offset first, Offset count, std::string& text) {
    const Index begin = rows.blocks().here(static_cast<Index>(first));
    const auto end = static_cast<Index>(begin + count);
    const Eigen::MatrixXd block = model.factors.dense_rows(begin, end);
    std::vector<double> prediction(static_cast<std::size_t>(cols));
    for (Index i = begin; i < end; ++i) {
      for (Index j = 0; j < cols; ++j) {
        prediction[static_cast<std::size_t>(j)] = model.preparation.undo(block(i - begin, j), i, j);
      }
      append_list(text, rows.name(i), model, prediction, seen.columns(i), options.top);
    }
  });
}

/// The rows that --row names: each by who has it, those that the model does not know by the first rank.
void write_given(const RecommendOptions& options, const Model& model, const OwnRows& own, const Seen& seen,
                 const Execution& execution, OutputStream& lines) {
  std::vector<std::optional<Index>> rows;
  std::vector<bool> mine;
  const io::LabelIndex index = own.index();
  for (const std::string& name : options.rows) {
    rows.push_back(own.find(name, index));
    const double here = own.before_all(rows.back());
    double first = here;
    if (ranks() != nullptr) ranks()->largest(std::span(&first, 1));
    const bool known = first != OwnRows::kNowhere;
    mine.push_back(known ? here == first : is_spokesman());
    if (known) continue;
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
  std::vector<std::string> texts(4 * static_cast<std::size_t>(execution.threads()));
  for (std::size_t begin = 0; begin < rows.size(); begin += texts.size()) {
    const std::size_t count = std::min(texts.size(), rows.size() - begin);
    execution.for_each_block(static_cast<Offset>(count), 1, [&](Offset k, Offset) {
      const std::size_t r = begin + static_cast<std::size_t>(k);
      std::string& text = texts[static_cast<std::size_t>(k)];
      text.clear();
      if (!mine[r]) return;
      append_list(text, options.rows[r], model, report::row_predictions(model, rows[r]), seen.columns(rows[r]),
                  options.top);
    });
    for (std::size_t k = 0; k < count; ++k) write_in_order(texts[k], lines);
  }
}

/// The rows of --new-rows, which every rank knows.
void write_fresh(const RecommendOptions& options, const Model& model, const NewRows& fresh, const Execution& execution,
                 OutputStream& lines) {
  write_in_waves(execution, static_cast<Offset>(fresh.names().size()), 1, lines,
                 [&](Offset first, Offset count, std::string& text) {
                   for (auto f = static_cast<std::size_t>(first); f < static_cast<std::size_t>(first + count); ++f)
                     append_list(text, fresh.names()[f], model, fresh.row(f).scores(model), fresh.columns(f),
                                 options.top);
                 });
}

int run(RecommendOptions options) {
  if (options.all == (!options.rows.empty() || !options.new_rows.empty())) {
    throw Error(ErrorCode::usage, "whose lists? give --row ID, --new-rows FILE or --all");
  }
  check_outputs({{"--output", options.output}}, {options.model, options.seen, options.new_rows});
  options.read.threads = own_threads(options.threads);
  const Execution execution(options.read.threads);
  RowBlocks blocks = shared_rows(options.all ? kBlock * static_cast<Index>(blocks_at_once(execution)) : 0);
  Model model = open_model(options.model, blocks);
  const OwnRows rows(model, blocks);
  const Seen seen(options, model, rows);
  const NewRows fresh(model, options.new_rows, options.read, options.quiet);
  OutputStream lines(options.output);
  if (options.all) {
    write_all(options, model, rows, seen, execution, lines);
  } else {
    write_given(options, model, rows, seen, execution, lines);
    write_fresh(options, model, fresh, execution, lines);
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
