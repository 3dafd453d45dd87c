// tracenorm links: link prediction on an undirected graph, by the protocol of the paper's Table 1.
//
// The graph becomes a symmetric 0/1 matrix. A random share of its entries is observed, each observed entry is flipped
// with some probability, a sparse low-rank matrix is fitted, and its entries score the pairs that were not observed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/random.hpp"
#include "commands.hpp"
#include "estimation.hpp"
#include "fit/judge.hpp"
#include "fit/phase.hpp"
#include "help_format.hpp"
#include "option_values.hpp"

namespace tracenorm::app {

namespace {

struct LinksOptions {
  EstimationOptions common;
  double observed = 0.5;
  double flip = 0;
  bool unsymmetric_mask = false;
  std::optional<Index> nodes;  ///< only the first ones; empty: all
};

constexpr const char* kLinksExamples = R"(Examples:
  tracenorm links facebook_combined.txt --radius 1052.88 --l1 0.01 --iterations 300
  tracenorm links facebook_combined.txt --method genfb --trace-penalty 20 --l1 0.01
  tracenorm links edges.txt --radius 600 --l1 0.05 --flip 0.05 --seed 2 --json run.json

EDGES is a list "a b" of undirected edges (SNAP), possibly compressed (.gz, .xz). The mask is drawn on unordered pairs including
the diagonal. The area under the ROC curve is measured on the pairs a < b that were not observed, against the unflipped graph.)";

/// The unflipped graph, one byte an entry.
class Adjacency {
 public:
  explicit Adjacency(const io::Graph& graph)
      : nodes_(static_cast<std::size_t>(graph.nodes)), link_(nodes_ * nodes_, 0) {
    for (const auto& [a, b] : graph.edges) {
      link_[place(a, b)] = 1;
      link_[place(b, a)] = 1;
    }
  }
  [[nodiscard]] Index nodes() const { return static_cast<Index>(nodes_); }
  [[nodiscard]] bool linked(Index a, Index b) const { return link_[place(a, b)] != 0; }
  [[nodiscard]] std::size_t place(Index a, Index b) const {
    return static_cast<std::size_t>(a) * nodes_ + static_cast<std::size_t>(b);
  }

 private:
  std::size_t nodes_;
  std::vector<unsigned char> link_;
};

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

DenseObservations observe(const Adjacency& graph, const LinksOptions& options) {
  // Two streams, so that the mask of a seed is the same for every flip probability.
  Random mask(options.common.fit.run.seed);
  Random flips(options.common.fit.run.seed ^ 0x5851f42d4c957f2dULL);
  const Index n = graph.nodes();
  std::vector<Real> entries(static_cast<std::size_t>(n) * static_cast<std::size_t>(n),
                            std::numeric_limits<Real>::quiet_NaN());
  for (Index a = 0; a < n; ++a) {
    for (Index b = options.unsymmetric_mask ? 0 : a; b < n; ++b) {
      const bool seen = mask.uniform() < options.observed;
      const bool flipped = flips.uniform() < options.flip;
      if (!seen) continue;
      const Real value = graph.linked(a, b) != flipped ? 1 : 0;
      entries[graph.place(a, b)] = value;
      if (!options.unsymmetric_mask) entries[graph.place(b, a)] = value;
    }
  }
  return {n, n, std::move(entries), {}};
}

/// The entries that were seen flipped, as they were seen.
Entries wrong_links(const Adjacency& graph, const DenseObservations& data) {
  Entries wrong;
  for (Index a = 0; a < graph.nodes(); ++a) {
    for (Index b = 0; b < graph.nodes(); ++b) {
      const Real seen = data.value[graph.place(a, b)];
      if (std::isnan(seen) || seen == (graph.linked(a, b) ? Real(1) : Real(0))) continue;
      wrong.row.push_back(a);
      wrong.col.push_back(b);
      wrong.value.push_back(seen);
    }
  }
  return wrong;
}

/// Keeps the pairs with the highest scores in a heap whose front is the least of them.
class BestPairs {
 public:
  void offer(const report::ScoredPair& pair) {
    if (kept_.size() == kCount && !higher(pair, kept_.front())) return;
    if (kept_.size() == kCount) {
      std::pop_heap(kept_.begin(), kept_.end(), higher);
      kept_.pop_back();
    }
    kept_.push_back(pair);
    std::push_heap(kept_.begin(), kept_.end(), higher);
  }
  std::vector<report::ScoredPair> sorted() {
    std::sort(kept_.begin(), kept_.end(), higher);
    return std::move(kept_);
  }

