// tracenorm links: which links of an undirected graph are missing, and how well that can be told.
//
// The graph becomes a symmetric 0/1 matrix. By the protocol of the paper's Table 1 a random share of its entries is
// observed, each flipped with some probability; by the usual one all pairs are seen, with some links taken for absent.
// A sparse low-rank matrix is fitted, and its entries score the pairs.
#include <fmt/format.h>

#include <cmath>
#include <exception>
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
  std::optional<Index> nodes;  ///< only the first ones; empty: all
  std::optional<std::int64_t>
      zeros;  ///< pairs without a link beside each link; empty: all, or as many as there is room
  std::optional<std::int64_t> top;
  std::vector<std::string> of_nodes;
  std::string scores;

  [[nodiscard]] bool lists() const { return top || !of_nodes.empty() || !scores.empty(); }
};

/// A full matrix of more nodes is not made: 1.6 GB a number of each pair.
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

EDGES is a list "a b" of undirected edges (SNAP), possibly compressed (.gz, .xz). Without --hide and lists a share of all pairs is seen
(--observed), drawn on unordered pairs including the diagonal, and the others judge, against the unflipped graph. With --hide, and for
lists, that share of the links is taken for absent, and they judge, beside as many pairs without a link.)";

/// The part of the graph among its first nodes.
void keep_first(io::Graph& graph, Index nodes) {
  if (nodes >= graph.nodes) return;
  graph.nodes = nodes;
  std::erase_if(graph.edges, [&](const auto& edge) { return edge.first >= nodes || edge.second >= nodes; });
  if (!graph.labels.names.empty()) graph.labels.names.resize(static_cast<std::size_t>(nodes));
  if (graph.edges.empty()) {
    throw Error(ErrorCode::input, fmt::format("--nodes: no edge is among the first {} nodes; give more", nodes));
  }
}

/// The entries that were seen otherwise than they are, as they were seen.
Entries wrong_links(const Neighbours& graph, const DenseObservations& data) {
  Entries wrong;
  std::vector<unsigned char> links;
  std::size_t place = 0;
  for (Index a = 0; a < graph.nodes(); ++a) {
    graph.mark(a, links);
    for (Index b = 0; b < graph.nodes(); ++b) {
      const Real seen = data.value[place++];
      if (std::isnan(seen) || seen == Real(links[static_cast<std::size_t>(b)])) continue;
      wrong.row.push_back(a);
      wrong.col.push_back(b);
      wrong.value.push_back(seen);
    }
  }
  return wrong;
}

/// The nodes that pairs are listed of.
std::vector<Index> find_nodes(const io::Graph& graph, const std::vector<std::string>& names) {
  const io::LabelIndex index(graph.labels, graph.nodes);
  std::vector<Index> nodes;
  for (const std::string& name : names) {
    const std::optional<Index> node = index.find(name);
    if (!node) {
      throw Error(ErrorCode::input, fmt::format("--node: the graph has no node '{}'; give one of its {} nodes as the "
                                                "file names it",
                                                name, graph.nodes));
    }
    nodes.push_back(*node);
  }
  return nodes;
}

