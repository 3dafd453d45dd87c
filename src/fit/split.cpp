#include "fit/split.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/among_ranks.hpp"
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

/// How many of the first so many entries are validation and test entries.
struct PartSizes {
  Shares shares;
  [[nodiscard]] Offset validation(Offset entries) const {
    return std::llround(shares.validation * static_cast<double>(entries));
  }
  [[nodiscard]] Offset test(Offset entries) const {
    return std::min<Offset>(std::llround(shares.test * static_cast<double>(entries)), entries - validation(entries));
  }
};

/// Of a block of entries: the right number of each part, shuffled.
void draw_block(std::span<Part> block, Offset first, const PartSizes& sizes, std::uint64_t seed) {
  const auto entries = static_cast<Offset>(block.size());
  std::fill(block.begin(), block.end(), kTrain);
  const auto of_validation = static_cast<std::size_t>(sizes.validation(first + entries) - sizes.validation(first));
  const auto of_test =
      std::min(static_cast<std::size_t>(sizes.test(first + entries) - sizes.test(first)), block.size() - of_validation);
  std::fill_n(block.begin(), of_validation, kValidation);
  std::fill_n(block.begin() + static_cast<std::ptrdiff_t>(of_validation), of_test, kTest);
  shuffle(block, Random(seed + static_cast<std::uint64_t>(first)));
}

/// Which part each entry belongs to: the right number of each, and of each in every block, shuffled there.
std::vector<Part> draw_parts(std::size_t count, const Shares& shares, std::uint64_t seed, const Execution& execution) {
  std::vector<Part> parts(count, kTrain);
  execution.for_each_block(static_cast<Offset>(count), kShuffled, [&](Offset first, Offset entries) {
    draw_block({parts.data() + first, static_cast<std::size_t>(entries)}, first, {shares}, seed);
  });
  return parts;
}

using Places = std::array<std::size_t, 3>;

/// The same for entries that are dealt out: every rank draws all blocks, and keeps what it draws for its own entries.
/// Their places become those within their parts, of which there are `sizes`.
std::vector<Part> draw_parts(DealtEntries& dealt, const Shares& shares, std::uint64_t seed, const Execution& execution,
                             Places& sizes) {
  const auto blocks = static_cast<std::size_t>((dealt.all + kShuffled - 1) / kShuffled);
  std::vector<std::size_t> begin;  // of the entries here that belong to a block
  for (std::size_t b = 0; b <= blocks; ++b) {
    const auto first = std::lower_bound(dealt.place.begin(), dealt.place.end(), static_cast<Offset>(b) * kShuffled);
    begin.push_back(static_cast<std::size_t>(first - dealt.place.begin()));
  }
  std::vector<Part> parts(dealt.place.size());
  std::vector<Places> in_block(blocks);
  execution.for_each_block(dealt.all, kShuffled, [&](Offset first, Offset entries) {
    const auto b = static_cast<std::size_t>(first / kShuffled);
    std::vector<Part> block(static_cast<std::size_t>(entries));
    draw_block(block, first, {shares}, seed);
    std::size_t here = begin[b];
    for (std::size_t e = 0; e < block.size(); ++e) {
      const std::size_t place = in_block[b][block[e]]++;
      if (here == begin[b + 1] || dealt.place[here] != first + static_cast<Offset>(e)) continue;
      dealt.place[here] = static_cast<Offset>(place);
      parts[here++] = block[e];
    }
  });
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t e = begin[b]; e < begin[b + 1]; ++e) dealt.place[e] += static_cast<Offset>(sizes[parts[e]]);
    for (std::size_t k = 0; k < sizes.size(); ++k) sizes[k] += in_block[b][k];
  }
  return parts;
}

/// The list of all ranks, in the order of its places.
template <class T>
void gather_list(std::vector<T>& list, const std::vector<Offset>& places, Ranks& ranks) {
  const std::vector<T> all = gathered(std::span<const T>(list), ranks);
  list.resize(all.size());
  for (std::size_t e = 0; e < all.size(); ++e) list[static_cast<std::size_t>(places[e])] = all[e];
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

  void deal(Entries& entries, Split& split) const {
    deal<Index>(entries.row, {&split.train.row, &split.validation.row, &split.test.row});
    deal<Index>(entries.col, {&split.train.col, &split.validation.col, &split.test.col});
    deal<Real>(entries.value, {&split.train.value, &split.validation.value, &split.test.value});
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
  dealer.deal(entries, split);
  std::vector<Real> unused;
  if (!weight.empty()) dealer.deal<Real>(weight, {&split.train_weight, &split.validation_weight, &unused});
  return split;
}

Split split_entries(Entries entries, DealtEntries dealt, const Shares& shares, std::uint64_t seed,
                    std::vector<Real> weight, int threads) {
  if (shares.validation == 0 && shares.test == 0) {
    return {std::move(entries), {}, {}, std::move(weight), {}, std::move(dealt)};
  }
  const Execution execution(threads);
  Places sizes{};
  const std::vector<Part> parts = draw_parts(dealt, shares, seed, execution, sizes);
  const Dealer dealer(parts, execution);
  Split split;
  dealer.deal(entries, split);
  Ranks& ranks = *dealt.ranks;
  std::vector<Real> test_weight;
  if (!weight.empty()) dealer.deal<Real>(weight, {&split.train_weight, &split.validation_weight, &test_weight});
  split.dealt = DealtEntries{&ranks, dealt.first, dealt.last, {}, static_cast<Offset>(sizes[kTrain])};
  std::vector<Offset> validation;
  std::vector<Offset> test;
  dealer.deal<Offset>(dealt.place, {&split.dealt->place, &validation, &test});
  for (auto& [places, part] : {std::pair(&validation, &split.validation), std::pair(&test, &split.test)}) {
    *places = gathered(std::span<const Offset>(*places), ranks);
    gather_list(part->row, *places, ranks);
    gather_list(part->col, *places, ranks);
    gather_list(part->value, *places, ranks);
  }
  if (total_count<Offset>(split.validation_weight.empty() ? 0 : 1, &ranks) > 0)
    gather_list(split.validation_weight, validation, ranks);
  return split;
}

}  // namespace tracenorm
