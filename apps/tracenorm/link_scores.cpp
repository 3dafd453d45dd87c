#include "link_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "base/random.hpp"
#include "fit/calibration.hpp"
#include "fit/judge.hpp"

namespace tracenorm::app {

namespace {

constexpr std::uint64_t kAbsentStream = 0x9e6c63d0876a9a35ULL;

/// Pairs of the page's table, and the fewest that shares are calibrated on.
constexpr std::size_t kShown = 20;
constexpr std::size_t kLeastContext = 100'000;

/// Keeps the pairs with the highest scores in a heap whose front is the least of them. Of equal scores the first pairs
/// are kept.
class BestPairs {
 public:
  explicit BestPairs(std::size_t count) : count_(count) {}
  void offer(const report::ScoredPair& pair) {
    if (count_ == 0 || (kept_.size() == count_ && !before(pair, kept_.front()))) return;
    if (kept_.size() == count_) {
      std::pop_heap(kept_.begin(), kept_.end(), before);
      kept_.pop_back();
    }
    kept_.push_back(pair);
    std::push_heap(kept_.begin(), kept_.end(), before);
  }
  std::vector<report::ScoredPair> sorted() {
    std::sort(kept_.begin(), kept_.end(), before);
    return std::move(kept_);
  }

 private:
  static bool before(const report::ScoredPair& a, const report::ScoredPair& b) {
    if (a.score != b.score) return a.score > b.score;
    return std::pair(a.row, a.col) < std::pair(b.row, b.col);
  }
  std::size_t count_;
  std::vector<report::ScoredPair> kept_;
};

using Visit = std::function<void(Index a, Index b, double score)>;

/// visit(a, b, score) of every pair, each once unless they are ordered. Scores come from blocks of rows, so that the
/// answer is never made dense as a whole.
void visit_pairs(const LowRankMatrix& x, bool ordered, const Visit& visit) {
  constexpr Index kBlock = 64;
  for (Index first = 0; first < x.rows(); first += kBlock) {
    const Index last = std::min<Index>(first + kBlock, x.rows());
    const Eigen::MatrixXd block = x.dense_rows(first, last);
    for (Index a = first; a < last; ++a) {
      for (Index b = ordered ? 0 : a + 1; b < x.cols(); ++b) {
        if (a != b) visit(a, b, block(a - first, b));
      }
    }
  }
}

void set_measures(std::vector<Scored>& scored, report::RunReport& report) {
  HeldOut result;
  result.entries = static_cast<Offset>(scored.size());
  result.auc = area_under_curve(scored);
  result.average_precision = average_precision(scored);
  constexpr std::size_t kRocPoints = 200;
  for (const auto& [negatives, positives] : roc_curve(scored, kRocPoints)) report.roc.push_back({negatives, positives});
  report.test = result;
}

/// Gathers what is listed, and what its shares are made of: held-out pairs with the highest scores.
class Lister {
 public:
  Lister(const LinkList& list, Index nodes)
      : best_(list.top), context_(std::max(kLeastContext, 20 * list.top)), wanted_(static_cast<std::size_t>(nodes)) {
    for (const Index node : list.of_nodes) wanted_[static_cast<std::size_t>(node)] = 1;
    all_ = list.of_nodes.empty();
  }
  /// A pair of the held-out ones: whether it is a link.
  void hold_out(Index a, Index b, double score, bool link) { context_.offer({a, b, score, link}); }
  void offer(Index a, Index b, double score) {
    if (all_ || wanted_[static_cast<std::size_t>(a)] != 0 || wanted_[static_cast<std::size_t>(b)] != 0) {
      best_.offer({a, b, score, false});
    }
  }
  [[nodiscard]] std::vector<report::LikelyLink> list(bool calibrated) {
    std::vector<Scored> scored;
    for (const report::ScoredPair& pair : context_.sorted()) scored.push_back({Real(pair.score), pair.positive});
    std::reverse(scored.begin(), scored.end());
    const Calibration share(calibrated ? scored : std::vector<Scored>{});
    std::vector<report::LikelyLink> links;
    for (const report::ScoredPair& pair : best_.sorted()) {
      links.push_back({pair.row, pair.col, pair.score, share(double(Real(pair.score)))});
    }
    return links;
  }

