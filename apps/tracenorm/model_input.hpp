// What commands that use a saved model share: opening it, its loss, and rows that it has not seen.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/row_blocks.hpp"
#include "tracenorm/fold_in.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

/// The positional argument MODEL.
void add_model_argument(CLI::App& app, std::string& path);

/// Reads a model. Where the file is something else, the error says what it seems to be and what to do.
Model open_model(const std::string& path);
/// The rows of this rank alone, numbered from 0; all of them where there are no ranks. `blocks` says which they are.
Model open_model(const std::string& path, RowBlocks& blocks);
/// So many rows of a model a block, dealt to the ranks in turn; 0: a block for each rank.
RowBlocks shared_rows(Index block = 0);

/// --new-rows.
void add_new_rows_option(CLI::App& app, std::string& path);

/// Rows that are answered by their own entries in a file, not by the training data.
class NewRows {
 public:
  /// Reads the entries and folds each row in. An empty path: there are none. Tells of columns that nobody knows. Of
  /// ranks each has some of the model's rows, and folds in some of these; all of them have all of these afterwards.
  NewRows(const Model& model, const std::string& path, const io::ReadOptions& read, bool quiet);

  [[nodiscard]] const std::vector<std::string>& names() const { return labels_.names; }
  [[nodiscard]] const NewRow* find(std::string_view name) const;
  /// The columns that a row has, ascending; those the model does not know are left out.
  [[nodiscard]] const std::vector<Index>& columns(std::size_t row) const { return columns_[row]; }
  [[nodiscard]] const NewRow& row(std::size_t row) const { return rows_[row]; }

 private:
  Labels labels_;
  std::optional<io::LabelIndex> index_;
  std::vector<NewRow> rows_;
  std::vector<std::vector<Index>> columns_;
};

}  // namespace tracenorm::app
