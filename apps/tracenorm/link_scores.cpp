#include "link_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "base/execution.hpp"
#include "base/random.hpp"
#include "fit/calibration.hpp"
#include "fit/judge.hpp"
#include "linalg/lapack.hpp"

namespace tracenorm::app {

namespace {

constexpr std::uint64_t kAbsentStream = 0x9e6c63d0876a9a35ULL;

/// Pairs of the page's table, and the fewest that shares are calibrated on.
constexpr std::size_t kShown = 20;
constexpr std::size_t kLeastContext = 100'000;

/// Keeps the pairs with the highest scores; of equal scores the first pairs. Which these are does not depend on the
/// order in which they are offered.
class BestPairs {
 public:
  explicit BestPairs(std::size_t count) : count_(count) {}

  void offer(const report::ScoredPair& pair) {
    if (count_ == 0 || std::isnan(pair.score) || (full_ && !before(pair, last_))) return;
    kept_.push_back(pair);
    if (kept_.size() == 2 * count_) keep_best();
  }
  void offer(const BestPairs& others) {
    for (const report::ScoredPair& pair : others.kept_) offer(pair);
  }
  std::vector<report::ScoredPair> sorted() {
    if (kept_.size() > count_) keep_best();
    std::sort(kept_.begin(), kept_.end(), before);
    return std::move(kept_);
  }

 private:
  static bool before(const report::ScoredPair& a, const report::ScoredPair& b) {
    if (a.score != b.score) return a.score > b.score;
    return std::pair(a.row, a.col) < std::pair(b.row, b.col);
  }
  void keep_best() {
    const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(count_) - 1;
    std::nth_element(kept_.begin(), last, kept_.end(), before);
    last_ = *last;
    full_ = true;
    kept_.resize(count_);
  }

  std::size_t count_;
  std::vector<report::ScoredPair> kept_;  // up to twice as many as wanted
  report::ScoredPair last_;               // of the best ones so far, once there are enough
  bool full_ = false;
};

/// What is kept of the pairs of some rows.
struct Gathered {
  explicit Gathered(const LinkList& list)
      : likely(list.top), context(list.top > 0 ? std::max(kLeastContext, 20 * list.top) : 0) {}

  std::vector<Scored> held_out;  ///< in the order of the pairs
  BestPairs shown{kShown};
  BestPairs likely;
  BestPairs context;  ///< what shares are made of: held-out pairs with the highest scores

