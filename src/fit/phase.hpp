// Says what begins, to whoever listens.
#pragma once

#include <string_view>

#include "tracenorm/run.hpp"

namespace tracenorm {

inline void tell(const RunHooks& hooks, std::string_view what) {
  if (hooks.observer != nullptr) hooks.observer->on_phase(what);
}

}  // namespace tracenorm
