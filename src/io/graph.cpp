// Edge lists of graphs.
#include <algorithm>
#include <utility>

#include "io/ids.hpp"
#include "io/messages.hpp"
#include "io/readers.hpp"
#include "io/text.hpp"

namespace tracenorm::io {
namespace {

/// Some files of SNAP begin with the address that they are from.
bool is_address(std::string_view text) {
  return (text.starts_with("http://") || text.starts_with("https://")) &&
         text.find_first_of(" \t,;|") == std::string_view::npos;
}

bool is_comment(std::string_view text) { return text[0] == '#' || text[0] == '%' || is_address(text); }

// Each edge once; an undirected one from the smaller node to the larger, and without loops.
void tidy(Graph& graph) {
  auto& edges = graph.edges;
  if (graph.kind == GraphKind::undirected) {
    std::erase_if(edges, [](const auto& edge) { return edge.first == edge.second; });
    for (auto& [a, b] : edges)
      if (a > b) std::swap(a, b);
  }
  std::sort(edges.begin(), edges.end());
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

}  // namespace

Graph read_edges(ByteSource source, GraphKind kind) {
  LineReader lines(std::move(source));
  IdMap nodes("node id", [&] { return lines.here(); });
  IdMap right_nodes("node id", [&] { return lines.here(); });
  IdMap& ends = kind == GraphKind::bipartite ? right_nodes : nodes;
  Graph graph;
  graph.kind = kind;
  FieldSplitter splitter(Separator::blank);
  std::string_view line;
  bool first = true;
  while (lines.next(line)) {
    const std::string_view text = trim(line);
    if (text.empty() || is_comment(text)) continue;
    if (first) splitter = FieldSplitter(detect_separator(line, 2));
    const auto& fields = splitter.split(line, 2);
    if (splitter.broken()) fail_quote(lines.here(), line);
    if (std::exchange(first, false) && is_edge_header(fields, kind)) continue;
    if (fields.size() < 2) fail("{}: an edge needs two nodes: {}", lines.here(), excerpt(line));
    const Index a = nodes.add(fields[0]);
    graph.edges.emplace_back(a, ends.add(fields[1]));
  }
  if (nodes.size() == 0) fail("'{}' is empty: lines of \"node node\" were expected", lines.name());
  graph.nodes = nodes.size();
  graph.right_nodes = ends.size();
  std::vector<Index> renumbered;
  std::vector<Index> right_renumbered;
  graph.labels = nodes.finish(renumbered);
  graph.right_labels = ends.finish(right_renumbered);
  for (auto& [a, b] : graph.edges) {
    if (!renumbered.empty()) a = renumbered[static_cast<std::size_t>(a)];
    if (!right_renumbered.empty()) b = right_renumbered[static_cast<std::size_t>(b)];
  }
  tidy(graph);
  return graph;
}

Graph graph_of(const NamedEntries& data, const std::string& name, GraphKind kind) {
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
  tidy(graph);
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