  void hold_out(const report::ScoredPair& pair) {
    shown.offer(pair);
    context.offer(pair);
  }
  void join(Gathered&& next) {
    held_out.insert(held_out.end(), next.held_out.begin(), next.held_out.end());
    shown.offer(next.shown);
    likely.offer(next.likely);
    context.offer(next.context);
    next = Gathered(LinkList{});  // frees it
  }
};

/// For every row what row_of(row, where to gather) gives is called with (column, score), columns in ascending order
/// from first_col(row) on. The threads share the rows, and tiles of scores are made as they go: the answer is never
/// dense.
template <class First, class Row>
Gathered gather(const LowRankMatrix& x, const LinkList& list, int threads, First&& first_col, Row&& row_of) {
  constexpr Index kRows = 64;
  constexpr Index kCols = 1024;  // a tile stays in the second cache
  constexpr Index kParts = 16;   // each keeps a context of its own
  using Meet = decltype(row_of(Index(), std::declval<Gathered&>()));
  const Eigen::MatrixXd left = x.left() * x.values().asDiagonal();
  const Eigen::MatrixXd right = x.right();
  const Index blocks = (x.rows() + kRows - 1) / kRows;
  const auto part_begin = [&](Index part) { return static_cast<Index>(Offset(part) * blocks / kParts * kRows); };
  std::vector<Gathered> parts(kParts, Gathered(list));
  const lapack::OneThread blas;
  Execution(threads).for_each_shard(kParts, [&](int part) {
    Gathered& gathered = parts[static_cast<std::size_t>(part)];
    Eigen::MatrixXd tile(kCols, kRows);  // a column for each row
    for (Index top = part_begin(part); top < std::min(part_begin(part + 1), x.rows()); top += kRows) {
      const Index rows = std::min(kRows, x.rows() - top);
      std::vector<Meet> meets;
      meets.reserve(static_cast<std::size_t>(rows));
      for (Index i = 0; i < rows; ++i) meets.push_back(row_of(top + i, gathered));
      for (Index from = first_col(top) / kCols * kCols; from < x.cols(); from += kCols) {
        const Index cols = std::min(kCols, x.cols() - from);
        tile.setZero();
        if (x.terms() > 0) {
          lapack::gemm(lapack::Shape::plain, lapack::Shape::transposed, cols, rows, x.terms(), 1.0, right.data() + from,
                       x.cols(), left.data() + top, x.rows(), 0.0, tile.data(), kCols);
        }
        for (Index i = 0; i < rows; ++i) {
          for (Index b = std::max(from, first_col(top + i)); b < from + cols; ++b) {
            meets[static_cast<std::size_t>(i)](b, tile(b - from, i));
          }
        }
      }
    }
  });
  std::size_t held_out = 0;
  for (const Gathered& part : parts) held_out += part.held_out.size();
  parts[0].held_out.reserve(held_out);
  for (std::size_t part = 1; part < parts.size(); ++part) parts[0].join(std::move(parts[part]));
  return std::move(parts[0]);
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

std::vector<report::LikelyLink> with_shares(Gathered& gathered, bool calibrated) {
  std::vector<Scored> scored;
  if (calibrated) {
    for (const report::ScoredPair& pair : gathered.context.sorted())
      scored.push_back({Real(pair.score), pair.positive});
  }
  std::reverse(scored.begin(), scored.end());
  const Calibration share(scored);
  std::vector<report::LikelyLink> links;
  for (const report::ScoredPair& pair : gathered.likely.sorted()) {
    links.push_back({pair.row, pair.col, pair.score, share(double(Real(pair.score)))});
  }
  return links;
}

/// Whether a pair has a node of the list.
class Wanted {
 public:
  Wanted(const LinkList& list, Index rows, Index cols)
      : row_(static_cast<std::size_t>(rows)), col_(static_cast<std::size_t>(cols)) {
    for (const Index row : list.of_rows) row_[static_cast<std::size_t>(row)] = 1;
    for (const Index col : list.of_cols) col_[static_cast<std::size_t>(col)] = 1;
    all_ = list.of_rows.empty() && list.of_cols.empty();
  }
  [[nodiscard]] bool has(Index a, Index b) const {
    return all_ || row_[static_cast<std::size_t>(a)] != 0 || col_[static_cast<std::size_t>(b)] != 0;
  }

 private:
  std::vector<unsigned char> row_;
  std::vector<unsigned char> col_;
  bool all_;
};

}  // namespace

void judge_unseen(const LinkMatrix& graph, const DenseObservations& data, const LinkProtocol& protocol,
                  const LinkList& list, report::RunReport& report) {
  const Wanted wanted(list, graph.rows(), graph.cols());
  const bool all_columns = graph.ordered() || protocol.unsymmetric;
  const auto first_col = [&](Index a) { return all_columns ? 0 : a + 1; };
  const auto row_of = [&](Index a, Gathered& gathered) {
    const auto seen = data.value.begin() + static_cast<Offset>(a) * data.cols;
    return [&, a, seen, links = RowWalk(graph.links(), a)](Index b, double score) mutable {
      if (!graph.is_pair(a, b) || !std::isnan(seen[b])) return;
      const bool link = links.has(b);
      gathered.held_out.push_back({static_cast<Real>(score), link});
      gathered.hold_out({a, b, score, link});
      if (!link && (graph.ordered() || a < b) && wanted.has(a, b)) gathered.likely.offer({a, b, score, false});
    };
  };
  Gathered gathered = gather(report.result.solution, list, report.run.threads, first_col, row_of);
  set_measures(gathered.held_out, report);
  report.top_pairs = gathered.shown.sorted();
  if (list.top > 0) report.likely = with_shares(gathered, true);
}

void judge_hidden(const LinkMatrix& graph, std::uint64_t seed, const LinkList& list, report::RunReport& report) {
  const LowRankMatrix& x = report.result.solution;
  Entries pairs;  // value: whether there is a link
  const auto add = [&](Index a, Index b, Real link) {
    pairs.row.push_back(a);
    pairs.col.push_back(b);
    pairs.value.push_back(link);
  };
  for (const auto& [a, b] : graph.edges()) {
    if (graph.hidden().find(a, b) >= 0) add(a, b, 1);
  }
  Random random(seed ^ kAbsentStream);
  for (Offset left = graph.absent() > 0 ? graph.hidden_edges() : 0; left > 0;) {
    const auto a = static_cast<Index>(random.below(static_cast<std::uint64_t>(graph.rows())));
    const auto b = static_cast<Index>(random.below(static_cast<std::uint64_t>(graph.cols())));
    if (!graph.is_pair(a, b) || graph.links().find(a, b) >= 0) continue;
    graph.ordered() ? add(a, b, 0) : add(std::min(a, b), std::max(a, b), 0);
    --left;
  }
  std::vector<Real> scores;
  x.sample(pairs.row, pairs.col, scores, report.run.threads);
  std::vector<Scored> scored(scores.size());
  for (std::size_t e = 0; e < scores.size(); ++e) scored[e] = {scores[e], pairs.value[e] > 0};
  set_measures(scored, report);
  if (list.top == 0) return;

  const Wanted wanted(list, graph.rows(), graph.cols());
  const auto first_col = [&](Index a) { return graph.ordered() ? 0 : a + 1; };
  const auto row_of = [&](Index a, Gathered& gathered) {
    return
        [&, a, links = RowWalk(graph.links(), a), hidden = RowWalk(graph.hidden(), a)](Index b, double score) mutable {
          const bool link = links.has(b);
          if (!graph.is_pair(a, b) || (link && !hidden.has(b))) return;
          gathered.hold_out({a, b, score, link});
          if (!link && wanted.has(a, b)) gathered.likely.offer({a, b, score, false});
        };
  };
  Gathered gathered = gather(x, list, report.run.threads, first_col, row_of);
  report.top_pairs = gathered.shown.sorted();
  report.likely = with_shares(gathered, graph.hidden_edges() > 0);
}

std::string to_lines(const report::RunReport& report) {
  std::string text = report.kind == DataKind::directed    ? "from\tto"
                     : report.kind == DataKind::bipartite ? "left\tright"
                                                          : "node\tnode";
  text += "\tscore\tshare\n";
  for (const report::LikelyLink& link : report.likely) {
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{:.7g}\t{}\n", report.rows.name(link.row),
                   report.cols.name(link.col), link.score,
                   std::isnan(link.share) ? "" : fmt::format("{:.4g}", link.share));
  }
  return text;
}

}  // namespace tracenorm::app
