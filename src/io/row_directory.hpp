// Rows by their names, where no rank knows the names of all: a name is kept by the rank that its letters say.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/execution.hpp"
#include "base/row_blocks.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm::io {

/// All ranks make it together, and ask together. Without ranks (null) all rows are here.
class RowDirectory {
 public:
  /// Takes the names of the rows that this rank has; every rank keeps others, about as many.
  RowDirectory(Labels mine, const RowBlocks& blocks, Ranks* ranks);

  /// The number of each of these rows in the whole model, `Preparation::kUnknown` for names that it does not have. They
  /// travel, so they should be some of many.
  [[nodiscard]] std::vector<Index> find(std::span<const std::string> names, const Execution& execution) const;

 private:
  [[nodiscard]] std::vector<int> keepers(std::span<const std::string> names) const;

  Ranks* ranks_;
  bool named_;
  LabelIndex numbers_;  // of a model whose rows are their numbers
  std::unordered_map<std::string, Index, TextHash, std::equal_to<>> kept_;
};

}  // namespace tracenorm::io
