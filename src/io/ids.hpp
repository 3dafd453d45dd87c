// From the names in a file to indices.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracenorm/io.hpp"

namespace tracenorm::io {

/// Gives each distinct id an index. Ids are kept exactly as written. At the end, integers are put in numerical order
/// when all ids are integers; otherwise ids stay in the order of their first appearance.
class IdMap {
 public:
  /// `what` names an id in messages ("row id"); `where` says the place of the current one.
  IdMap(std::string what, std::function<std::string()> where, Index most = std::numeric_limits<Index>::max());

  Index add(std::string_view id);
  [[nodiscard]] Index size() const { return static_cast<Index>(integers_.size()); }

  /// The labels in their final order, and in `renumbered` the final index of each index given so far (empty:
  /// unchanged).
  Labels finish(std::vector<Index>& renumbered) const;

 private:
  Index add_integer(std::int64_t id);
  Index add_text(std::string_view id);
  Index next(std::int64_t id);
  [[nodiscard]] std::size_t slot_of(std::int64_t id) const;
  void grow_slots();

  std::string what_;
  std::function<std::string()> where_;
  Index most_;
  std::vector<Index> slots_;  // open addressing: indices of integer ids, -1 = free; compact, to stay in the caches
  unsigned slot_bits_ = 0;
  Index integer_count_ = 0;
  std::unordered_map<std::string, Index, TextHash, std::equal_to<>> texts_;
  std::vector<std::int64_t> integers_;  // by index; unused where the id is text
};

void renumber(std::vector<Index>& indices, const std::vector<Index>& renumbered);

}  // namespace tracenorm::io