/// How many pairs without a link are taken beside each link; empty: all pairs.
std::optional<std::int64_t> zeros_for(const LinksOptions& options, Index nodes) {
  if (options.zeros || nodes <= kMostDense) return options.zeros;
  if (!options.protocol.hide) {
    throw Error(ErrorCode::input,
                fmt::format("--observed: all pairs of {} nodes are too many to keep (up to {} nodes they are kept); "
                            "use --hide, which samples the pairs without a link, or --nodes",
                            nodes, kMostDense));
  }
  return kZeros;
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
  settle(common, {common.data});
  // The pairs that are seen make a symmetric matrix, which is solved as one: half the work.
  const bool bounded = !common.fit.method || is_bounded(*common.fit.method);
  const std::string& backend = common.fit.run.backend;
  const bool on_device = backend == "cuda" || (backend == "auto" && cuda_devices().none.empty());
  const bool elsewhere = on_device || ranks() != nullptr;  // where a matrix is whole
  if (!options.protocol.unsymmetric && bounded && !elsewhere) common.fit.symmetry = Symmetry::symmetric;

  if (!options.scores.empty()) check_outputs({{"--scores", options.scores}}, {common.data});

  Watch watch(common);
  std::vector<PhaseCost> before;
  PhaseClock clock(before);
  watch.on_phase("reading " + common.data);
  io::Graph graph = io::read_graph(common.data, common.read);
  if (options.nodes) keep_first(graph, *options.nodes);
  check_output_size(common, graph.nodes, graph.nodes);
  LinkProtocol& protocol = options.protocol;
  protocol.seed = common.fit.run.seed;
  const std::optional<std::int64_t> zeros = zeros_for(options, graph.nodes);
  if (zeros) common.fit.symmetry = Symmetry::none;  // for full matrices only
  const LinkList list{options.lists() ? static_cast<std::size_t>(options.top.value_or(kTop)) : 0,
                      find_nodes(graph, options.of_nodes)};
  const Neighbours neighbours(graph.nodes, graph.edges);
  const Neighbours hidden = hidden_links(graph, protocol);
  DenseObservations data;
  if (!zeros) data = observe(neighbours, hidden, protocol);
  clock.end("read");
  report::RunReport report{
      zeros ? fit(sample_pairs(graph, neighbours, hidden, *zeros, protocol.seed), common.fit, watch.hooks())
            : fit(data, common.fit, watch.hooks())};
  report.profile.insert(report.profile.begin(), before.begin(), before.end());
  report.command = "links";
  report.kind = DataKind::graph;
  if (!zeros) report.replaced = wrong_links(neighbours, data);
  report.rows = graph.labels;
  report.cols = graph.labels;
  watch.on_phase("scoring pairs");
  protocol.hide ? judge_hidden(graph, neighbours, hidden, protocol, list, report)
                : judge_unseen(neighbours, data, protocol, list, report);
  report.options = {{"observed", protocol.observed},
                    {"flip", protocol.flip},
                    {"unsymmetric_mask", protocol.unsymmetric},
                    {"nodes", {}},
                    {"hide", {}},
                    {"zeros", {}}};
  if (options.nodes) report.options[3].value = std::int64_t{*options.nodes};
  if (protocol.hide) report.options[4].value = *protocol.hide;
  if (zeros) report.options[5].value = *zeros;
  std::exception_ptr failure;  // a full disk must not cost the rest
  if (!options.scores.empty()) {
    try {
      write_output(options.scores, to_lines(report));
      report.written.push_back(options.scores);
    } catch (const Error&) {
      failure = std::current_exception();
    }
  }
  const int code = finish(common, report, watch);
  if (failure) std::rethrow_exception(failure);
  return code;
}

}  // namespace

void add_links(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("links", "link prediction on a graph of which a part is seen, with errors");
  const auto options = std::make_shared<LinksOptions>();
  set_defaults(options->common.fit, losses::Squared{1.0});
  add_estimation_options(*app, options->common, "EDGES", "the edges of an undirected graph");
  for (const char* name : {"--columns", "--missing", "--skip-columns"}) app->remove_option(app->get_option(name));
  LinkProtocol& protocol = options->protocol;
  CLI::Option* observed =
      add_number(*app, "--observed", protocol.observed, kShare, "share of the entries that are seen")->group("Data");
  add_number(*app, "--flip", protocol.flip, kProbability, "probability that a seen entry is wrong")->group("Data");
  CLI::Option* unsymmetric =
      app->add_flag("--unsymmetric-mask", protocol.unsymmetric, "draw (a,b) and (b,a) separately instead of together")
          ->group("Data");
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
         "only the first N nodes of the graph (default: all)")
      ->type_name("N")
      ->group("Data");
  show_first(*app, {"--observed", "--hide", "--top", "--node", "--scores", "--radius", "--l1", "--loss", "--gap",
                    "--time", "--seed", "--model", "--report", "--json", "--quiet"});
  app->footer(footer(kLinksExamples));
  app->callback([options, observed, unsymmetric, &action] {
    const bool usual = options->lists() || options->zeros;
    if (usual && !options->protocol.hide && observed->count() + unsymmetric->count() == 0)
      options->protocol.hide = kHide;
    action = [options] { return run(*options); };
  });
}

}  // namespace tracenorm::app
