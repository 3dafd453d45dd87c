// A graph as data: what of it is seen, what is held out to judge by, and what is not known to have a link.
#pragma once

#include <optional>
#include <vector>

#include "tracenorm/fit.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

/// Which part of a graph is seen. In the paper's protocol a share of all pairs is, and the others are held out; in the
/// usual one a share of the links is hidden among the pairs without one, which are all taken for absent.
struct LinkProtocol {
  double observed = 0.5;
  double flip = 0;
  bool unsymmetric = false;      ///< (a, b) and (b, a) of an undirected graph are drawn separately
  std::optional<double> hide{};  ///< the usual one
  std::uint64_t seed = 0;
};

/// A graph as a matrix: which pairs of nodes there are, which of them are links, and which links are hidden.
class LinkMatrix {
 public:
  LinkMatrix(io::Graph graph, const LinkProtocol& protocol);

  [[nodiscard]] Index rows() const { return links_.rows(); }
  [[nodiscard]] Index cols() const { return links_.cols(); }
  /// Each link once.
  [[nodiscard]] const std::vector<std::pair<Index, Index>>& edges() const { return graph_.edges; }
  [[nodiscard]] const io::Graph& graph() const { return graph_; }
  /// Both ways, where a link has no direction.
  [[nodiscard]] const SparsePattern& links() const { return links_; }
  [[nodiscard]] const SparsePattern& hidden() const { return hidden_; }
  [[nodiscard]] Offset hidden_edges() const { return ordered() ? hidden_.entries() : hidden_.entries() / 2; }

  /// Whether (a, b) and (b, a) are two pairs.
  [[nodiscard]] bool ordered() const { return graph_.kind != io::GraphKind::undirected; }
  /// A node and itself are none, unless the graph has such links.
  [[nodiscard]] bool is_pair(Index a, Index b) const { return a != b || loops_; }
  /// How many have no link.
  [[nodiscard]] double absent() const;

 private:
  [[nodiscard]] SparsePattern pattern_of(const std::vector<std::pair<Index, Index>>& edges) const;

  io::Graph graph_;
  bool loops_;
  SparsePattern links_;
  SparsePattern hidden_;
};

/// Whether a row of a pattern has a column, for columns in ascending order.
class RowWalk {
 public:
  RowWalk(const SparsePattern& pattern, Index row)
      : col_(pattern.col()), at_(pattern.begin()[row]), end_(pattern.begin()[row + 1]) {}
  bool has(Index col) {
    while (at_ < end_ && col_[at_] < col) ++at_;
    return at_ < end_ && col_[at_] == col;
  }

 private:
  const Columns& col_;
  Offset at_;
  Offset end_;
};

/// All pairs, NaN where one is not seen.
DenseObservations observe(const LinkMatrix& graph, const LinkProtocol& protocol);

/// The links that are not hidden, and beside each so many pairs without one, drawn at random: for graphs whose pairs no
/// memory holds.
FitData sample_pairs(const LinkMatrix& graph, std::int64_t zeros, std::uint64_t seed);

}  // namespace tracenorm::app
