// tracenorm links: which links of a graph are missing, and how well that can be told.
//
// The graph becomes a 0/1 matrix, a symmetric one where links have no direction. By the protocol of the paper's Table 1
// a random share of its entries is observed, each flipped with some probability; by the usual one all pairs are seen,
// with some links taken for absent. A sparse low-rank matrix is fitted, and its entries score the pairs.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "commands.hpp"
#include "cuda/backend.hpp"
#include "estimation.hpp"
#include "fit/phase.hpp"
#include "help_format.hpp"
#include "link_scores.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "process_ranks.hpp"

namespace tracenorm::app {

namespace {

struct LinksOptions {
  EstimationOptions common;
  LinkProtocol protocol;
  io::GraphKind kind = io::GraphKind::undirected;
  std::optional<Index> nodes;  ///< only the first ones; empty: all
  std::optional<std::int64_t>
      zeros;  ///< pairs without a link beside each link; empty: all, or as many as there is room
  std::optional<std::int64_t> top;
  std::vector<std::string> of_nodes;
  std::string scores;

  [[nodiscard]] bool lists() const { return top || !of_nodes.empty() || !scores.empty(); }
};

/// A full matrix of more pairs is not made: 1.6 GB a number of each.
constexpr Index kMostDense = 20'000;
constexpr std::int64_t kZeros = 10;
constexpr std::int64_t kTop = 20;
constexpr double kHide = 0.1;

constexpr const char* kLinksExamples = R"(Examples:
  tracenorm links facebook_combined.txt --radius 1052.88 --l1 0.01 --iterations 300
  tracenorm links facebook_combined.txt --method genfb --trace-penalty 20 --l1 0.01
  tracenorm links edges.txt --radius 600 --l1 0.05 --flip 0.05 --seed 2 --json run.json
  tracenorm links facebook_combined.txt --top 50
  tracenorm links proteins.tsv --node YAL003W --scores likely.tsv
  tracenorm links citations.txt --directed --top 50
  tracenorm links clicks.tsv --bipartite --node user17 --top 10

EDGES is a list "a b" of edges (SNAP), possibly compressed (.gz, .xz). They have no direction; with --directed a links to b, and (a, b) and
(b, a) are two pairs; with --bipartite a is of one kind and b of another, such as users and items. Without --hide and lists a share of all
pairs is seen (--observed), drawn on unordered pairs including the diagonal, and the others judge, against the unflipped graph. With --hide, and
for lists, that share of the links is taken for absent, and they judge, beside as many pairs without a link.)";

/// The part of the graph among its first nodes, of each side.
void keep_first(io::Graph& graph, Index nodes) {
  std::erase_if(graph.edges, [&](const auto& edge) { return edge.first >= nodes || edge.second >= nodes; });
  const auto keep = [&](Index& count, Labels& labels) {
    count = std::min(count, nodes);
    if (!labels.names.empty()) labels.names.resize(static_cast<std::size_t>(count));
  };
  keep(graph.nodes, graph.labels);
  keep(graph.right_nodes, graph.right_labels);
  if (graph.edges.empty()) {
    throw Error(ErrorCode::input, fmt::format("--nodes: no edge is among the first {} nodes; give more", nodes));
  }
}

/// The entries that were seen otherwise than they are, as they were seen.
Entries wrong_links(const SparsePattern& graph, const DenseObservations& data) {
  Entries wrong;
  std::size_t place = 0;
  for (Index a = 0; a < graph.rows(); ++a) {
    RowWalk links(graph, a);
    for (Index b = 0; b < graph.cols(); ++b) {
      const Real seen = data.value[place++];
      if (std::isnan(seen) || (seen != 0) == links.has(b)) continue;
      wrong.row.push_back(a);
      wrong.col.push_back(b);
      wrong.value.push_back(seen);
    }
  }
  return wrong;
}

/// What is to be listed. A node of a bipartite graph may be of either side.
LinkList make_list(const LinksOptions& options, const io::Graph& graph) {
  LinkList list;
  if (options.lists()) list.top = static_cast<std::size_t>(options.top.value_or(kTop));
  const bool bipartite = graph.kind == io::GraphKind::bipartite;
  const io::LabelIndex left(graph.labels, graph.nodes);
  const io::LabelIndex right(graph.right_labels, graph.right_nodes);
  for (const std::string& name : options.of_nodes) {
    const std::optional<Index> row = left.find(name);
    const std::optional<Index> col = right.find(name);
    if (row) list.of_rows.push_back(*row);
    if (col) list.of_cols.push_back(*col);
    if (row || col) continue;
    const std::string count =
        bipartite ? fmt::format("{} and {}", graph.nodes, graph.right_nodes) : fmt::format("{}", graph.nodes);
    throw Error(
        ErrorCode::input,
        fmt::format("--node: the graph has no node '{}'; give one of its {} nodes as the file names it", name, count));
  }
  return list;
}

/// How many pairs without a link are taken beside each link; empty: all pairs.
std::optional<std::int64_t> zeros_for(const LinksOptions& options, const io::Graph& graph) {
  const bool fits = double(graph.nodes) * double(graph.right_nodes) <= double(kMostDense) * double(kMostDense);
  if (options.zeros || fits) return options.zeros;
  if (!options.protocol.hide) {
    throw Error(ErrorCode::input,
                fmt::format("--observed: all {} x {} pairs are too many to keep (up to {} x {} they are kept); use "
                            "--hide, which samples the pairs without a link, or --nodes",
                            graph.nodes, graph.right_nodes, kMostDense, kMostDense));
  }
  return kZeros;
}

DataKind data_kind(io::GraphKind kind) {
  switch (kind) {
    case io::GraphKind::directed:
      return DataKind::directed;
    case io::GraphKind::bipartite:
      return DataKind::bipartite;
    default:
      return DataKind::graph;
  }
}

/// Links that have no direction make a symmetric matrix, which is solved as one where that is possible: half the work.
Symmetry symmetry_of(const LinksOptions& options) {
  const FitOptions& fit = options.common.fit;
  const bool on_device = fit.run.backend == "cuda" || (fit.run.backend == "auto" && cuda_devices().none.empty());
  const bool whole = on_device || ranks() != nullptr;  // where only whole matrices are known
  const bool bounded = !fit.method || is_bounded(*fit.method);
  const bool symmetric = options.kind == io::GraphKind::undirected && !options.protocol.unsymmetric;
  return symmetric && bounded && !whole ? Symmetry::symmetric : Symmetry::none;
}

int run(LinksOptions options) {
  EstimationOptions& common = options.common;
  if (wants_labels(*common.fit.loss)) {
    throw Error(ErrorCode::usage, "--loss: " + to_string(*common.fit.loss) +
                                      " wants labels -1 and +1, the entries of a graph are 0 and 1; use squared, "
                                      "absolute or huber");
  }
  if (*common.fit.prepare != Preparation::Kind::none) {
    throw Error(ErrorCode::usage, "--prepare: the entries of a graph stay 0 and 1; use --prepare none");
  }
  settle(common, {common.data}, {{"--scores", options.scores}});
  common.fit.symmetry = symmetry_of(options);

  Watch watch(common);
  std::vector<PhaseCost> before;
  PhaseClock clock(before);
  watch.on_phase("reading " + common.data);
  io::Graph read = io::read_graph(common.data, common.read, options.kind);
  if (options.nodes) keep_first(read, *options.nodes);
  check_output_size(common, read.nodes, read.right_nodes);
  LinkProtocol& protocol = options.protocol;
  protocol.seed = common.fit.run.seed;
  const std::optional<std::int64_t> zeros = zeros_for(options, read);
  const LinkList list = make_list(options, read);
  const LinkMatrix graph(std::move(read), protocol);
  DenseObservations data;
  if (!zeros) data = observe(graph, protocol);
  clock.end("read");
  report::RunReport report{zeros ? fit(sample_pairs(graph, *zeros, protocol.seed), common.fit, watch.hooks())
                                 : fit(data, common.fit, watch.hooks())};
  report.profile.insert(report.profile.begin(), before.begin(), before.end());
  report.command = "links";
  report.kind = data_kind(options.kind);
  if (!zeros && (protocol.hide || protocol.flip > 0)) report.replaced = wrong_links(graph.links(), data);
  report.rows = graph.graph().labels;
  report.cols = graph.graph().right_labels;
  watch.on_phase("scoring pairs");
  protocol.hide ? judge_hidden(graph, protocol.seed, list, report) : judge_unseen(graph, data, protocol, list, report);
  report.options = {{"graph", std::string(to_string(report.kind))},
                    {"observed", protocol.observed},
                    {"flip", protocol.flip},
                    {"unsymmetric_mask", protocol.unsymmetric},
                    {"nodes", {}},
                    {"hide", {}},
                    {"zeros", {}}};
  if (options.nodes) report.options[4].value = std::int64_t{*options.nodes};
  if (protocol.hide) report.options[5].value = *protocol.hide;
  if (zeros) report.options[6].value = *zeros;
  return finish(common, report, watch,
                {{options.scores, [&](const std::string& path) { write_output(path, to_lines(report)); }}});
}

}  // namespace

