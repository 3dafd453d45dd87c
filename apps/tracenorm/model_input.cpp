#include "model_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/among_ranks.hpp"
#include "base/topic.hpp"
#include "entry_check.hpp"
#include "io/messages.hpp"
#include "io/model_file.hpp"
#include "outputs.hpp"
#include "process_ranks.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

Loss loss_of(const Model& model) {
  const nlohmann::json facts = nlohmann::json::parse(model.metadata);
  const auto loss = facts.find("loss");
  if (loss == facts.end() || !loss->is_string()) {
    throw Error(ErrorCode::input, "the model does not say its loss, so new rows cannot be folded in; solve again");
  }
  return parse_loss(loss->get<std::string>());
}

}  // namespace

void add_model_argument(CLI::App& app, std::string& path) {
  app.add_option("MODEL", path, "a file that --model wrote")->required()->type_name("FILE.npz");
}

Model open_model(const std::string& path) {
  RowBlocks all;
  return open_model(path, all);
}

Model open_model(const std::string& path, RowBlocks& blocks) {
  try {
    return io::read_model(path, blocks);
  } catch (const io::WrongKind& error) {
    throw Error(error.code(), fmt::format("{}; if it holds data, make a model of them first: tracenorm complete {} "
                                          "--model m.npz, and then give m.npz here",
                                          error.what(), path));
  }
}

RowBlocks shared_rows(Index block) {
  if (ranks() == nullptr) return {.block = block};
  return {.rank = ranks()->rank(), .ranks = ranks()->size(), .block = block};
}

void add_new_rows_option(CLI::App& app, std::string& path) {
  app.add_option(
         "--new-rows", path,
         "entries (row, column, value) of rows that the training data did not have: these rows are fitted to them, "
         "with the columns as the model knows them")
      ->type_name("FILE");
}

namespace {

/// Every rank folds in one row of as many as there are ranks.
std::vector<NewRow> folded_among_ranks(const Model& model, const Loss& loss, const Entries& entries, Index rows,
                                       int threads) {
  const double variance = row_offset_variance(model.preparation, ranks());
  if (ranks() == nullptr) return fold_in(model, loss, entries, rows, threads, variance);
  fold_in(model, loss, Entries{}, 1, threads, variance);  // a model that cannot is refused by ranks without rows too
  const Index sharing = ranks()->size();
  const Index rank = ranks()->rank();
  const auto count = [&](Index of) { return (rows - of + sharing - 1) / sharing; };
  Entries own;
  for (std::size_t e = 0; e < entries.row.size(); ++e) {
    if (entries.row[e] % sharing != rank) continue;
    own.row.push_back(entries.row[e] / sharing);
    own.col.push_back(entries.col[e]);
    own.value.push_back(entries.value[e]);
  }
  std::vector<double> numbers;
  for (const NewRow& row : fold_in(model, loss, own, count(rank), threads, variance)) {
    numbers.push_back(row.offset);
    numbers.insert(numbers.end(), row.weight.begin(), row.weight.end());
  }
  numbers = gathered(std::move(numbers), ranks());
  std::vector<NewRow> folded(static_cast<std::size_t>(rows));
  auto next = numbers.cbegin();
  for (Index of = 0; of < sharing; ++of) {
    for (Index row = of; row < rows; row += sharing) {
      NewRow& one = folded[static_cast<std::size_t>(row)];
      one.offset = *next++;
      one.weight.assign(next, next + model.factors.terms());
      next += model.factors.terms();
    }
  }
  return folded;
}

}  // namespace

NewRows::NewRows(const Model& model, const std::string& path, const io::ReadOptions& read, bool quiet) {
  if (path.empty()) return;
  const Loss loss = loss_of(model);
  io::NamedEntries table = io::read_entries(path, read);
  const io::LabelIndex known(model.cols, model.factors.cols());
  check_entries(loss, table.entries, table.row_labels, table.col_labels, path);
  columns_.resize(static_cast<std::size_t>(table.rows));
  Offset unknown = 0;
  for (std::size_t e = 0; e < table.entries.row.size(); ++e) {
    const std::optional<Index> col = known.find(table.col_labels.name(table.entries.col[e]));
    if (col) columns_[static_cast<std::size_t>(table.entries.row[e])].push_back(*col);
    unknown += col ? 0 : 1;
    table.entries.col[e] = col.value_or(Preparation::kUnknown);
  }
  for (std::vector<Index>& row : columns_) std::sort(row.begin(), row.end());
  if (unknown == table.entries.size()) {
    throw TopicError(ErrorCode::input, Topic::unknown_names,
                     fmt::format("{}: no entry is of a column that the model knows; it knows {}, for instance", path,
                                 io::excerpt(model.cols.name(0))));
  }
  if (unknown > 0) {
    note(quiet, fmt::format("{}: {} of {} entries are of columns that the model does not know; they tell about the "
                            "offset of their row alone",
                            path, unknown, table.entries.size()));
  }
  if (table.row_labels.names.empty()) {  // a format that counts: the numbers are the names
    for (Index i = 0; i < table.rows; ++i) labels_.names.push_back(table.row_labels.name(i));
  } else {
    labels_ = std::move(table.row_labels);
  }
  index_.emplace(labels_, table.rows);
  rows_ = folded_among_ranks(model, loss, table.entries, table.rows, read.threads);
}

const NewRow* NewRows::find(std::string_view name) const {
  const std::optional<Index> at = index_ ? index_->find(name) : std::nullopt;
  return at ? &rows_[static_cast<std::size_t>(*at)] : nullptr;
}

}  // namespace tracenorm::app
