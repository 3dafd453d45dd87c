#include "helpers.hpp"

namespace tracenorm::io {
namespace {

using Edges = std::vector<std::pair<Index, Index>>;

class Graphs : public FolderTest {
 protected:
  [[nodiscard]] Graph read(const std::string& text) const { return read_graph(make("edges.txt", text)); }
};

TEST_F(Graphs, SnapEdgeList) {
  const Graph graph = read("# Undirected graph\n# FromNodeId\tToNodeId\n10\t2\n2\t10\n3\t3\n2\t3\r\n\n10\t2\n");
  EXPECT_EQ(graph.nodes, 3);
  EXPECT_EQ(graph.labels.names, (Names{"2", "3", "10"}));
  EXPECT_EQ(graph.edges, (Edges{{0, 1}, {0, 2}})) << "each edge once, no loops";
}

TEST_F(Graphs, NamesCommasWeightsAndHeader) {
  const Graph graph = read("http://snap.stanford.edu/data/x.html\nsource,target,weight\nzoe,adam,3\nadam,bob,1\n");
  EXPECT_EQ(graph.labels.names, (Names{"zoe", "adam", "bob"}));
  EXPECT_EQ(graph.edges, (Edges{{0, 1}, {1, 2}}));
}

TEST_F(Graphs, CompressedEdges) {
  EXPECT_EQ(read_graph(make("e.txt.gz", gzipped("0 1\n1 2\n"))).edges.size(), 2U);
  EXPECT_EQ(read_graph(make("e.txt.xz", xzipped("0 1\n1 2\n"))).edges.size(), 2U);
}

TEST_F(Graphs, MatrixMarketPattern) {
  const Graph graph =
      read_graph(make("g.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n2 1\n3 2\n3 3\n"));
  EXPECT_EQ(graph.nodes, 3);
  EXPECT_EQ(graph.labels.base, 1);
  EXPECT_EQ(graph.edges, (Edges{{0, 1}, {1, 2}}));
}

TEST_F(Graphs, DirectedEdgesKeepDirectionsAndLoops) {
  const std::string file = make("edges.txt", "10\t2\n2\t10\n3\t3\n2\t3\n10\t2\n");
  const Graph graph = read_graph(file, {}, GraphKind::directed);
  EXPECT_EQ(graph.nodes, 3);
  EXPECT_EQ(graph.right_nodes, 3);
  EXPECT_EQ(graph.labels.names, (Names{"2", "3", "10"}));
  EXPECT_EQ(graph.right_labels.names, graph.labels.names);
  EXPECT_EQ(graph.edges, (Edges{{0, 1}, {0, 2}, {1, 1}, {2, 0}}));
}

TEST_F(Graphs, SidesOfABipartiteGraphHaveNamesOfTheirOwn) {
  const std::string file = make("clicks.csv", "user,item\n7,3\n2,7\n7,7\n2,7\n");
  const Graph graph = read_graph(file, {}, GraphKind::bipartite);
  EXPECT_EQ(graph.labels.names, (Names{"2", "7"}));
  EXPECT_EQ(graph.right_labels.names, (Names{"3", "7"}));
  EXPECT_EQ(graph.edges, (Edges{{0, 1}, {1, 0}, {1, 1}}));
  const Graph matrix = read_graph(make("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 2\n"),
                                  {}, GraphKind::bipartite);
  EXPECT_EQ(matrix.nodes, 2);
  EXPECT_EQ(matrix.right_nodes, 3);
  EXPECT_EQ(matrix.edges, (Edges{{0, 2}, {1, 1}}));
}

TEST_F(Graphs, AsATableOfOnes) {
  ReadOptions options;
  options.format = Format::edges;
  EXPECT_EQ(words(read_entries(make("edges.txt", "0 1\n"), options)), "0,1=1 1,0=1");
}

TEST_F(Graphs, Errors) {
  const auto graph_error = [&](const std::string& name, const std::string& text) {
    const std::string file = make(name, text);
    return error_of([&] { read_graph(file); });
  };
  expect_says(graph_error("edges.txt", "0 1\n2\n"), {"edges.txt', line 2", "two nodes", "'2'"});
  expect_says(graph_error("edges.txt", "# nothing\n"), {"edges.txt", "empty"});
  expect_says(graph_error("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n"),
              {"2 x 3", "square"});
}

}  // namespace
}  // namespace tracenorm::io
