// A graph as data: what of it is seen, what is held out to judge by, and what is not known to have a link.
#pragma once

#include <optional>
#include <vector>

#include "tracenorm/fit.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

/// Which nodes a node is linked with, both ways.
class Neighbours {
 public:
  Neighbours(Index nodes, const std::vector<std::pair<Index, Index>>& edges);

  [[nodiscard]] Index nodes() const { return static_cast<Index>(begin_.size()) - 1; }
  [[nodiscard]] Offset links() const { return begin_.back() / 2; }
  [[nodiscard]] bool linked(Index a, Index b) const;
  /// One byte a node: whether `a` is linked with it.
  void mark(Index a, std::vector<unsigned char>& row) const;

 private:
  std::vector<Offset> begin_;
  std::vector<Index> other_;  // ascending within a node
};

/// Which part of a graph is seen. In the paper's protocol a share of all pairs is, and the others are held out; in the
/// usual one a share of the links is hidden among the pairs without one, which are all taken for absent.
struct LinkProtocol {
  double observed = 0.5;
  double flip = 0;
  bool unsymmetric = false;
  std::optional<double> hide{};  ///< the usual one
  std::uint64_t seed = 0;
};

/// The links that the usual protocol hides.
Neighbours hidden_links(const io::Graph& graph, const LinkProtocol& protocol);

/// All pairs, NaN where one is not seen.
DenseObservations observe(const Neighbours& graph, const Neighbours& hidden, const LinkProtocol& protocol);

/// The links that are not hidden, and beside each so many pairs without one, drawn at random: for graphs whose pairs no
/// memory holds.
FitData sample_pairs(const io::Graph& edges, const Neighbours& graph, const Neighbours& hidden, std::int64_t zeros,
                     std::uint64_t seed);

}  // namespace tracenorm::app
