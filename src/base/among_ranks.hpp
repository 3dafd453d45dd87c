// What ranks tell each other beside sums over shards: lists, counts, exact sums. Without ranks (null) everything is
// here.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/exact_sum.hpp"
#include "tracenorm/ranks.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm {

/// The numbers of all ranks, in their order.
template <class Number>
std::vector<Number> gathered(std::span<const Number> mine, Ranks& ranks) {
  const std::vector<std::byte> bytes = ranks.gather(std::as_bytes(mine));
  std::vector<Number> all(bytes.size() / sizeof(Number));
  if (!bytes.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}
template <class Number>
std::vector<Number> gathered(std::vector<Number> mine, Ranks* ranks) {
  return ranks == nullptr ? std::move(mine) : gathered(std::span<const Number>(mine), *ranks);
}

/// Number by number the sum over ranks, of whole numbers.
template <class Number>
void add_up_counts(std::span<Number> counts, Ranks& ranks) {
  constexpr std::size_t piece = std::size_t{1} << 16U;  // of those of all ranks: nobody keeps more
  for (std::size_t first = 0; first < counts.size(); first += piece) {
    const std::span<Number> part = counts.subspan(first, std::min(piece, counts.size() - first));
    std::vector<Number> all(part.size() * static_cast<std::size_t>(ranks.size()));
    ranks.collect(std::as_bytes(part), std::as_writable_bytes(std::span(all)));
    for (std::size_t k = 0; k < part.size(); ++k) {
      part[k] = 0;
      for (std::size_t at = k; at < all.size(); at += part.size()) part[k] += all[at];
    }
  }
}
template <class Number>
Number total_count(Number mine, Ranks* ranks) {
  if (ranks != nullptr) add_up_counts(std::span(&mine, 1), *ranks);
  return mine;
}

inline double total(ExactSum mine, Ranks* ranks) {
  if (ranks == nullptr) return mine.value();
  double not_finite = mine.value();  // only such a one is added up like that
  not_finite = std::isfinite(not_finite) ? 0 : not_finite;
  ranks->sum(std::span(&not_finite, 1));
  if (!(not_finite == 0)) return not_finite;
  add_up_counts(mine.digits(), *ranks);
  return mine.value();
}

/// What rank `from` has.
inline std::string told(std::string mine, int from, Ranks& ranks) {
  std::uint64_t size = mine.size();
  ranks.broadcast(std::as_writable_bytes(std::span(&size, 1)), from);
  mine.resize(size);
  ranks.broadcast(std::as_writable_bytes(std::span(mine.data(), mine.size())), from);
  return mine;
}

/// The first to[0] of a list go to rank 0, the next to[1] to rank 1, ...; returns what comes, in the order of ranks:
/// that of rank r begins at begins[r].
template <class Number>
std::vector<Number> traded(std::span<const Number> mine, const std::vector<std::size_t>& to, Ranks& ranks,
                           std::vector<std::size_t>* begins = nullptr) {
  constexpr std::size_t most_bytes = std::size_t{1} << 24U;  // that a rank sends at once
  const auto size = static_cast<std::size_t>(ranks.size());
  const auto rank = static_cast<std::size_t>(ranks.rank());
  const std::vector<std::size_t> counts = gathered(std::span<const std::size_t>(to), ranks);  // from, to
  const std::size_t piece = std::max<std::size_t>(1, most_bytes / sizeof(Number) / size);
  const std::size_t most = *std::max_element(counts.begin(), counts.end());
  std::vector<std::size_t> from(size + 1, 0);   // where what a rank sends me goes
  std::vector<std::size_t> begin(size + 1, 0);  // where what I send begins
  for (std::size_t r = 0; r < size; ++r) {
    from[r + 1] = from[r] + counts[r * size + rank];
    begin[r + 1] = begin[r] + to[r];
  }
  if (begins != nullptr) *begins = from;
  std::vector<Number> all(from.back());
  std::vector<Number> sent;
  std::vector<Number> received;
  std::vector<std::size_t> sent_begin(size + 1, 0);
  std::vector<std::size_t> received_begin(size + 1, 0);
  for (std::size_t done = 0; done < most; done += piece) {
    const auto now = [&](std::size_t count) { return std::min(piece, count - std::min(done, count)); };
    sent.clear();
    for (std::size_t r = 0; r < size; ++r) {
      const auto first = mine.begin() + static_cast<std::ptrdiff_t>(begin[r] + std::min(done, to[r]));
      sent.insert(sent.end(), first, first + static_cast<std::ptrdiff_t>(now(to[r])));
      sent_begin[r + 1] = sent.size() * sizeof(Number);
      received_begin[r + 1] = received_begin[r] + now(counts[r * size + rank]) * sizeof(Number);
    }
    received.resize(received_begin.back() / sizeof(Number));
    ranks.trade(std::as_bytes(std::span(std::as_const(sent))), sent_begin, std::as_writable_bytes(std::span(received)),
                received_begin);
    const Number* at = received.data();
    for (std::size_t r = 0; r < size; ++r) {
      const std::size_t count = now(counts[r * size + rank]);
      std::copy_n(at, count, all.begin() + static_cast<std::ptrdiff_t>(from[r] + done));
      at += count;
    }
  }
  return all;
}

}  // namespace tracenorm
