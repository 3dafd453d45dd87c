// Leaving entries out.
#pragma once

#include <cstddef>

#include "tracenorm/io.hpp"

namespace tracenorm::io {

/// Keeps the entries k, asked in their order, for which `keep(k)` is true. Returns how many are gone.
template <class Keep>
Offset keep_if(NamedEntries& data, Keep&& keep) {
  Entries& entries = data.entries;
  const std::size_t count = entries.row.size();
  std::size_t kept = 0;
  for (std::size_t k = 0; k < count; ++k) {
    if (!keep(k)) continue;
    entries.row[kept] = entries.row[k];
    entries.col[kept] = entries.col[k];
    entries.value[kept] = entries.value[k];
    if (!data.weight.empty()) data.weight[kept] = data.weight[k];
    if (!data.time.empty()) data.time[kept] = data.time[k];
    ++kept;
  }
  entries.row.resize(kept);
  entries.col.resize(kept);
  entries.value.resize(kept);
  if (!data.weight.empty()) data.weight.resize(kept);
  if (!data.time.empty()) data.time.resize(kept);
  return static_cast<Offset>(count - kept);
}

}  // namespace tracenorm::io
