// Whether somebody wants a run to stop. Ranks must agree, or some of them would wait for ever for those that left.
#pragma once

#include "tracenorm/ranks.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm {

/// On any of the ranks, each of which asks at the same time.
inline bool cancelled(const RunHooks& hooks) {
  const bool here = hooks.cancel != nullptr && hooks.cancel->load();
  if (hooks.ranks == nullptr) return here;
  double anywhere[1] = {here ? 1.0 : 0.0};
  hooks.ranks->largest(anywhere);
  return anywhere[0] != 0;
}

}  // namespace tracenorm
