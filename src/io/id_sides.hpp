// How the ids of rows, or of columns, become indices: by name, or as numbers that count. Blocks of a text look ids up
// at once; what they find new is added between two rounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/among_ranks.hpp"
#include "base/execution.hpp"
#include "io/ids.hpp"
#include "io/messages.hpp"
#include "io/text.hpp"

namespace tracenorm::io {

/// The ids of one side, by name.
class NamedSide {
 public:
  /// `where` says the place of the line that is read again because something is wrong with it.
  NamedSide(const char* what, std::function<std::string()> where) : what_(what), known_(what, std::move(where)) {}

  /// What a block knows beside that.
  struct Own {
    explicit Own(const NamedSide& side) : added(side.what_, [] { return std::string(); }) {}
    IdMap added;
    std::vector<Index> indices;         // of those, once they have some
    std::vector<std::int64_t> waiting;  // integers whose places in the table are on their way from memory
  };

  /// Appends the index of an id; below zero: -1 less its place among what the block has added.
  void append(std::string_view id, const std::optional<std::int64_t>& number, Own& own,
              std::vector<Index>& indices) const {
    constexpr std::size_t at_once = 32;
    if (own.waiting.size() == at_once || !number) append_waiting(own, indices);
    if (number) {
      known_.prefetch(*number);
      own.waiting.push_back(*number);
    } else {
      const Index known = known_.find(id);
      indices.push_back(known >= 0 ? known : -1 - own.added.add(id));
    }
  }
  void append_waiting(Own& own, std::vector<Index>& indices) const {
    for (const std::int64_t number : own.waiting) {
      const Index known = known_.find(number);
      indices.push_back(known >= 0 ? known : -1 - own.added.add(number));
    }
    own.waiting.clear();
  }
  void settle(Own& own) { known_.add(own.added, own.indices); }
  static Index settled(Index index, const Own& own) {
    const Index added = -1 - index;
    return index >= 0 ? index : own.indices[static_cast<std::size_t>(added)];
  }
  static void forget(Own& own) {
    own.added.clear();
    own.waiting.clear();
  }
  void require(std::string_view id) { known_.add(id); }

  [[nodiscard]] Index size() const { return known_.size(); }
  /// `renumbered`: as in `IdMap`.
  Labels finish(std::vector<Index>& renumbered) const { return known_.finish(renumbered); }
  Index finish(std::vector<Index>& indices, Labels& labels, const Execution& execution) const {
    std::vector<Index> renumbered;
    labels = known_.finish(renumbered);
    renumber(indices, renumbered, execution);
    return known_.size();
  }
  /// Where ranks have read parts of a text, in their order: the numbers that one process gives to the ids of all.
  Index finish(std::vector<Index>& indices, Labels& labels, const Execution& execution, Ranks& ranks) const {
    IdMap all(what_, [] { return std::string("ids"); });
    std::vector<Index> mine;
    for (int r = 0; r < ranks.size(); ++r) {
      const bool own = r == ranks.rank();
      const std::string theirs = told(own ? known_.packed() : std::string(), r, ranks);
      if (own) {
        all.add(known_, mine);
      } else {
        all.add_packed(theirs);
      }
    }
    std::vector<Index> renumbered;
    labels = all.finish(renumbered);
    renumber(mine, renumbered, execution);
    renumber(indices, mine, execution);
    return all.size();
  }

 private:
  const char* what_;
  IdMap known_;
};

/// Indices from 0, for formats that count.
class CountedSide {
 public:
  CountedSide(const char* what, std::function<std::string()> where) : what_(what), where_(std::move(where)) {}

  struct Own {
    explicit Own(const CountedSide& /*side*/) {}
  };
  void append(std::string_view id, const std::optional<std::int64_t>& /*number*/, Own& /*own*/,
              std::vector<Index>& indices) const {
    indices.push_back(checked(id, ""));
  }
  static void append_waiting(Own& /*own*/, std::vector<Index>& /*indices*/) {}
  static void settle(Own& /*own*/) {}
  static Index settled(Index index, const Own& /*own*/) { return index; }
  static void forget(Own& /*own*/) {}
  void require(std::string_view id) const { static_cast<void>(checked(id, where_())); }

  static Index finish(const std::vector<Index>& indices, const Labels& /*labels*/, const Execution& /*execution*/) {
    return *std::max_element(indices.begin(), indices.end()) + 1;
  }

 private:
  [[nodiscard]] Index checked(std::string_view text, const std::string& where) const {
    const std::optional<std::int64_t> number = parse_integer(text);
    if (!number) {
      fail("{}: {} is not a {} index; LIBMF counts rows and columns by whole numbers from 0", where, excerpt(text),
           what_);
    }
    if (*number < 0) fail("{}: the {} index {} is negative; LIBMF counts from 0", where, what_, *number);
    if (*number >= std::numeric_limits<Index>::max()) {
      fail("{}: the {} index {} is too large; at most {} {}s are possible", where, what_, *number,
           std::numeric_limits<Index>::max(), what_);
    }
    return static_cast<Index>(*number);
  }

  const char* what_;
  std::function<std::string()> where_;
};

}  // namespace tracenorm::io
