#include "fit/split.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/execution.hpp"
#include "base/random.hpp"

namespace tracenorm {

namespace {

enum Part : unsigned char { kTrain, kValidation, kTest };

/// So many entries are shuffled together, each such block by its own random numbers: on all threads, and the same on
/// any number of them. Smaller data are one block.
constexpr Offset kShuffled = Offset{1} << 22U;

/// Fisher and Yates.
void shuffle(std::span<Part> parts, Random random) {
  constexpr std::size_t at_once = 64;  // places on their way from memory
  std::array<std::size_t, at_once> drawn{};
  for (std::size_t i = parts.size(); i > 1;) {
    const std::size_t last = i - std::min(at_once, i - 1);
    for (std::size_t k = i; k > last; --k) {
      drawn[i - k] = random.below(k);
      __builtin_prefetch(&parts[drawn[i - k]], 1);
    }
    for (std::size_t k = i; k > last; --k) std::swap(parts[k - 1], parts[drawn[i - k]]);
    i = last;
  }
}

/// Which part each entry belongs to: the right number of each, and of each in every block, shuffled there.
std::vector<Part> draw_parts(std::size_t count, const Shares& shares, std::uint64_t seed, const Execution& execution) {
  std::vector<Part> parts(count, kTrain);
  // How many of the first so many entries are validation and test entries.
  const auto validation = [&](Offset entries) {
    return std::llround(shares.validation * static_cast<double>(entries));
  };
  const auto test = [&](Offset entries) {
    return std::min(std::llround(shares.test * static_cast<double>(entries)), entries - validation(entries));
  };
  execution.for_each_block(static_cast<Offset>(count), kShuffled, [&](Offset first, Offset entries) {
    const std::span<Part> block(parts.data() + first, static_cast<std::size_t>(entries));
    const auto of_validation = static_cast<std::size_t>(validation(first + entries) - validation(first));
    const auto of_test =
        std::min(static_cast<std::size_t>(test(first + entries) - test(first)), block.size() - of_validation);
    std::fill_n(block.begin(), of_validation, kValidation);
    std::fill_n(block.begin() + static_cast<std::ptrdiff_t>(of_validation), of_test, kTest);
    shuffle(block, Random(seed + static_cast<std::uint64_t>(first)));
  });
  return parts;
}

/// Deals arrays out to their parts, on all threads: blocks know where theirs go.
class Dealer {
 public:
  Dealer(const std::vector<Part>& parts, const Execution& execution) : parts_(parts), execution_(execution) {
    places_.resize((parts.size() + kBlock - 1) / kBlock);
    execution.for_each_block(static_cast<Offset>(parts.size()), kBlock, [&](Offset first, Offset count) {
      Places& here = places_[static_cast<std::size_t>(first / kBlock)];
      for (Offset e = first; e < first + count; ++e) ++here[parts[static_cast<std::size_t>(e)]];
    });
    for (Places& here : places_) {
      for (std::size_t k = 0; k < here.size(); ++k) sizes_[k] += std::exchange(here[k], sizes_[k]);
    }
  }

  /// Frees the array: with large data the peak of memory is here.
  template <class T>
  void deal(std::vector<T>& source, const std::array<std::vector<T>*, 3>& targets) const {
    for (std::size_t k = 0; k < targets.size(); ++k) targets[k]->resize(sizes_[k]);
    execution_.for_each_block(static_cast<Offset>(source.size()), kBlock, [&](Offset first, Offset count) {
      Places next = places_[static_cast<std::size_t>(first / kBlock)];
      for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(first + count); ++e)
        (*targets[parts_[e]])[next[parts_[e]]++] = source[e];
    });
    std::vector<T>().swap(source);
  }

 private:
  static constexpr Offset kBlock = Offset{1} << 18U;
  using Places = std::array<std::size_t, 3>;

  const std::vector<Part>& parts_;
  const Execution& execution_;
  std::vector<Places> places_;
  Places sizes_{};
};

}  // namespace

Split split_entries(Entries entries, const Shares& shares, std::uint64_t seed, std::vector<Real> weight, int threads) {
  if (shares.validation == 0 && shares.test == 0) return {std::move(entries), {}, {}, std::move(weight), {}};
  const Execution execution(threads);
  const std::vector<Part> parts = draw_parts(entries.row.size(), shares, seed, execution);
  const Dealer dealer(parts, execution);
  Split split;
  dealer.deal<Index>(entries.row, {&split.train.row, &split.validation.row, &split.test.row});
  dealer.deal<Index>(entries.col, {&split.train.col, &split.validation.col, &split.test.col});
  dealer.deal<Real>(entries.value, {&split.train.value, &split.validation.value, &split.test.value});
  std::vector<Real> unused;
  if (!weight.empty()) dealer.deal<Real>(weight, {&split.train_weight, &split.validation_weight, &unused});
  return split;
}

}  // namespace tracenorm