 private:
  BestPairs best_;
  BestPairs context_;
  std::vector<unsigned char> wanted_;
  bool all_ = true;
};

}  // namespace

void judge_unseen(const Neighbours& graph, const DenseObservations& data, const LinkProtocol& protocol,
                  const LinkList& list, report::RunReport& report) {
  const auto nodes = static_cast<std::size_t>(graph.nodes());
  BestPairs shown(kShown);
  Lister lister(list, graph.nodes());
  std::vector<Scored> scored;
  std::vector<unsigned char> links;
  Index marked = -1;
  visit_pairs(report.result.solution, protocol.unsymmetric, [&](Index a, Index b, double score) {
    if (a != marked) graph.mark(marked = a, links);
    if (!std::isnan(data.value[static_cast<std::size_t>(a) * nodes + static_cast<std::size_t>(b)])) return;
    const bool link = links[static_cast<std::size_t>(b)] != 0;
    scored.push_back({static_cast<Real>(score), link});
    shown.offer({a, b, score, link});
    lister.hold_out(a, b, score, link);
    if (!link) lister.offer(a, b, score);
  });
  set_measures(scored, report);
  report.top_pairs = shown.sorted();
  if (list.top > 0) report.likely = lister.list(true);
}

void judge_hidden(const io::Graph& edges, const Neighbours& graph, const Neighbours& hidden,
                  const LinkProtocol& protocol, const LinkList& list, report::RunReport& report) {
  const LowRankMatrix& x = report.result.solution;
  const auto n = static_cast<std::uint64_t>(graph.nodes());
  const std::uint64_t absent = n * (n - 1) / 2 - edges.edges.size();
  Entries pairs;  // value: whether there is a link
  for (const auto& [a, b] : edges.edges) {
    if (!hidden.linked(a, b)) continue;
    pairs.row.push_back(a);
    pairs.col.push_back(b);
    pairs.value.push_back(1);
  }
  Random random(protocol.seed ^ kAbsentStream);
  for (Offset left = absent > 0 ? hidden.links() : 0; left > 0;) {
    const auto a = static_cast<Index>(random.below(n));
    const auto b = static_cast<Index>(random.below(n));
    if (a == b || graph.linked(a, b)) continue;
    pairs.row.push_back(std::min(a, b));
    pairs.col.push_back(std::max(a, b));
    pairs.value.push_back(0);
    --left;
  }
  std::vector<Real> scores;
  x.sample(pairs.row, pairs.col, scores, report.run.threads);
  std::vector<Scored> scored(scores.size());
  for (std::size_t e = 0; e < scores.size(); ++e) scored[e] = {scores[e], pairs.value[e] > 0};
  set_measures(scored, report);
  if (list.top == 0) return;

  BestPairs shown(kShown);
  Lister lister(list, graph.nodes());
  std::vector<unsigned char> links;
  Index marked = -1;
  visit_pairs(x, false, [&](Index a, Index b, double score) {
    if (a != marked) graph.mark(marked = a, links);
    const bool link = links[static_cast<std::size_t>(b)] != 0;
    if (link && !hidden.linked(a, b)) return;
    shown.offer({a, b, score, link});
    lister.hold_out(a, b, score, link);
    if (!link) lister.offer(a, b, score);
  });
  report.top_pairs = shown.sorted();
  report.likely = lister.list(hidden.links() > 0);
}

std::string to_lines(const report::RunReport& report) {
  std::string text = "node\tnode\tscore\tshare\n";
  for (const report::LikelyLink& link : report.likely) {
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{:.7g}\t{}\n", report.rows.name(link.row),
                   report.cols.name(link.col), link.score,
                   std::isnan(link.share) ? "" : fmt::format("{:.4g}", link.share));
  }
  return text;
}

}  // namespace tracenorm::app
