#include "fit/split.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/execution.hpp"
#include "base/random.hpp"

namespace tracenorm {

namespace {

enum Part : unsigned char { kTrain, kValidation, kTest };

/// Which part each entry belongs to: the right number of each, shuffled (Fisher and Yates).
std::vector<Part> draw_parts(std::size_t count, const Shares& shares, std::uint64_t seed) {
  const auto size = [&](double share) {
    return static_cast<std::size_t>(std::llround(share * static_cast<double>(count)));
  };
  const std::size_t validation = size(shares.validation);
  const std::size_t test = std::min(size(shares.test), count - validation);
  std::vector<Part> parts(count, kTrain);
  std::fill_n(parts.begin(), validation, kValidation);
  std::fill_n(parts.begin() + static_cast<std::ptrdiff_t>(validation), test, kTest);
  Random random(seed);
  constexpr std::size_t at_once = 64;  // places on their way from memory
  std::array<std::size_t, at_once> drawn{};
  for (std::size_t i = count; i > 1;) {
    const std::size_t last = i - std::min(at_once, i - 1);
    for (std::size_t k = i; k > last; --k) {
      drawn[i - k] = random.below(k);
      __builtin_prefetch(&parts[drawn[i - k]], 1);
    }
    for (std::size_t k = i; k > last; --k) std::swap(parts[k - 1], parts[drawn[i - k]]);
    i = last;
  }
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
  const std::vector<Part> parts = draw_parts(entries.row.size(), shares, seed);
  const Execution execution(threads);
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
