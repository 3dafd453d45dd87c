#include "distributed/panels.hpp"

#include <utility>

#include "linalg/lapack.hpp"

namespace tracenorm::distributed {

namespace {

/// Numbers of a panel in the host's memory.
template <class Number>
std::span<Number> as_numbers(std::span<std::byte> bytes) {
  return {reinterpret_cast<Number*>(bytes.data()), bytes.size() / sizeof(Number)};
}

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

void DistributedPanels::gram(PanelList a, const Panel& b, Eigen::Ref<Eigen::MatrixXd> out) {
  local_->gram(a, b, out);
  if (b.side() == Side::right || a.empty()) return;
  numbers_.resize(static_cast<std::size_t>(out.size()));
  Eigen::Map<Eigen::MatrixXd> all(numbers_.data(), out.rows(), out.cols());
  all = out;
  ranks_.sum(numbers_);
  out = all;
}

std::pair<double, double> DistributedPanels::squares(const Panel& a, const Panel& b) {
  double mine[2] = {local_->dot(a, a), local_->dot(b, b)};
  double summed[2] = {mine[0], mine[1]};
  ranks_.sum(summed);
  return {a.side() == Side::left ? summed[0] : mine[0], b.side() == Side::left ? summed[1] : mine[1]};
}

void DistributedPanels::total(const Panel& right) {
  if (const std::span<std::byte> bytes = local_->in_host_memory(right); !bytes.empty()) {
    right.use() == Use::exact ? ranks_.sum(as_numbers<double>(bytes)) : ranks_.sum(as_numbers<Real>(bytes));
    return;
  }
  Eigen::MatrixXd numbers = local_->download(right);
  ranks_.sum(std::span(numbers.data(), static_cast<std::size_t>(numbers.size())));
  local_->upload(numbers, right);
}

bool DistributedPanels::decompose(Panel& left, Eigen::VectorXd& values, Panel& right) {
  // QR of the left side by blocks of rows, a rank's each: those of the blocks, then that of their R's, one above the
  // other (Demmel, Grigori, Hoemmen and Langou 2012). Everything else is small, or everywhere.
  Eigen::MatrixXd rows = local_->download(left);
  Eigen::MatrixXd cols = local_->download(right);
  double failures[1] = {values.allFinite() && rows.allFinite() && cols.allFinite() ? 0.0 : 1.0};
  ranks_.largest(failures);
  if (failures[0] != 0) return false;
  const lapack::Qr block(std::move(rows));
  const Eigen::MatrixXd mine = block.r();
  const Eigen::MatrixXd all = stack(mine, ranks_);
  Eigen::VectorXd before = Eigen::VectorXd::Zero(ranks_.size());  // a block of few rows has a short R
  before[ranks_.rank()] = static_cast<double>(mine.rows());
  ranks_.sum(std::span(before.data(), static_cast<std::size_t>(before.size())));
  const auto place = static_cast<Eigen::Index>(before.head(ranks_.rank()).sum());
  const lapack::Qr top(all);
  const lapack::Qr other(std::move(cols));
  const lapack::Svd core = lapack::svd(lapack::product(top.r() * values.asDiagonal(), other.r(), true));
  values = core.values;
  const auto terms = static_cast<Index>(values.size());
  left = left.middle(0, terms);
  right = right.middle(0, terms);
  local_->upload(block.times(top.times(core.left).middleRows(place, mine.rows())), left);
  local_->upload(other.times(core.right), right);
  return true;
}

}  // namespace tracenorm::distributed
