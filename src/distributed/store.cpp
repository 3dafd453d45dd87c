#include "distributed/store.hpp"

#include <algorithm>
#include <utility>

#include "base/among_ranks.hpp"
#include "model/entry_functions.hpp"
#include "model/shared_rows.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::distributed {

namespace {

/// Rows of a Gram matrix that are made at once.
constexpr Index kGramBlock = 64;

}  // namespace

DistributedStore::DistributedStore(std::shared_ptr<const Part> part, std::unique_ptr<EntryStore> local,
                                   const Observations& all, Ranks& ranks, DistributedPanels& panels,
                                   const Execution& execution)
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
  facts_.data_scale = root_mean_square(all, execution);
  full_rows_ = facts_.entries != observed(all);
  const bool sparse = std::holds_alternative<SparseObservations>(all) && !full_rows_;
  facts_.work = sparse ? cpu::sparse_work(count_observed(all)) : whole_layout()->work();
}

double DistributedStore::move(double t) {
  double largest[1] = {local_->move(t)};
  ranks_.largest(largest);
  return largest[0];
}

std::vector<Real> DistributedStore::dual_slopes() const {
  const std::vector<Real> mine = local_->dual_slopes();
  const std::vector<std::byte> bytes = ranks_.gather(std::as_bytes(std::span(mine)));
  const auto* numbers = reinterpret_cast<const Real*>(bytes.data());
  return {numbers, numbers + bytes.size() / sizeof(Real)};
}

Eigen::MatrixXd DistributedStore::gram(Slopes which, Side side, const Panel& row_factor, const Panel& col_factor) {
  if (side == Side::left) return off_pattern() ? gram_by_products(which) : gram_of_rows(row_factor, col_factor);
  return local_->gram(which, side, row_factor, col_factor);
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
  return layout->gram_of_rows(slopes.data());
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

const SharedRows* DistributedStore::shared() const {
  const auto* sparse = std::get_if<SparseObservations>(&all_);
  return sparse != nullptr ? sparse->shared.get() : nullptr;
}

const SparsePattern& DistributedStore::whole_pattern() const {
  const auto& sparse = std::get<SparseObservations>(all_);
  if (shared() == nullptr) return sparse.pattern;
  if (gathered_.rows() == 0) {
    std::vector<Index> col(static_cast<std::size_t>(sparse.pattern.entries()));
    sparse.pattern.col().visit([&](const auto* columns) { std::copy_n(columns, col.size(), col.begin()); });
    gathered_ = SparsePattern::unchecked(facts_.rows, facts_.cols, std::vector<Offset>(shared()->begin()),
                                         Columns(gathered(std::span<const Index>(col), ranks_)));
  }
  return gathered_;
}

std::unique_ptr<cpu::Layout> DistributedStore::whole_layout() const {
  if (std::holds_alternative<SparseObservations>(all_) && !full_rows_) {
    return cpu::make_sparse_layout(whole_pattern(), Execution(1));
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