 private:
  static constexpr std::size_t kCount = 20;
  static bool higher(const report::ScoredPair& a, const report::ScoredPair& b) { return a.score > b.score; }
  std::vector<report::ScoredPair> kept_;
};

/// Scores come from blocks of rows, so that the answer is never made dense as a whole.
void judge_links(report::RunReport& report, const Adjacency& graph, const DenseObservations& data, bool ordered_pairs) {
  const LowRankMatrix& x = report.result.solution;
  BestPairs best;
  constexpr Index kBlock = 256;
  std::vector<Scored> scored;
  for (Index first = 0; first < graph.nodes(); first += kBlock) {
    const Index last = std::min<Index>(first + kBlock, graph.nodes());
    const Eigen::MatrixXd block = x.dense_rows(first, last);
    for (Index a = first; a < last; ++a) {
      for (Index b = ordered_pairs ? 0 : a + 1; b < graph.nodes(); ++b) {
        if (a == b || !std::isnan(data.value[graph.place(a, b)])) continue;
        scored.push_back({static_cast<Real>(block(a - first, b)), graph.linked(a, b)});
        best.offer({a, b, block(a - first, b), graph.linked(a, b)});
      }
    }
  }
  HeldOut result;
  result.entries = static_cast<Offset>(scored.size());
  result.auc = area_under_curve(scored);
  constexpr std::size_t kRocPoints = 200;
  for (const auto& [negatives, positives] : roc_curve(scored, kRocPoints)) report.roc.push_back({negatives, positives});
  report.top_pairs = best.sorted();
  report.test = result;
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

  Watch watch(common);
  std::vector<PhaseCost> before;
  PhaseClock clock(before);
  watch.on_phase("reading " + common.data);
  io::Graph graph = io::read_graph(common.data, common.read);
  if (options.nodes) keep_first(graph, *options.nodes);
  check_output_size(common, graph.nodes, graph.nodes);
  const Adjacency adjacency(graph);
  const DenseObservations data = observe(adjacency, options);
  clock.end("read");
  report::RunReport report{fit(data, common.fit, watch.hooks())};
  report.profile.insert(report.profile.begin(), before.begin(), before.end());
  report.command = "links";
  report.kind = DataKind::graph;
  report.replaced = wrong_links(adjacency, data);
  report.rows = graph.labels;
  report.cols = std::move(graph.labels);
  judge_links(report, adjacency, data, options.unsymmetric_mask);
  report.options = {
      {"observed", options.observed}, {"flip", options.flip}, {"unsymmetric_mask", options.unsymmetric_mask}};
  report.options.push_back({"nodes", {}});
  if (options.nodes) report.options.back().value = std::int64_t{*options.nodes};
  return finish(common, report, watch);
}

}  // namespace

void add_links(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("links", "link prediction on a graph of which a part is seen, with errors");
  const auto options = std::make_shared<LinksOptions>();
  set_defaults(options->common.fit, losses::Squared{1.0});
  add_estimation_options(*app, options->common, "EDGES", "the edges of an undirected graph");
  for (const char* name : {"--columns", "--missing", "--skip-columns"}) app->remove_option(app->get_option(name));
  add_number(*app, "--observed", options->observed, kShare, "share of the entries that are seen")->group("Data");
  add_number(*app, "--flip", options->flip, kProbability, "probability that a seen entry is wrong")->group("Data");
  app->add_flag("--unsymmetric-mask", options->unsymmetric_mask, "draw (a,b) and (b,a) separately instead of together")
      ->group("Data");
  app->add_option_function<std::string>(
         "--nodes",
         [options](const std::string& text) {
           options->nodes = static_cast<Index>(to_integer("--nodes", text, 2, 2'000'000'000));
         },
         "only the first N nodes of the graph (default: all)")
      ->type_name("N")
      ->group("Data");
  show_first(*app, {"--observed", "--flip", "--radius", "--l1", "--loss", "--gap", "--time", "--seed", "--model",
                    "--output", "--report", "--json", "--quiet"});
  app->footer(footer(kLinksExamples));
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
