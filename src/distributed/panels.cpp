#include "distributed/panels.hpp"

#include <algorithm>
#include <utility>

#include "linalg/lapack.hpp"

namespace tracenorm::distributed {

namespace {

/// The matrices of all ranks, one above the other, of so many columns.
Eigen::MatrixXd stack(const Eigen::MatrixXd& mine, Ranks& ranks) {
  // Rows travel whole, so that those of several ranks are one matrix already.
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const RowMajor rows = mine;
  const std::vector<std::byte> all =
      ranks.gather(std::as_bytes(std::span(rows.data(), static_cast<std::size_t>(rows.size()))));
  const auto count = static_cast<Eigen::Index>(all.size() / sizeof(double));
  if (mine.cols() == 0) return mine;
  return Eigen::Map<const RowMajor>(reinterpret_cast<const double*>(all.data()), count / mine.cols(), mine.cols());
}

}  // namespace

DistributedPanels::DistributedPanels(std::shared_ptr<const Part> part, std::unique_ptr<Panels> local, Ranks& ranks)
    : part_(std::move(part)), share_(part_->share), local_(std::move(local)), ranks_(ranks) {}

void DistributedPanels::upload(const Eigen::MatrixXd& from, const Panel& to) {
  if (to.side() == Side::right) return local_->upload(from, to);
  local_->upload(from.middleRows(share_.first(), share_.rows()), to);
}

Eigen::MatrixXd DistributedPanels::download(const Panel& from) {
  Eigen::MatrixXd mine = local_->download(from);
  return from.side() == Side::right || mine.cols() == 0 ? mine : stack(mine, ranks_);
}

void DistributedPanels::draw(double size, Random& random, const Panel& panel) {
  if (panel.side() == Side::right) return local_->draw(size, random, panel);
  // The same numbers however many ranks there are: everybody draws all of them.
  Eigen::MatrixXd mine(share_.rows(), panel.columns());
  for (Index k = 0; k < panel.columns(); ++k) {
    for (Index r = 0; r < share_.all_rows(); ++r) {
      const double number = panel.use() == Use::search ? random.spread() : random.normal();
      if (share_.owns(r)) mine(r - share_.first(), k) = number;
    }
  }
  const Panel drawn = local_->make(Side::left, panel.use(), panel.columns());
  local_->upload(mine, drawn);
  local_->combine(1, drawn, size * Eigen::MatrixXd::Identity(panel.columns(), panel.columns()), panel);
}

bool DistributedPanels::decompose(Panel& left, Eigen::VectorXd& values, Panel& right) {
  lapack::Svd svd{local_->download(left), values, local_->download(right)};
  double failures[1] = {values.allFinite() && svd.left.allFinite() && svd.right.allFinite() ? 0.0 : 1.0};
  ranks_.largest(failures);
  if (failures[0] != 0) return false;
  // Blocks of rows as one process has them: of those that several ranks share each gets all rows.
  const std::vector<Index> cuts = lapack::tall_blocks(share_.shards.rows, svd.left.cols());
  const auto begin = [&](Index row) {  // of its block
    return static_cast<std::size_t>(std::upper_bound(cuts.begin(), cuts.end(), row) - cuts.begin()) - 1;
  };
  const bool idle = share_.rows() == 0;
  const std::size_t first = idle ? 0 : begin(share_.first());
  const std::size_t last = idle ? 0 : begin(share_.last() - 1) + 1;
  const Index before = share_.first() - (idle ? share_.first() : cuts[first]);
  lapack::TallBlocks blocks{{}, cuts.size() - 1, before > 0 ? std::size_t{1} : 0};
  for (std::size_t b = first; b <= last; ++b) blocks.cuts.push_back(cuts[b] - cuts[first]);
  svd.left = with_shared_rows(svd.left, cuts, first, last);
  blocks.stack = [&](const Eigen::MatrixXd& mine, Eigen::Index& above) {
    Eigen::VectorXd rows = Eigen::VectorXd::Zero(ranks_.size());  // a block of few rows has a short R
    rows[ranks_.rank()] = static_cast<double>(mine.rows());
    ranks_.sum(std::span(rows.data(), static_cast<std::size_t>(rows.size())));
    above = static_cast<Eigen::Index>(rows.head(ranks_.rank()).sum());
    return stack(mine, ranks_);
  };
  lapack::decompose_product(svd, blocks, Execution(1));
  values = svd.values;
  const auto terms = static_cast<Index>(values.size());
  left = left.middle(0, terms);
  right = right.middle(0, terms);
  local_->upload(svd.left.middleRows(before, share_.rows()), left);
  local_->upload(svd.right, right);
  return true;
}

Eigen::MatrixXd DistributedPanels::with_shared_rows(const Eigen::MatrixXd& mine, const std::vector<Index>& cuts,
                                                    std::size_t first, std::size_t last) {
  // Rows that every rank has of blocks that it shares travel to all.
  const auto shared = [&](std::size_t b) {
    const auto inside = [&](Index cut) { return cut > cuts[b] && cut < cuts[b + 1]; };
    return std::any_of(share_.cuts.begin(), share_.cuts.end(), inside);
  };
  std::vector<Index> place(cuts.size(), 0);  // of a shared block among all that travel
  for (std::size_t b = 0; b + 1 < cuts.size(); ++b) place[b + 1] = place[b] + (shared(b) ? cuts[b + 1] - cuts[b] : 0);
  if (place.back() == 0) return mine;
  Eigen::MatrixXd sent(mine.rows(), mine.cols());
  Eigen::Index count = 0;
  for (std::size_t b = first; b < last; ++b) {
    if (!shared(b)) continue;
    const Index from = std::max(cuts[b], share_.first());
    const Index rows = std::min(cuts[b + 1], share_.last()) - from;
    sent.middleRows(count, rows) = mine.middleRows(from - share_.first(), rows);
    count += rows;
  }
  const Eigen::MatrixXd all = stack(sent.topRows(count), ranks_);
  if (first == last) return mine;
  Eigen::MatrixXd out(cuts[last] - cuts[first], mine.cols());
  out.middleRows(share_.first() - cuts[first], mine.rows()) = mine;
  for (std::size_t b = first; b < last; ++b) {
    const Index rows = cuts[b + 1] - cuts[b];
    if (shared(b)) out.middleRows(cuts[b] - cuts[first], rows) = all.middleRows(place[b], rows);
  }
  return out;
}

}  // namespace tracenorm::distributed
