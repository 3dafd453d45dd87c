#include "distributed/store.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/entry_functions.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::distributed {

namespace {

/// Rows of a Gram matrix that are made at once.
constexpr Index kGramBlock = 64;

std::span<const Real> values_of(const Observations& observations) {
  return std::visit([](const auto& data) { return std::span<const Real>(data.value.data(), data.value.size()); },
                    observations);
}

}  // namespace

DistributedStore::DistributedStore(std::shared_ptr<const Part> part, std::unique_ptr<EntryStore> local,
                                   const Observations& all, Ranks& ranks, DistributedPanels& panels)
    : part_(std::move(part)),
      share_(part_->share),
      local_(std::move(local)),
      all_(all),
      ranks_(ranks),
      panels_(panels) {
  // What others decide by must be the same everywhere.
  facts_ = local_->facts();
  facts_.rows = share_.all_rows();
  std::vector<double> entries(static_cast<std::size_t>(ranks_.size()), 0.0);
  entries[static_cast<std::size_t>(share_.rank)] = static_cast<double>(facts_.entries);
  ranks_.sum(entries);
  facts_.entries = 0;
  for (int r = 0; r < ranks_.size(); ++r) {
    if (r == share_.rank) first_entry_ = facts_.entries;
    facts_.entries += static_cast<Offset>(entries[static_cast<std::size_t>(r)]);
  }
  facts_.data_scale = root_mean_square(values_of(all));
  full_rows_ = facts_.entries != observed(all);
  facts_.work = whole_layout()->work();
  if (off_pattern()) facts_.work.gram_of_rows = 2.0 * facts_.rows;  // see gram_by_products
}

EntrySums DistributedStore::total(const EntrySums& mine) const {
  double numbers[] = {mine.objective,    mine.inner,    mine.conjugate,           mine.square_x,
                      mine.square_slope, mine.rounding, std::abs(mine.objective), std::abs(mine.conjugate)};
  ranks_.sum(numbers);
  const double added = ranks_.size() * std::numeric_limits<double>::epsilon() * (numbers[6] + numbers[7]);
  return {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5] + added};
}

EntrySums DistributedStore::linearize(double width, bool with_conjugates, const NormalProduct* first) {
  const EntrySums mine = local_->linearize(width, with_conjugates, first);
  if (first != nullptr) panels_.total(first->out);
  return total(mine);
}

EntrySums DistributedStore::aim_without(const Product& term, double scale, std::optional<double> width) {
  return total(local_->aim_without(term, scale, width));
}

SegmentSums DistributedStore::segment(std::span<const double> t, std::optional<double> width) {
  SegmentSums sums = local_->segment(t, width);
  static_assert(sizeof(SegmentSums) == 4 * kSegmentPoints * sizeof(double));
  ranks_.sum(std::span(sums.value, 4 * kSegmentPoints));
  return sums;
}

double DistributedStore::move(double t) {
  double largest[1] = {local_->move(t)};
  ranks_.largest(largest);
  return largest[0];
}

EntrySums DistributedStore::factor_gradient(const Product& at, double scale, double width, const Product& products) {
  const EntrySums mine = local_->factor_gradient(at, scale, width, products);
  panels_.total(products.right);
  return total(mine);
}

void DistributedStore::multiply(Slopes which, const Panel& in, const Panel& out) {
  local_->multiply(which, in, out);
  if (out.side() == Side::right) panels_.total(out);
}

void DistributedStore::multiply(Slopes which, const NormalProduct& product) {
  local_->multiply(which, product);
  panels_.total(product.out);
}

void DistributedStore::multiply(Slopes which, const Product& in, const Product& out) {
  local_->multiply(which, in, out);
  panels_.total(out.right);
}

std::vector<Real> DistributedStore::dual_slopes() const {
  const std::vector<Real> mine = local_->dual_slopes();
  const std::vector<std::byte> bytes = ranks_.gather(std::as_bytes(std::span(mine)));
  const auto* numbers = reinterpret_cast<const Real*>(bytes.data());
  return {numbers, numbers + bytes.size() / sizeof(Real)};
}

Eigen::MatrixXd DistributedStore::gram(Slopes which, Side side, const Panel& row_factor, const Panel& col_factor) {
  if (side == Side::left) return off_pattern() ? gram_by_products(which) : gram_of_rows(row_factor, col_factor);
  Eigen::MatrixXd sum = local_->gram(which, side, row_factor, col_factor);
  ranks_.sum(std::span(sum.data(), static_cast<std::size_t>(sum.size())));
  return sum;
}

