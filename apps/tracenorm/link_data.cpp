#include "link_data.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/random.hpp"

namespace tracenorm::app {

namespace {

/// Streams of their own, so that the mask of a seed is the same for every flip probability, and so on.
constexpr std::uint64_t kFlipsStream = 0x5851f42d4c957f2dULL;
constexpr std::uint64_t kHiddenStream = 0x14057b7ef767814fULL;
constexpr std::uint64_t kZerosStream = 0x2545f4914f6cdd1dULL;

}  // namespace

Neighbours::Neighbours(Index nodes, const std::vector<std::pair<Index, Index>>& edges)
    : begin_(static_cast<std::size_t>(nodes) + 1), other_(2 * edges.size()) {
  for (const auto& [a, b] : edges) {
    ++begin_[static_cast<std::size_t>(a) + 1];
    ++begin_[static_cast<std::size_t>(b) + 1];
  }
  for (std::size_t a = 0; a + 1 < begin_.size(); ++a) begin_[a + 1] += begin_[a];
  std::vector<Offset> next(begin_.begin(), begin_.end() - 1);
  const auto add = [&](Index a, Index b) { other_[static_cast<std::size_t>(next[static_cast<std::size_t>(a)]++)] = b; };
  for (const auto& [a, b] : edges) {
    add(a, b);
    add(b, a);
  }
  for (std::size_t a = 0; a + 1 < begin_.size(); ++a) {
    std::sort(other_.begin() + begin_[a], other_.begin() + begin_[a + 1]);
  }
}

bool Neighbours::linked(Index a, Index b) const {
  const auto row = static_cast<std::size_t>(a);
  return std::binary_search(other_.begin() + begin_[row], other_.begin() + begin_[row + 1], b);
}

void Neighbours::mark(Index a, std::vector<unsigned char>& row) const {
  row.assign(begin_.size() - 1, 0);
  for (Offset e = begin_[static_cast<std::size_t>(a)]; e < begin_[static_cast<std::size_t>(a) + 1]; ++e) {
    row[static_cast<std::size_t>(other_[static_cast<std::size_t>(e)])] = 1;
  }
}

Neighbours hidden_links(const io::Graph& graph, const LinkProtocol& protocol) {
  std::vector<std::pair<Index, Index>> hidden;
  if (protocol.hide) {
    Random random(protocol.seed ^ kHiddenStream);
    for (const auto& edge : graph.edges) {
      if (random.uniform() < *protocol.hide) hidden.push_back(edge);
    }
  }
  return {graph.nodes, hidden};
}

DenseObservations observe(const Neighbours& graph, const Neighbours& hidden, const LinkProtocol& protocol) {
  Random mask(protocol.seed);
  Random flips(protocol.seed ^ kFlipsStream);
  const Index n = graph.nodes();
  const auto place = [n](Index a, Index b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(n) + static_cast<std::size_t>(b);
  };
  std::vector<Real> entries(static_cast<std::size_t>(n) * static_cast<std::size_t>(n),
                            std::numeric_limits<Real>::quiet_NaN());
  std::vector<unsigned char> links;
  std::vector<unsigned char> unseen;
  for (Index a = 0; a < n; ++a) {
    graph.mark(a, links);
    hidden.mark(a, unseen);
    for (Index b = protocol.unsymmetric ? 0 : a; b < n; ++b) {
      // In the usual protocol nothing is said of a node and itself.
      const bool seen = protocol.hide ? a != b : mask.uniform() < protocol.observed;
      const bool flipped = flips.uniform() < protocol.flip;
      if (!seen) continue;
      const auto at = static_cast<std::size_t>(b);
      const Real value = (links[at] != 0 && unseen[at] == 0) != flipped ? 1 : 0;
      entries[place(a, b)] = value;
      if (!protocol.unsymmetric) entries[place(b, a)] = value;
    }
  }
  return {n, n, std::move(entries), {}};
}

FitData sample_pairs(const io::Graph& edges, const Neighbours& graph, const Neighbours& hidden, std::int64_t zeros,
                     std::uint64_t seed) {
  Random random(seed ^ kZerosStream);
  const Index n = graph.nodes();
  std::vector<std::pair<Index, Index>> absent;
  FitData data;
  data.rows = data.cols = n;
  const auto add = [&](Index a, Index b, Real value) {
    for (const auto& [i, j] : {std::pair(a, b), std::pair(b, a)}) {
      data.entries.row.push_back(i);
      data.entries.col.push_back(j);
      data.entries.value.push_back(value);
    }
  };
  for (const auto& [a, b] : edges.edges) {
    if (hidden.linked(a, b)) continue;
    add(a, b, 1);
    for (std::int64_t k = 0; k < zeros; ++k) {
      const Index from = k % 2 == 0 ? a : b;  // nodes with many links have many zeros
      const auto to = static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
      // A hidden link that is drawn counts as absent, as it would among all pairs.
      if (to == from || (graph.linked(from, to) && !hidden.linked(from, to))) continue;
      absent.emplace_back(std::min(from, to), std::max(from, to));
    }
  }
  std::sort(absent.begin(), absent.end());
  absent.erase(std::unique(absent.begin(), absent.end()), absent.end());
  for (const auto& [a, b] : absent) add(a, b, 0);
  return data;
}

}  // namespace tracenorm::app
