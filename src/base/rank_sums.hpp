// Sums over shards that ranks share: each has added up the branches of the tree that are all its own, these travel, and
// whoever adds them up follows the tree.
#pragma once

#include <utility>
#include <vector>

#include "base/shards.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm {

class RankSums final : public OtherShards {
 public:
  /// Shards [cuts[r], cuts[r+1]) are those of rank r. The ranks must outlive it.
  RankSums(const std::vector<int>& cuts, Ranks& ranks);

  void add_up(std::span<const double> mine, std::span<double> out) override;
  void add_up(std::span<const float> mine, std::span<float> out) override;
  void in_turn(std::span<double> numbers, FunctionRef<void()> add) override;
  void share_last(std::span<double> numbers) override;

 private:
  template <class Number>
  struct Buffers {
    std::vector<Number> sent;
    std::vector<Number> received;
  };
  template <class Number>
  void add(std::span<const Number> mine, std::span<Number> out, Buffers<Number>& buffers);
  /// Few numbers go to everybody.
  template <class Number>
  void add_few(std::span<const Number> mine, std::span<Number> out, Buffers<Number>& buffers);
  /// Of numbers [first, first + count) of every branch each rank adds up a part, and gives it to all.
  template <class Number>
  void add_many(std::span<const Number> mine, std::span<Number> out, Offset first, Offset count,
                Buffers<Number>& buffers);
  /// Numbers of branch b are those from number place[b] on; the sum takes the place of the first.
  template <class Number>
  void add_along_tree(std::vector<Number>& numbers, Offset count) const;
  /// The branch in whose place the sum of these shards comes to lie.
  std::size_t plan(Branch sum, const std::vector<Branch>& branches);
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(ranks_.size()); }
  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(ranks_.rank()); }

  Ranks& ranks_;
  std::vector<std::size_t> branches_;                      // how many each rank has,
  std::size_t most_ = 1;                                   // and the most of them
  std::vector<std::pair<std::size_t, std::size_t>> plan_;  // what is added to which branch, one after the other
  std::vector<Offset> place_;                              // kept so that iterations do not allocate
  std::vector<std::size_t> sent_;
  std::vector<std::size_t> received_;
  std::vector<std::size_t> result_;
  Buffers<double> doubles_;
  Buffers<float> floats_;
};

}  // namespace tracenorm