Eigen::MatrixXd DistributedStore::gram_of_rows(const Panel& row_factor, const Panel& col_factor) {
  // Two rows meet wherever they are: a short matrix is gathered for it.
  std::vector<Real> slopes = dual_slopes();
  const std::unique_ptr<cpu::Layout> layout = whole_layout();
  if (row_factor) {
    const Eigen::VectorXd row = panels_.download(row_factor);
    const Eigen::VectorXd col = panels_.download(col_factor);
    layout->scale({0, facts_.rows}, row.data(), col.data(), slopes.data());
  }
  return layout->gram(slopes.data(), Side::left);
}

Eigen::MatrixXd DistributedStore::gram_by_products(Slopes which) {
  // The same where slopes are not all at the entries: some rows at a time become a right panel, which all multiply.
  const Index rows = facts_.rows;
  Eigen::MatrixXd gram(rows, rows);
  for (Index from = 0; from < rows; from += kGramBlock) {
    const Index count = std::min(kGramBlock, rows - from);
    const Panel unit = panels_.make(Side::left, Use::exact, count);
    const Panel some = panels_.make(Side::right, Use::exact, count);
    const Panel product = panels_.make(Side::left, Use::exact, count);
    Eigen::MatrixXd chosen = Eigen::MatrixXd::Zero(rows, count);
    chosen.middleRows(from, count).setIdentity();
    panels_.upload(chosen, unit);
    multiply(which, unit, some);
    multiply(which, some, product);
    gram.middleCols(from, count) = panels_.download(product);
  }
  return gram;
}

std::unique_ptr<cpu::Layout> DistributedStore::whole_layout() const {
  if (const auto* sparse = std::get_if<SparseObservations>(&all_); sparse != nullptr && !full_rows_) {
    return cpu::make_sparse_layout(sparse->pattern, Execution(1));
  }
  return cpu::make_dense_layout(facts_.rows, facts_.cols);
}

void DistributedStore::watch(const Entries& held_out, const FactorView& x) {
  held_out_ = {};
  held_at_.clear();
  held_of_all_ = held_out.row.size();
  for (std::size_t e = 0; e < held_out.row.size(); ++e) {
    if (!share_.owns(held_out.row[e])) continue;
    held_out_.row.push_back(held_out.row[e] - share_.first());
    held_out_.col.push_back(held_out.col[e]);
    held_out_.value.push_back(held_out.value[e]);
    held_at_.push_back(e);
  }
  local_->watch(held_out_, x);
}

HeldOutSums DistributedStore::held_out() const {
  const HeldOutSums mine = local_->held_out();
  double numbers[] = {mine.square, mine.absolute, mine.loss};
  ranks_.sum(numbers);
  return {numbers[0], numbers[1], numbers[2]};
}

bool DistributedStore::exchange(Exchange state) {
  // What is kept does not say how many ranks there were: arrays are those of one store with all rows.
  State mine;
  bool kept = local_->exchange(Exchange::keep(mine));  // for the names and sizes of what there is
  for (auto& [name, numbers] : mine.entries) {
    const bool held = name.starts_with("held_out");
    std::vector<Real> all;
    if (!state.restores()) {
      if (held) {
        std::vector<double> spread(held_of_all_, 0.0);
        for (std::size_t e = 0; e < numbers.size(); ++e) spread[held_at_[e]] = double(numbers[e]);
        ranks_.sum(spread);
        all.assign(spread.begin(), spread.end());
      } else {
        const std::vector<std::byte> bytes = ranks_.gather(std::as_bytes(std::span(std::as_const(numbers))));
        const auto* first = reinterpret_cast<const Real*>(bytes.data());
        all.assign(first, first + bytes.size() / sizeof(Real));
      }
    }
    state.entries(name, all);
    if (!state.restores()) continue;
    if (held) {
      if (all.size() != held_of_all_) {
        throw Error(ErrorCode::input, "the checkpoint has no X for every held-out entry; it is damaged");
      }
      numbers.clear();
      for (const std::size_t at : held_at_) numbers.push_back(all[at]);
    } else if (all.empty()) {
      numbers.clear();
    } else if (all.size() == static_cast<std::size_t>(facts_.entries)) {
      const auto first = all.begin() + first_entry_;
      numbers.assign(first, first + local_->facts().entries);
    } else {
      throw Error(ErrorCode::input, "the checkpoint has another number of entries than the data; it is damaged");
    }
  }
  if (state.restores()) kept = local_->exchange(Exchange::restore(mine));
  return kept;
}

}  // namespace tracenorm::distributed
