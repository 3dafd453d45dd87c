// Edge lists of graphs, in rounds. Nodes are numbered as ids of triplets are.
#include <algorithm>
#include <utility>

#include "base/execution.hpp"
#include "io/id_sides.hpp"
#include "io/messages.hpp"
#include "io/readers.hpp"
#include "io/text.hpp"
#include "io/text_rounds.hpp"

namespace tracenorm::io {
namespace {

/// Some files of SNAP begin with the address that they are from.
bool is_address(std::string_view text) {
  return (text.starts_with("http://") || text.starts_with("https://")) &&
         text.find_first_of(" \t,;|") == std::string_view::npos;
}

bool is_comment(std::string_view text) { return text[0] == '#' || text[0] == '%' || is_address(text); }

// Each edge once; an undirected one from the smaller node to the larger, and without loops.
void tidy(Graph& graph, const Execution& execution) {
  auto& edges = graph.edges;
  if (graph.kind == GraphKind::undirected) {
    std::erase_if(edges, [](const auto& edge) { return edge.first == edge.second; });
    for (auto& [a, b] : edges)
      if (a > b) std::swap(a, b);
  }
  // Blocks are sorted at once, and pairs of neighbours merged.
  constexpr Offset block = Offset{1} << 16U;
  const Offset size = std::ssize(edges);
  execution.for_each_block(size, block, [&](Offset first, Offset count) {
    std::sort(edges.begin() + first, edges.begin() + first + count);
  });
  for (Offset width = block; width < size; width *= 2) {
    execution.for_each_block(size, 2 * width, [&](Offset first, Offset count) {
      if (count > width)
        std::inplace_merge(edges.begin() + first, edges.begin() + first + width, edges.begin() + first + count);
    });
  }
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

// "source,target" above the edges: a first line without any digit, followed by edges of numbers, names the columns.
// Names of nodes may be words too, so only the usual words count.
bool is_edge_header(const std::vector<std::string_view>& fields, GraphKind kind) {
  const std::string first = to_lower(fields.front());
  for (const std::string_view word :
       {"source", "sourceid", "source_id", "src",   "from",   "fromid",   "from_id", "fromnodeid",
        "node",   "node1",    "node_1",    "nodea", "node_a", "id1",      "id_1",    "u",
        "head",   "protein1", "proteina",  "gene1", "genea",  "follower", "citing"})
    if (first == word) return true;
  if (kind != GraphKind::bipartite) return false;
  return first == "left" || first == "user" || first == "userid" || first == "user_id";
}

class EdgeText {
 public:
  EdgeText(ByteSource source, GraphKind kind, const Execution& execution)
      : lines_(std::move(source)),
        kind_(kind),
        execution_(execution),
        rounds_(lines_, execution),
        nodes_("node id", [this] { return at(bad_line_); }),
        right_nodes_("node id", [this] { return at(bad_line_); }) {
    read_header();
  }

  /// Edges as they come.
  Graph run() {
    while (rounds_.next([&] { return at(line_ + 1); })) {
      rounds_.read(blocks_, Block(*this), [&](Block& block) { read(block); });
      settle_blocks();
    }
    if (edges_.empty()) fail("'{}' is empty: lines of \"node node\" were expected", lines_.name());
    Graph graph;
    graph.kind = kind_;
    graph.nodes = nodes_.size();
    graph.right_nodes = ends().size();
    std::vector<Index> renumbered;
    std::vector<Index> right_renumbered;
    graph.labels = nodes_.finish(renumbered);
    graph.right_labels = ends().finish(right_renumbered);
    constexpr Offset block = Offset{1} << 16U;
    execution_.for_each_block(std::ssize(edges_), block, [&](Offset first, Offset count) {
      for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(first + count); ++k) {
        auto& [a, b] = edges_[k];
        if (!renumbered.empty()) a = renumbered[static_cast<std::size_t>(a)];
        if (!right_renumbered.empty()) b = right_renumbered[static_cast<std::size_t>(b)];
      }
    });
    graph.edges = std::move(edges_);
    return graph;
  }

 private:
  struct Block : LineBlock {
    explicit Block(const EdgeText& all) : ids(all.nodes_), right_ids(all.right_nodes_) {}
    NamedSide::Own ids;
    NamedSide::Own right_ids;
    std::vector<Index> from;  // both ends of each edge, unless they have ids of their own
    std::vector<Index> to;

    [[nodiscard]] bool bipartite() const { return !to.empty(); }
    [[nodiscard]] std::size_t edges() const { return bipartite() ? to.size() : from.size() / 2; }
    [[nodiscard]] std::pair<Index, Index> edge(std::size_t k) const {
      return bipartite() ? std::pair(NamedSide::settled(from[k], ids), NamedSide::settled(to[k], right_ids))
                         : std::pair(NamedSide::settled(from[2 * k], ids), NamedSide::settled(from[2 * k + 1], ids));
    }
  };

  [[nodiscard]] std::string at(Offset line) const { return at_line(lines_.name(), line); }
  [[nodiscard]] bool bipartite() const { return kind_ == GraphKind::bipartite; }
  [[nodiscard]] const NamedSide& ends() const { return bipartite() ? right_nodes_ : nodes_; }
  static bool holds_edge(std::string_view line) {
    const std::string_view text = trim(line);
    return !text.empty() && !is_comment(text);
  }

  void read_header() {
    std::string_view line;
    do {
      if (!lines_.next(line)) return;
    } while (!holds_edge(line));
    separator_ = detect_separator(line, 2);
    FieldSplitter splitter(separator_);
    const auto& fields = splitter.split(line, 2);
    if (splitter.broken()) fail_quote(lines_.here(), line);
    line_ = lines_.line_number();
    if (is_edge_header(fields, kind_)) return;
    lines_.repeat();
    --line_;
  }

  template <class Where>
  static const std::vector<std::string_view>& fields_of(std::string_view line, FieldSplitter& splitter,
                                                        const Where& where) {
    const auto& fields = splitter.split(line, 2);
    if (splitter.broken()) fail_quote(where(), line);
    if (fields.size() < 2) fail("{}: an edge needs two nodes: {}", where(), excerpt(line));
    return fields;
  }

  void read(Block& block) const {
    NamedSide::forget(block.ids);
    NamedSide::forget(block.right_ids);
    block.from.clear();
    block.to.clear();
    FieldSplitter splitter(separator_);
    block.read_lines([&](std::string_view line) {
      if (!holds_edge(line)) return;
      const auto& fields = fields_of(line, splitter, [] { return std::string(); });
      nodes_.append(fields[0], parse_canonical_integer(fields[0]), block.ids, block.from);
      if (bipartite()) {
        right_nodes_.append(fields[1], parse_canonical_integer(fields[1]), block.right_ids, block.to);
      } else {
        nodes_.append(fields[1], parse_canonical_integer(fields[1]), block.ids, block.from);
      }
    });
    nodes_.append_waiting(block.ids, block.from);
    right_nodes_.append_waiting(block.right_ids, block.to);
  }

  void settle_blocks() {
    std::vector<std::size_t> place(rounds_.blocks() + 1, edges_.size());
    for (std::size_t b = 0; b < rounds_.blocks(); ++b) {
      Block& block = blocks_[b];
      if (block.bad) fail_in(block);
      bad_line_ = line_ + 1;  // for an id too many: where the block begins is near enough
      nodes_.settle(block.ids);
      right_nodes_.settle(block.right_ids);
      line_ += block.line_count;
      place[b + 1] = place[b] + block.edges();
    }
    grow(edges_, place.back(), static_cast<std::size_t>(1.03 * rounds_.guess(place.back()).value_or(0)));
    rounds_.put([&](std::size_t b) {
      const Block& block = blocks_[b];
      for (std::size_t k = 0; k < block.edges(); ++k) edges_[place[b] + k] = block.edge(k);
    });
  }

  [[noreturn]] void fail_in(const Block& block) {
    bad_line_ = line_ + block.line_count;
    const auto here = [&] { return at(bad_line_); };
    block.fail_again(here, [&](std::string_view line) {
      FieldSplitter splitter(separator_);
      const auto& fields = fields_of(line, splitter, here);
      nodes_.require(fields[0]);
      (bipartite() ? right_nodes_ : nodes_).require(fields[1]);
    });
  }

  LineReader lines_;
  GraphKind kind_;
  const Execution& execution_;
  TextRounds rounds_;
  Separator separator_ = Separator::blank;
  NamedSide nodes_;
  NamedSide right_nodes_;  // where both sides have ids of their own
  std::vector<Block> blocks_;
  std::vector<std::pair<Index, Index>> edges_;
  Offset line_ = 0;      // the last one that was settled
  Offset bad_line_ = 0;  // for messages
};

}  // namespace

Graph read_edges(ByteSource source, GraphKind kind, const Execution& execution) {
  Graph graph = EdgeText(std::move(source), kind, execution).run();
  tidy(graph, execution);
  return graph;
}

Graph graph_of(const NamedEntries& data, const std::string& name, GraphKind kind, const Execution& execution) {
  if (data.rows != data.cols && kind != GraphKind::bipartite)
    fail("'{}' is {} x {}: the matrix of a graph must be square, unless it is bipartite", name, data.rows, data.cols);
  Graph graph;
  graph.kind = kind;
  graph.nodes = data.rows;
  graph.right_nodes = data.cols;
  graph.labels = data.row_labels;
  graph.right_labels = kind == GraphKind::bipartite ? data.col_labels : data.row_labels;
  const Entries& entries = data.entries;
  for (std::size_t k = 0; k < entries.row.size(); ++k)
    if (entries.value[k] != 0) graph.edges.emplace_back(entries.row[k], entries.col[k]);
  tidy(graph, execution);
  return graph;
}

NamedEntries entries_of(const Graph& graph) {
  NamedEntries data;
  data.rows = data.cols = graph.nodes;
  data.row_labels = data.col_labels = graph.labels;
  for (const auto& [a, b] : graph.edges) {
    for (const auto& [row, col] : {std::pair(a, b), std::pair(b, a)}) {
      data.entries.row.push_back(row);
      data.entries.col.push_back(col);
      data.entries.value.push_back(Real{1});
    }
  }
  return data;
}

}  // namespace tracenorm::io
