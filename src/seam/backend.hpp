// A backend makes the two things that differ between places: panels, and a store for the entries of a problem.
#pragma once

#include <memory>
#include <vector>

#include "base/execution.hpp"
#include "base/shards.hpp"
#include "seam/entry_store.hpp"
#include "seam/panels.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm {

/// Panels and entries of one problem, in one place.
struct Place {
  std::unique_ptr<Panels> panels;
  std::unique_ptr<EntryStore> store;
};

/// What a place for some of the rows of a problem knows of the whole.
struct WholeProblem {
  /// Right panels are everywhere, and must have the same order everywhere: it may depend on these.
  std::vector<Offset> entries_of_columns;
  /// Those of the rows here. Sums over rows are made over all of them, so that everybody has the same bits.
  Shards shards;
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;
  /// Problem and execution must outlive what is made. Throws a usage error for what cannot be done there.
  [[nodiscard]] virtual Place open(const Problem& problem, const Execution& execution) const = 0;
  /// The same for some of the rows of a problem, maybe none, whose others live elsewhere. What is summed over rows is
  /// summed over all of them, wherever they are; maxima, and what is said of the place (`facts`), are of the rows here.
  [[nodiscard]] virtual Place open_rows(const Problem& /*rows*/, const WholeProblem& /*whole*/,
                                        const Execution& /*execution*/) const {
    throw Error(ErrorCode::usage, "backend: this one has all rows in one place; take backend cpu with several ranks",
                "backend");
  }
};

}  // namespace tracenorm
