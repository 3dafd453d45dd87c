#include "io/parts.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/among_ranks.hpp"
#include "base/rank_share.hpp"
#include "io/messages.hpp"
#include "io/source.hpp"

namespace tracenorm::io {
namespace {

std::size_t place_of(Offset index) { return static_cast<std::size_t>(index); }

/// How the entries of one rank are dealt to all.
class Dealer {
 public:
  /// Refers to `row`, which is dealt last.
  Dealer(const std::vector<Index>& row, const std::vector<Index>& cuts, Ranks& ranks)
      : row_(row), cuts_(cuts), counts_(cuts.size() - 1, 0), ranks_(ranks) {
    for (const Index r : row_) ++counts_[owner(r)];
  }
  /// The list becomes what this rank is dealt.
  template <class Number>
  void deal(std::vector<Number>& list, std::vector<std::size_t>* begins = nullptr) const {
    std::vector<std::size_t> next(counts_.size(), 0);
    std::partial_sum(counts_.begin(), counts_.end() - 1, next.begin() + 1);
    std::vector<Number> sorted(list.size());
    for (std::size_t e = 0; e < list.size(); ++e) sorted[next[owner(row_[e])]++] = list[e];
    std::vector<Number>().swap(list);
    list = traded(std::span<const Number>(sorted), counts_, ranks_, begins);
  }

 private:
  [[nodiscard]] std::size_t owner(Index row) const {
    return place_of(std::upper_bound(cuts_.begin(), cuts_.end(), row) - cuts_.begin()) - 1;
  }

  const std::vector<Index>& row_;
  const std::vector<Index>& cuts_;
  std::vector<std::size_t> counts_;  // for each rank
  Ranks& ranks_;
};

}  // namespace

std::uint64_t skip(ByteSource& bytes, std::uint64_t count) {
  std::vector<char> room(std::size_t{1} << 18U);
  std::uint64_t skipped = 0;
  while (skipped < count) {
    const std::uint64_t wanted = std::min<std::uint64_t>(room.size(), count - skipped);
    const std::size_t got = bytes.read(room.data(), static_cast<std::size_t>(wanted));
    skipped += got;
    if (got < wanted) break;
  }
  return skipped;
}

Offset deal_rows(NamedEntries& data, DealtEntries& dealt) {
  Ranks& ranks = *dealt.ranks;
  Entries& entries = data.entries;
  std::vector<Offset> begin(place_of(data.rows) + 1, 0);
  for (const Index row : entries.row) ++begin[place_of(row) + 1];
  add_up_counts(std::span(begin), ranks);
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  dealt.all = begin.back();
  const std::vector<Offset> read = gathered(std::vector<Offset>{entries.size()}, &ranks);
  const Offset first = std::accumulate(read.begin(), read.begin() + ranks.rank(), Offset{0});
  if (dealt.all == 0) return first;
  const Share share = make_share(cut_shards(data.rows, data.cols, dealt.all, begin.data()), ranks);
  std::vector<Offset>().swap(begin);
  dealt.first = share.first();
  dealt.last = share.last();
  const Dealer dealer(entries.row, share.cuts, ranks);
  dealer.deal(entries.col);
  dealer.deal(entries.value);
  // A rank that has read nothing does not know of columns that the others have.
  if (total_count<Offset>(data.weight.empty() ? 0 : 1, &ranks) > 0) dealer.deal(data.weight);
  if (total_count<Offset>(data.time.empty() ? 0 : 1, &ranks) > 0) dealer.deal(data.time);
  // Places among those that a rank has read take half of the room.
  std::vector<std::uint32_t> place(entries.row.size());
  if (total_count<Offset>(entries.size() > Offset{std::numeric_limits<std::uint32_t>::max()} ? 1 : 0, &ranks) > 0)
    fail("a rank can read 4 billion entries, and one had more; start more ranks");
  std::iota(place.begin(), place.end(), std::uint32_t{0});
  std::vector<std::size_t> begins;
  dealer.deal(place, &begins);
  dealer.deal(entries.row);
  dealt.place.resize(place.size());
  Offset before = 0;
  for (std::size_t r = 0; r + 1 < begins.size(); ++r) {
    for (std::size_t e = begins[r]; e < begins[r + 1]; ++e) dealt.place[e] = before + Offset{place[e]};
    before += read[r];
  }
  return first;
}

void leave_places(DealtEntries& dealt, const std::vector<Offset>& gone) {
  std::vector<Offset> all = gathered(gone, dealt.ranks);
  if (all.empty()) return;
  std::sort(all.begin(), all.end());
  std::erase_if(dealt.place, [&](Offset place) { return std::binary_search(gone.begin(), gone.end(), place); });
  auto before = all.begin();
  for (Offset& place : dealt.place) {
    while (before != all.end() && *before < place) ++before;
    place -= before - all.begin();
  }
  dealt.all -= static_cast<Offset>(all.size());
}

ValueSample sample_of(const std::vector<Real>& values, const DealtEntries& dealt) {
  const auto stride = static_cast<Offset>(doubt_stride(place_of(dealt.all)));
  std::vector<std::pair<Offset, Real>> some;
  for (std::size_t e = 0; e < values.size(); ++e) {
    if (dealt.place[e] % stride == 0) some.emplace_back(dealt.place[e], values[e]);
  }
  std::vector<Offset> places(some.size());
  std::vector<Real> sampled(some.size());
  for (std::size_t k = 0; k < some.size(); ++k) std::tie(places[k], sampled[k]) = some[k];
  places = gathered(std::move(places), dealt.ranks);
  sampled = gathered(std::move(sampled), dealt.ranks);
  ValueSample sample;
  sample.some.resize(sampled.size());
  for (std::size_t k = 0; k < sampled.size(); ++k) sample.some[place_of(places[k] / stride)] = sampled[k];
  double ends[2] = {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const Real value : values) {
    ends[0] = std::max(ends[0], -double(value));
    ends[1] = std::max(ends[1], double(value));
  }
  dealt.ranks->largest(ends);
  sample.ends = [least = static_cast<Real>(-ends[0]), most = static_cast<Real>(ends[1])] {
    return std::pair(least, most);
  };
  return sample;
}

}  // namespace tracenorm::io