void add_links(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("links", "link prediction on a graph of which a part is seen, with errors");
  const auto options = std::make_shared<LinksOptions>();
  set_defaults(options->common.fit, losses::Squared{1.0});
  add_estimation_options(*app, options->common, "EDGES", "the edges of a graph");
  for (const char* name : {"--columns", "--missing", "--skip-columns"}) app->remove_option(app->get_option(name));
  LinkProtocol& protocol = options->protocol;
  const auto add_kind = [&](const char* name, io::GraphKind kind, const char* help) {
    return app
        ->add_flag_callback(
            name, [options, kind] { options->kind = kind; }, help)
        ->group("Data");
  };
  CLI::Option* directed =
      add_kind("--directed", io::GraphKind::directed, "an edge goes from its first node to its second");
  CLI::Option* bipartite =
      add_kind("--bipartite", io::GraphKind::bipartite, "first nodes are of one kind, second ones of another")
          ->excludes(directed);
  CLI::Option* observed =
      add_number(*app, "--observed", protocol.observed, kShare, "share of the entries that are seen")->group("Data");
  add_number(*app, "--flip", protocol.flip, kProbability, "probability that a seen entry is wrong")->group("Data");
  CLI::Option* unsymmetric =
      app->add_flag("--unsymmetric-mask", protocol.unsymmetric, "draw (a,b) and (b,a) separately instead of together")
          ->group("Data")
          ->excludes(directed)
          ->excludes(bipartite);
  add_number(*app, "--hide", protocol.hide, kProbability,
             "take this share of the links for absent and judge by them, instead of --observed (default for lists: "
             "0.1)")
      ->group("Data")
      ->excludes(observed)
      ->excludes(unsymmetric);
  const auto add_count = [&](const char* name, std::optional<std::int64_t>& target, const char* help) {
    app->add_option_function<std::string>(
           name, [name, &target](const std::string& text) { target = to_integer(name, text, 1, 1'000'000'000); }, help)
        ->type_name("N");
  };
  add_count("--zeros", options->zeros,
            "take so many pairs without a link beside each link, drawn at random, instead of all pairs (default: all "
            "up to 20000 nodes, then 10)");
  app->get_option("--zeros")->group("Data")->excludes(observed)->excludes(unsymmetric);
  add_count("--top", options->top, "list the N pairs without a link that most likely have one (default: 20)");
  app->get_option("--top")->group("Output");
  app->add_option("--node", options->of_nodes, "list pairs with this node only; may be given several times")
      ->type_name("ID")
      ->group("Output");
  app->add_option("--scores", options->scores, "write the list: two nodes, score, share of links at such scores")
      ->type_name("FILE")
      ->group("Output");
  app->add_option_function<std::string>(
         "--nodes",
         [options](const std::string& text) {
           options->nodes = static_cast<Index>(to_integer("--nodes", text, 2, 2'000'000'000));
         },
         "only the first N nodes of the graph, of each side if there are two (default: all)")
      ->type_name("N")
      ->group("Data");
  show_first(*app, {"--directed", "--bipartite", "--observed", "--hide", "--top", "--node", "--scores", "--radius",
                    "--l1", "--gap", "--seed", "--model", "--report", "--json", "--quiet"});
  app->footer(footer(kLinksExamples));
  app->callback([options, observed, unsymmetric, &action] {
    const bool usual = options->lists() || options->zeros;
    if (usual && !options->protocol.hide && observed->count() + unsymmetric->count() == 0)
      options->protocol.hide = kHide;
    action = [options] { return run(*options); };
  });
}

}  // namespace tracenorm::app
