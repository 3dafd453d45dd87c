#include "link_data.hpp"

#include <algorithm>
#include <utility>

#include "base/random.hpp"

namespace tracenorm::app {

namespace {

using Edges = std::vector<std::pair<Index, Index>>;

/// Streams of their own, so that the mask of a seed is the same for every flip probability, and so on.
constexpr std::uint64_t kFlipsStream = 0x5851f42d4c957f2dULL;
constexpr std::uint64_t kHiddenStream = 0x14057b7ef767814fULL;
constexpr std::uint64_t kZerosStream = 0x2545f4914f6cdd1dULL;

Edges draw_hidden(const Edges& edges, const LinkProtocol& protocol) {
  Edges hidden;
  if (!protocol.hide) return hidden;
  Random random(protocol.seed ^ kHiddenStream);
  std::copy_if(edges.begin(), edges.end(), std::back_inserter(hidden),
               [&](const auto&) { return random.uniform() < *protocol.hide; });
  return hidden;
}

/// (a, b), and (b, a) where a link has no direction.
void add(Entries& entries, bool ordered, Index a, Index b, Real value) {
  entries.row.push_back(a);
  entries.col.push_back(b);
  entries.value.push_back(value);
  if (!ordered) add(entries, true, b, a, value);
}

}  // namespace

LinkMatrix::LinkMatrix(io::Graph graph, const LinkProtocol& protocol)
    : graph_(std::move(graph)),
      loops_(graph_.kind == io::GraphKind::bipartite ||
             std::any_of(edges().begin(), edges().end(), [](const auto& edge) { return edge.first == edge.second; })),
      links_(pattern_of(edges())),
      hidden_(pattern_of(draw_hidden(edges(), protocol))) {}

SparsePattern LinkMatrix::pattern_of(const Edges& edges) const {
  Entries ones;
  for (const auto& [a, b] : edges) add(ones, ordered(), a, b, 1);
  return make_sparse(graph_.nodes, graph_.right_nodes, ones).pattern;
}

double LinkMatrix::absent() const {
  const double all = double(rows()) * double(cols()) - (loops_ ? 0.0 : double(rows()));
  return (ordered() ? all : all / 2) - static_cast<double>(edges().size());
}

DenseObservations observe(const LinkMatrix& graph, const LinkProtocol& protocol) {
  Random mask(protocol.seed);
  Random flips(protocol.seed ^ kFlipsStream);
  const auto place = [&](Index a, Index b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(graph.cols()) + static_cast<std::size_t>(b);
  };
  std::vector<std::int8_t> entries(place(graph.rows(), 0), DenseValues::kMissing);
  const bool mirrored = !graph.ordered() && !protocol.unsymmetric;
  // The paper sees the diagonal of an undirected graph, too; in the usual protocol nothing is said of it.
  const bool pairs_only = graph.ordered() || protocol.hide;
  for (Index a = 0; a < graph.rows(); ++a) {
    RowWalk links(graph.links(), a);
    RowWalk hidden(graph.hidden(), a);
    for (Index b = mirrored ? a : 0; b < graph.cols(); ++b) {
      const bool drawn = protocol.hide || mask.uniform() < protocol.observed;
      const bool flipped = flips.uniform() < protocol.flip;
      if (!drawn || (pairs_only && !graph.is_pair(a, b))) continue;
      const std::int8_t value = (links.has(b) && !hidden.has(b)) != flipped ? 1 : 0;
      entries[place(a, b)] = value;
      if (mirrored) entries[place(b, a)] = value;
    }
  }
  return {graph.rows(), graph.cols(), DenseValues(std::move(entries), 0, 1), {}};
}

FitData sample_pairs(const LinkMatrix& graph, std::int64_t zeros, std::uint64_t seed) {
  Random random(seed ^ kZerosStream);
  const auto draw = [&](Index nodes) { return static_cast<Index>(random.below(static_cast<std::uint64_t>(nodes))); };
  Edges absent;
  FitData data;
  data.rows = graph.rows();
  data.cols = graph.cols();
  for (const auto& [a, b] : graph.edges()) {
    if (graph.hidden().find(a, b) >= 0) continue;
    add(data.entries, graph.ordered(), a, b, 1);
    for (std::int64_t k = 0; k < zeros; ++k) {  // nodes with many links have many zeros
      const auto [from, to] = k % 2 == 0 ? std::pair(a, draw(graph.cols())) : std::pair(draw(graph.rows()), b);
      // A hidden link that is drawn counts as absent, as it would among all pairs.
      const bool linked = graph.links().find(from, to) >= 0 && graph.hidden().find(from, to) < 0;
      if (linked || !graph.is_pair(from, to)) continue;
      graph.ordered() ? absent.emplace_back(from, to) : absent.emplace_back(std::minmax(from, to));
    }
  }
  std::sort(absent.begin(), absent.end());
  absent.erase(std::unique(absent.begin(), absent.end()), absent.end());
  for (const auto& [a, b] : absent) add(data.entries, graph.ordered(), a, b, 0);
  return data;
}

}  // namespace tracenorm::app
