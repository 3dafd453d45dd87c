// Edge lists of undirected graphs.
#include <algorithm>
#include <utility>

#include "io/ids.hpp"
#include "io/messages.hpp"
#include "io/readers.hpp"
#include "io/text.hpp"

namespace tracenorm::io {
namespace {

bool is_comment(std::string_view text) { return text[0] == '#' || text[0] == '%'; }

// Each edge once, from the smaller node to the larger.
void tidy(std::vector<std::pair<Index, Index>>& edges) {
  for (auto& [a, b] : edges)
    if (a > b) std::swap(a, b);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
}

// "source,target" above the edges: a first line without any digit, followed by edges of numbers, names the columns.
// Names of nodes may be words too, so only the usual words count.
bool is_edge_header(const std::vector<std::string_view>& fields) {
  const std::string first = to_lower(fields.front());
  for (const std::string_view word : {"source", "src", "from", "fromnodeid", "node1", "node_1", "id1", "u", "head"})
    if (first == word) return true;
  return false;
}

}  // namespace

Graph read_edges(ByteSource source) {
  LineReader lines(std::move(source));
  IdMap nodes("node id", [&] { return lines.here(); });
  Graph graph;
  FieldSplitter splitter(Separator::blank);
  std::string_view line;
  bool first = true;
  while (lines.next(line)) {
    const std::string_view text = trim(line);
    if (text.empty() || is_comment(text)) continue;
    if (first) splitter = FieldSplitter(detect_separator(line, 2));
    const auto& fields = splitter.split(line, 2);
    if (splitter.broken()) fail_quote(lines.here(), line);
    if (std::exchange(first, false) && is_edge_header(fields)) continue;
    if (fields.size() < 2) fail("{}: an edge needs two nodes: {}", lines.here(), excerpt(line));
    const Index a = nodes.add(fields[0]);
    const Index b = nodes.add(fields[1]);
    if (a != b) graph.edges.emplace_back(a, b);
  }
  if (nodes.size() == 0) fail("'{}' is empty: lines of \"node node\" were expected", lines.name());
  graph.nodes = nodes.size();
  std::vector<Index> renumbered;
  graph.labels = nodes.finish(renumbered);
  if (!renumbered.empty()) {
    for (auto& [a, b] : graph.edges) {
      a = renumbered[static_cast<std::size_t>(a)];
      b = renumbered[static_cast<std::size_t>(b)];
    }
  }
  tidy(graph.edges);
  return graph;
}

Graph graph_of(const NamedEntries& data, const std::string& name) {
  if (data.rows != data.cols) fail("'{}' is {} x {}: the matrix of a graph must be square", name, data.rows, data.cols);
  Graph graph;
  graph.nodes = data.rows;
  graph.labels = data.row_labels;
  const Entries& entries = data.entries;
  for (std::size_t k = 0; k < entries.row.size(); ++k)
    if (entries.value[k] != 0 && entries.row[k] != entries.col[k])
      graph.edges.emplace_back(entries.row[k], entries.col[k]);
  tidy(graph.edges);
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
