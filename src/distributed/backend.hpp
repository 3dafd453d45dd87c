// Rows shared among ranks, each rank's by another backend.
#pragma once

#include "seam/backend.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm {

class DistributedBackend final : public Backend {
 public:
  /// Both must outlive it and what it makes.
  DistributedBackend(const Backend& local, Ranks& ranks) : local_(local), ranks_(ranks) {}
  [[nodiscard]] Place open(const Problem& problem, const Execution& execution) const override;

 private:
  const Backend& local_;
  Ranks& ranks_;
};

}  // namespace tracenorm
