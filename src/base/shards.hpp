// Shards: ranges of rows, cut by the data alone, the unit of work that threads take and that processes own. What is
// summed over them is added along a binary tree over their numbers, ((0 + 1) + (2 + 3)) + ..., so that the bits do not
// depend on who adds up which of its branches: a process adds those that it has whole, and these alone travel.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/execution.hpp"
#include "base/function_ref.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm {

/// Shards [first, last), which are a branch of the tree.
struct Branch {
  int first;
  int last;
  [[nodiscard]] int size() const { return last - first; }
};
/// The branches, as large as they come, that shards [first, last) of `all` are made of.
std::vector<Branch> whole_branches(int first, int last, int all);

/// The two branches of a larger one.
std::pair<Branch, Branch> halves(const Branch& branch);

/// Who has the other shards. All processes make the same calls in the same order, and get the same bits.
class OtherShards {
 public:
  OtherShards() = default;
  OtherShards(const OtherShards&) = delete;
  OtherShards& operator=(const OtherShards&) = delete;
  virtual ~OtherShards() = default;
  /// out = the sum over all shards, where `mine` has as many numbers for each whole branch of those here. They may be
  /// in the same place.
  virtual void add_up(std::span<const double> mine, std::span<double> out) = 0;
  virtual void add_up(std::span<const float> mine, std::span<float> out) = 0;
  /// Adds to numbers in the order of the shards: waits for those with lower numbers, then hands the numbers on.
  virtual void in_turn(std::span<double> numbers, FunctionRef<void()> add) = 0;
  /// Gives everybody the numbers of whoever was last in turn.
  virtual void share_last(std::span<double> numbers) = 0;
};

/// Where shards are cut: rows of shard s are [rows[s], rows[s+1]).
struct ShardCuts {
  std::vector<Index> rows;
  /// So many neighbours are one where an output for each would be too large; nobody takes them apart.
  int together = 1;
  [[nodiscard]] int count() const { return static_cast<int>(rows.size()) - 1; }
  /// With neighbours that stay together as one.
  [[nodiscard]] ShardCuts joined() const;
};
/// By the data alone: ranges of about equally many entries. `begin` says where the entries of a row begin (null: all
/// rows are equally long). A shard's output is as long as there are columns, and must stay a side matter.
ShardCuts cut_shards(Index rows, Index cols, Offset entries, const Offset* begin);

class Shards {
 public:
  /// All of them are here.
  explicit Shards(ShardCuts cuts);
  /// Those with numbers from `first` on of `all`, with rows as they are numbered here. The others must outlive it.
  Shards(ShardCuts here, int first, int all, OtherShards& others);

  /// How many are here.
  [[nodiscard]] int count() const { return cuts_.count(); }
  [[nodiscard]] const std::vector<Index>& cuts() const { return cuts_.rows; }
  [[nodiscard]] Index begin(int shard) const { return cuts_.rows[static_cast<std::size_t>(shard)]; }
  [[nodiscard]] Index rows() const { return cuts_.rows.back(); }
  [[nodiscard]] OtherShards* others() const { return others_; }
  /// The number of the first one here, and of all, here and elsewhere.
  [[nodiscard]] int first() const { return first_; }
  [[nodiscard]] int all() const { return all_; }
  [[nodiscard]] Shards joined() const;

  /// out = the sum over all shards of `width` numbers each, of which parts[s * width ...] are those of shard s here.
  /// The parts are overwritten; the sum may lie where they begin.
  template <class Number>
  void add_up(Number* parts, Offset width, Number* out) const {
    add_branches(parts, width, out, 0, width);
    if (others_ != nullptr) join(parts, width, out);
  }
  /// The same for many numbers, on threads that take `block` of them at a time.
  template <class Number>
  void add_up(Number* parts, Offset width, Number* out, const Execution& execution, Offset block) const {
    execution.for_each_block(width, block,
                             [&](Offset from, Offset count) { add_branches(parts, width, out, from, count); });
    if (others_ != nullptr) join(parts, width, out);
  }
  /// The same in rounds, so that there need not be room for the parts of all shards at once, only for `outputs` of
  /// them: make(first, last, parts) makes those of so many neighbours, a power of two or fewer.
  template <class Number, class Make>
  void add_up_in_rounds(int at_once, Number* parts, Offset width, Number* out, const Execution& execution, Offset block,
                        Make&& make) const {
    // Neighbours of a round are a branch of the tree; the sums of rounds stand behind the parts of one.
    const auto add = [&](int neighbours, Number* of, Number* to) {
      execution.for_each_block(
          width, block, [&](Offset from, Offset size) { add_neighbours(neighbours, of, width, to, from, size); });
    };
    if (others_ == nullptr && count() <= at_once) {
      make(0, count(), parts);
      return add(count(), parts, out);
    }
    Number* const sums = parts + std::min(at_once, count()) * width;
    Number* sum = sums;  // one for every branch
    for (const Branch& branch : branches_) {
      int rounds = 0;
      for (int first = branch.first; first < branch.last; first += at_once, ++rounds) {
        const int last = std::min(branch.last, first + at_once);
        make(first, last, parts);
        add(last - first, parts, sum + rounds * width);
      }
      add(rounds, sum, others_ == nullptr ? out : sum);
      sum += width;
    }
    if (others_ != nullptr) join(sums, width, out);
  }
  /// So many parts there must be room for.
  [[nodiscard]] int outputs(int at_once) const;
  /// Of sums that are made of doubles alone.
  template <class Sums>
  [[nodiscard]] Sums add_up(std::vector<Sums>& parts) const {
    static_assert(std::is_standard_layout_v<Sums> && sizeof(Sums) % sizeof(double) == 0);
    constexpr Offset width = sizeof(Sums) / sizeof(double);
    Sums out;
    add_up(reinterpret_cast<double*>(parts.data()), width, reinterpret_cast<double*>(&out));
    return out;
  }

 private:
  /// Adds up numbers [from, from + count) of so many parts, which are a branch.
  template <class Number>
  static void add_neighbours(int parts, Number* of, Offset width, Number* out, Offset from, Offset count);
  /// Adds up numbers [from, from + count) of every branch: a single one to `out`, several beside each other.
  template <class Number>
  void add_branches(Number* parts, Offset width, Number* out, Offset from, Offset count) const;
  template <class Number>
  void join(Number* parts, Offset width, Number* out) const {
    const auto size = static_cast<std::size_t>(width);
    others_->add_up(std::span<const Number>(parts, size * branches_.size()), std::span<Number>(out, size));
  }

  ShardCuts cuts_;
  int first_ = 0;
  int all_;
  OtherShards* others_ = nullptr;
  std::vector<Branch> branches_;  // numbered from the first shard here
};

/// Ranges of rows that are branches of the tree of shards: as many as stay below `most` rows, and single shards, those
/// with more rows in equal parts of about so many (at most `pieces` of all rows).
std::vector<Index> join_shards(const std::vector<Index>& cuts, Index most, int pieces);

}  // namespace tracenorm
