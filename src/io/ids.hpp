// From the names in a file to indices.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/execution.hpp"
#include "io/text.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {

/// Indices of integers: open addressing, the integer beside its index, so that a search is one look into memory. The
/// places depend on a key that every program draws anew: whoever makes a file cannot know which integers collide.
class IntegerTable {
 public:
  IntegerTable() { clear(); }

  /// The index of an integer, -1 where it is not there.
  [[nodiscard]] Index find(std::int64_t integer) const { return slots_[slot_of(integer)].index; }
  /// Fetches what a search will look at.
  void prefetch(std::int64_t integer) const { __builtin_prefetch(&slots_[hash(integer) >> (64U - bits_)]); }
  /// The index it has, or gets: `index`.
  Index add(std::int64_t integer, Index index);
  void clear();

 private:
  struct Slot {
    std::int64_t integer = 0;
    Index index = -1;  // -1: free
  };
  // Where the integer is, or the free place where it belongs.
  [[nodiscard]] std::size_t slot_of(std::int64_t integer) const {
    std::size_t slot = hash(integer) >> (64U - bits_);
    while (slots_[slot].index >= 0 && slots_[slot].integer != integer) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  static std::uint64_t hash(std::int64_t integer) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(static_cast<std::uint64_t>(integer) ^ key[0]) * key[1];
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }

  static const std::uint64_t key[2];
  std::vector<Slot> slots_;
  unsigned bits_ = 0;
  std::size_t used_ = 0;
};

/// Gives each distinct id an index, in the order of their first appearance. Ids are kept exactly as written. At the
/// end, integers are put in numerical order when all ids are integers.
class IdMap {
 public:
  /// `what` names an id in messages ("row id"); `where` says the place of the current one.
  IdMap(std::string what, std::function<std::string()> where, Index most = std::numeric_limits<Index>::max());

  Index add(std::string_view id) {
    const std::optional<std::int64_t> integer = parse_canonical_integer(id);
    return integer ? add(*integer) : add_text(id);
  }
  Index add(std::int64_t id);
  /// All ids of another map, in its order; `indices` are those they have here.
  void add(const IdMap& others, std::vector<Index>& indices);
  /// The index of an id, -1 where it is not there. Several may search at once, while nobody adds.
  [[nodiscard]] Index find(std::int64_t id) const { return integers_.find(id); }
  void prefetch(std::int64_t id) const { integers_.prefetch(id); }
  [[nodiscard]] Index find(std::string_view id) const {
    const std::optional<std::int64_t> integer = parse_canonical_integer(id);
    if (integer) return find(*integer);
    const auto known = texts_.find(id);
    return known != texts_.end() ? known->second : -1;
  }
  [[nodiscard]] Index size() const { return static_cast<Index>(ids_.size()); }
  void clear();

  /// The labels in their final order, and in `renumbered` the final index of each index given so far (empty:
  /// unchanged).
  Labels finish(std::vector<Index>& renumbered) const;

 private:
  struct Id {
    std::int64_t integer;
    const std::string* text;  // null: the integer
  };

  Index add_text(std::string_view id);
  void require_room() const;

  std::string what_;
  std::function<std::string()> where_;
  Index most_;
  IntegerTable integers_;
  std::unordered_map<std::string, Index, TextHash, std::equal_to<>> texts_;
  std::vector<Id> ids_;  // by index
};

void renumber(std::vector<Index>& indices, const std::vector<Index>& renumbered, const Execution& execution);

}  // namespace tracenorm::io
