// A backend makes the two things that differ between places: panels, and a store for the entries of a problem.
#pragma once

#include <memory>

#include "base/execution.hpp"
#include "seam/entry_store.hpp"
#include "seam/panels.hpp"
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
};

}  // namespace tracenorm
