// Lists whose elements go to different ranks, in pieces, and answers that come back to where the questions were.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/among_ranks.hpp"

namespace tracenorm {

/// work(first, count) for pieces of a list, as often on every rank: who has fewer ends with empty ones.
template <class Work>
void in_rounds(std::size_t size, std::size_t piece, Ranks* ranks, Work&& work) {
  const std::size_t mine = (size + piece - 1) / piece;
  auto most = static_cast<double>(mine);
  if (ranks != nullptr) ranks->largest(std::span(&most, 1));
  for (std::size_t round = 0; round < static_cast<std::size_t>(most); ++round) {
    const std::size_t first = std::min(size, round * piece);
    work(first, std::min(piece, size - first));
  }
}

class Mail {
 public:
  /// Element k of a list goes to rank to[k]. Without ranks (null) all stay here.
  Mail(const std::vector<int>& to, Ranks* ranks) : ranks_(ranks), order_(to.size()) {
    if (ranks == nullptr) return;
    sent_.assign(static_cast<std::size_t>(ranks->size()), 0);
    for (const int rank : to) ++sent_[static_cast<std::size_t>(rank)];
    std::vector<std::size_t> next(sent_.size(), 0);
    std::partial_sum(sent_.begin(), sent_.end() - 1, next.begin() + 1);
    for (std::size_t k = 0; k < to.size(); ++k) order_[next[static_cast<std::size_t>(to[k])]++] = k;
    const std::vector<std::size_t> one(sent_.size(), 1);
    came_ = traded(std::span<const std::size_t>(sent_), one, *ranks);
  }

  /// What comes here: that of the first rank, in the order of its list, then that of the next one.
  template <class Number>
  [[nodiscard]] std::vector<Number> deliver(std::vector<Number> list) const {
    if (ranks_ == nullptr) return list;
    std::vector<Number> sorted(list.size());
    for (std::size_t k = 0; k < order_.size(); ++k) sorted[k] = list[order_[k]];
    return traded(std::span<const Number>(sorted), sent_, *ranks_);
  }
  [[nodiscard]] std::vector<std::string> deliver(std::span<const std::string> list) const {
    if (ranks_ == nullptr) return {list.begin(), list.end()};
    std::vector<std::uint32_t> lengths(list.size());
    for (std::size_t k = 0; k < list.size(); ++k) lengths[k] = static_cast<std::uint32_t>(list[k].size());
    lengths = deliver(std::move(lengths));
    std::vector<char> letters;
    std::vector<std::size_t> sent(sent_.size(), 0);
    for (std::size_t rank = 0, k = 0; rank < sent.size(); ++rank) {
      for (const std::size_t end = k + sent_[rank]; k < end; ++k) {
        const std::string& text = list[order_[k]];
        letters.insert(letters.end(), text.begin(), text.end());
        sent[rank] += text.size();
      }
    }
    letters = traded(std::span<const char>(letters), sent, *ranks_);
    std::vector<std::string> texts;
    texts.reserve(lengths.size());
    auto at = letters.begin();
    for (const std::uint32_t length : lengths) {
      texts.emplace_back(at, at + length);
      at += length;
    }
    return texts;
  }

  /// One answer to each element that was delivered here; returns those to the elements that were sent, in their order.
  template <class Number>
  [[nodiscard]] std::vector<Number> reply(std::vector<Number> answers) const {
    if (ranks_ == nullptr) return answers;
    const std::vector<Number> sorted = traded(std::span<const Number>(answers), came_, *ranks_);
    std::vector<Number> list(sorted.size());
    for (std::size_t k = 0; k < order_.size(); ++k) list[order_[k]] = sorted[k];
    return list;
  }

 private:
  Ranks* ranks_;
  std::vector<std::size_t> order_;  // places in the list, by the rank that they go to
  std::vector<std::size_t> sent_;   // how many go to each rank,
  std::vector<std::size_t> came_;   // and come from it
};

}  // namespace tracenorm
