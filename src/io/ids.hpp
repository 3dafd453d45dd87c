// From the names in a file to indices.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/execution.hpp"
#include "io/text.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {

/// Hashes that depend on a key which every program draws anew: whoever makes a file cannot know which ids collide.
extern const std::uint64_t hash_key[2];
std::uint64_t keyed_hash(std::string_view text);
inline std::uint64_t keyed_hash(std::uint64_t number) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(number ^ hash_key[0]) * hash_key[1];
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

/// Indices of numbers: open addressing, the number beside its index, so that a search is one look into memory.
class NumberTable {
 public:
  NumberTable() { clear(); }

  /// The index of a number for which same(index) holds, -1 where there is none.
  template <class Same>
  [[nodiscard]] Index find(std::uint64_t number, const Same& same) const {
    for (std::size_t slot = first(number); slots_[slot].index >= 0; slot = (slot + 1) & (slots_.size() - 1))
      if (slots_[slot].number == number && same(slots_[slot].index)) return slots_[slot].index;
    return -1;
  }
  /// Fetches what a search will look at.
  void prefetch(std::uint64_t number) const { __builtin_prefetch(&slots_[first(number)]); }
  /// A number that is not there yet, or whose index is another.
  void add(std::uint64_t number, Index index);
  void clear();

 private:
  struct Slot {
    std::uint64_t number = 0;
    Index index = -1;  // -1: free
  };
  [[nodiscard]] std::size_t first(std::uint64_t number) const { return keyed_hash(number) >> (64U - bits_); }
  void put(std::uint64_t number, Index index);

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
  /// All ids, in their order, as bytes that another process adds to its own.
  [[nodiscard]] std::string packed() const;
  void add_packed(std::string_view bytes);
  /// The index of an id, -1 where it is not there. Several may search at once, while nobody adds.
  [[nodiscard]] Index find(std::int64_t id) const {
    return integers_.find(static_cast<std::uint64_t>(id), [](Index) { return true; });
  }
  [[nodiscard]] Index find(std::string_view id) const {
    const std::optional<std::int64_t> integer = parse_canonical_integer(id);
    return integer ? find(*integer) : find_text(id, keyed_hash(id));
  }
  void prefetch(std::int64_t id) const { integers_.prefetch(static_cast<std::uint64_t>(id)); }
  [[nodiscard]] Index size() const { return static_cast<Index>(ids_.size()); }
  void clear();

  /// The labels in their final order, and in `renumbered` the final index of each index given so far (empty:
  /// unchanged).
  Labels finish(std::vector<Index>& renumbered) const;

 private:
  /// An integer, or where a text begins in `letters_`.
  struct Id {
    std::int64_t number;
    std::int32_t length;  // of a text; below zero: an integer
  };

  [[nodiscard]] std::string_view text(const Id& id) const {
    return std::string_view(letters_).substr(static_cast<std::size_t>(id.number), static_cast<std::size_t>(id.length));
  }
  [[nodiscard]] std::string name(const Id& id) const {
    return id.length < 0 ? std::to_string(id.number) : std::string(text(id));
  }
  [[nodiscard]] Index find_text(std::string_view id, std::uint64_t hash) const {
    return texts_.find(hash, [&](Index index) { return text(ids_[static_cast<std::size_t>(index)]) == id; });
  }
  Index add_text(std::string_view id);
  Index append(const Id& id);

  std::string what_;
  std::function<std::string()> where_;
  Index most_;
  NumberTable integers_;
  NumberTable texts_;  // by their hashes
  std::string letters_;
  std::vector<Id> ids_;  // by index
  bool all_integers_ = true;
};

void renumber(std::vector<Index>& indices, const std::vector<Index>& renumbered, const Execution& execution);

}  // namespace tracenorm::io
