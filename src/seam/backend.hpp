// A backend makes the two things that differ between places: panels, and a store for the entries of a problem.
#pragma once

#include <memory>
#include <vector>

#include "base/execution.hpp"
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

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;
  /// Problem and execution must outlive what is made. Throws a usage error for what cannot be done there.
  [[nodiscard]] virtual Place open(const Problem& problem, const Execution& execution) const = 0;
  /// The same for some of the rows of a problem whose others live elsewhere. Right panels are everywhere, and must have
  /// the same order everywhere: it may depend on how many entries the columns have in all rows together.
  [[nodiscard]] virtual Place open_rows(const Problem& /*rows*/, const std::vector<Offset>& /*entries_of_columns*/,
                                        const Execution& /*execution*/) const {
    throw Error(ErrorCode::usage, "backend: this one has all rows in one place; take backend cpu with several ranks",
                "backend");
  }
};

}  // namespace tracenorm
