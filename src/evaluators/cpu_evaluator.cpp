#include "evaluators/cpu_evaluator.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "base/parallel.hpp"
#include "model/entry_functions.hpp"

namespace tracenorm {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// More shards balance better but cost one output vector each in products with the transpose.
constexpr int kMostShards = 16;
constexpr Offset kLeastShardEntries = 16384;
constexpr Offset kLeastOutputEntries = 16;  // per number that a shard writes: adding those up must stay a side matter

/// A shard of a product with factors writes as much as the right factor is large; it should meet this many entries per
/// row of it.
constexpr Offset kEntriesPerOutput = 8;
constexpr Offset kMostFactorShards = 8;

/// Held-out entries are followed in blocks of this many.
constexpr std::size_t kWatchedBlock = 32768;

/// Slopes of this many entries, and what they are made from, stay in the second cache.
constexpr Offset kBlockEntries = 16384;

}  // namespace

std::vector<Index> cut_rows(Index rows, Offset entries, const Offset* begin, Index outputs) {
  const Offset least = std::max(kLeastShardEntries, kLeastOutputEntries * outputs);
  return cut_rows_into(std::clamp<Offset>(entries / least, 1, kMostShards), rows, entries, begin);
}

std::vector<Index> cut_rows_into(Offset wanted, Index rows, Offset entries, const Offset* begin) {
  std::vector<Index> cuts{0};
  for (Offset s = 1; s < wanted; ++s) {
    const Offset target = entries * s / wanted;
    Index row = 0;
    if (begin != nullptr) {
      row = static_cast<Index>(std::lower_bound(begin, begin + rows + 1, target) - begin);
    } else {
      row = static_cast<Index>(static_cast<Offset>(rows) * s / wanted);
    }
    if (row > cuts.back() && row < rows) cuts.push_back(row);
  }
  cuts.push_back(rows);
  return cuts;
}

CpuEvaluator::CpuEvaluator(const Problem& problem, Index rows, Index cols, std::uint64_t seed)
    : problem_(problem),
      rows_(rows),
      cols_(cols),
      radius_(problem.radius()),
      lambda_(penalty_lambda(problem.penalty)),
      iterate_(rows, cols),
      random_(seed) {
  const auto& ball = std::get<TraceNormBall>(problem.constraint);
  if (!ball.weighted()) return;
  row_scale_ = Eigen::Map<const Vector>(ball.row_weight.data(), rows).cwiseInverse();
  col_scale_ = Eigen::Map<const Vector>(ball.col_weight.data(), cols).cwiseInverse();
  fast_row_scale_ = row_scale_.cast<Real>();
  largest_scale_ = row_scale_.maxCoeff() * col_scale_.maxCoeff();
}

void CpuEvaluator::start(kernels::Mode mode, const Real* value, const Real* weight, const Offset* begin) {
  mode_ = mode;
  value_ = value;
  weight_ = weight;
  cuts_ = cut_rows(rows_, entries(), begin, cols_);
  factor_cuts_ = cut_rows_into(std::clamp<Offset>(entries() / (kEntriesPerOutput * cols_), 1, kMostFactorShards), rows_,
                               entries(), begin);
  const auto count = static_cast<std::size_t>(entries());
  x_.assign(count, Real(0));
  slope_.assign(count, Real(0));
  shard_outputs_.resize(cols_, shards());
  fast_outputs_.resize(static_cast<Eigen::Index>(cols_) * fast_width(), shards());
  row_products_.resize(detail::kKrylovBlocks);
  for (RealBlock& product : row_products_) product.resize(rows_, fast_width());  // not resident until it is used
  krylov_.reserve(cols_, fast_width());
  row_product_.resize(rows_);
  low_rank_shift_.resize(rows_);
  entry_sums_.resize(static_cast<std::size_t>(shards()));
  shard_values_.resize(static_cast<std::size_t>(shards()));
  leading_.atom.left.setZero(rows_);
  leading_.atom.right.setZero(cols_);
  double squares = 0;
  Offset observed_count = 0;
  for (std::size_t e = 0; e < count; ++e) {
    if (std::isnan(value[e])) continue;
    squares += double(value[e]) * double(value[e]);
    ++observed_count;
  }
  data_scale_ = observed_count > 0 ? std::sqrt(squares / static_cast<double>(observed_count)) : 1.0;
}

double CpuEvaluator::kink_slope() const {
  if (std::holds_alternative<L1Penalty>(problem_.penalty)) return lambda_;
  return std::visit(
      [](const auto& loss) {
        const Interval slopes = loss.slopes(1.0);
        const double size = std::max(std::abs(slopes.lower), std::abs(slopes.upper));
        return std::isfinite(size) ? size : 1.0;
      },
      problem_.loss);
}

bool CpuEvaluator::cheap_conjugate() const {
  return std::visit([](const auto& loss) { return std::decay_t<decltype(loss)>::cheap_conjugate; }, problem_.loss);
}

kernels::EntryRange CpuEvaluator::range(Offset from, Offset to, Real* slope) const {
  kernels::EntryRange r{value_ + from,    weight_ != nullptr ? weight_ + from : nullptr,
                        x_.data() + from, slope != nullptr ? slope + from : nullptr,
                        to - from,        lambda_};
  if (coded_.code != nullptr) r.coded = {coded_.code + from, coded_.offset, coded_.scale};
  return r;
}

template <class Work>
void CpuEvaluator::for_row_blocks(int shard, Work&& work) const {
  constexpr Index rows_at_once = 8;  // of the dense kernel
  const Index end = cuts_[static_cast<std::size_t>(shard) + 1];
  for (Index first = cuts_[static_cast<std::size_t>(shard)]; first < end;) {
    Index last = first;
    while (last < end && row_begin(last) - row_begin(first) < kBlockEntries) last = std::min(end, last + rows_at_once);
    work(first, last);
    first = last;
  }
}

double CpuEvaluator::complement_square(double observed_square) const {
  return std::max(0.0, square_norm_ - observed_square);  // rounding must not make it negative
}

double CpuEvaluator::objective() {
  count_pass();
  const double sum = visit_kernels(problem_.loss, mode_, weight_ != nullptr, [&](const auto& loss, const auto& table) {
    return sum_over_shards([&](int s) { return table.objective(loss, range(s, nullptr)); });
  });
  if (!has_low_rank_part()) return sum;
  const double squares = sum_over_shards([&](int s) {
    const kernels::EntryRange r = range(s, nullptr);
    double square = 0;
    for (Offset i = 0; i < r.count; ++i) square += double(r.x[i]) * double(r.x[i]);
    return square;
  });
  return sum + lambda_ * complement_square(squares);
}

Linearization CpuEvaluator::linearize(double width, bool want_conjugate) {
  count_pass();
  const bool with_product = first_product_ == FirstProduct::wanted;
  kernels::RowTerms<Real> product;
  if (with_product) {
    draw_start(start_, fast_width());
    first_size_ = fast_size(Slopes::current);
    product = begin_fast(first_size_, start_, row_products_[0]);
    counters_.products += fast_width();
    count_pass(block_cost(fast_width()));
  }
  visit_kernels(problem_.loss, mode_, weight_ != nullptr, [&](const auto& loss, const auto& table) {
    auto kernel = want_conjugate ? table.linearize_conjugate : table.linearize;
    if (!want_conjugate && coded_.code != nullptr && table.linearize_coded != nullptr) kernel = table.linearize_coded;
    for_each_shard(shards(), [&](int s) {
      kernels::EntrySums sums;
      ShiftedPlaces places;
      if (with_product) fast_outputs_.col(s).setZero();
      for_row_blocks(s, [&](Index first, Index last) {
        kernels::EntryRange r = range(row_begin(first), row_begin(last), slope_.data());
        shift(r, row_begin(first), width, places);
        sums += kernel(loss, r, width);
        if (!with_product) return;
        normal_fast_rows(first, last, slope_.data(), fast_block_.data(), fast_width(), product,
                         fast_outputs_.col(s).data());
      });
      entry_sums_[static_cast<std::size_t>(s)] = sums;
    });
  });
  if (with_product) end_fast(first_size_, first_out_, row_products_[0]);
  first_product_ = with_product ? FirstProduct::ready : FirstProduct::unwanted;
  kernels::EntrySums sums;
  for (const kernels::EntrySums& shard : entry_sums_) sums += shard;
  slope_square_ = sums.square_slope;
  observed_square_ = sums.square_x;
  Linearization model{sums.objective, sums.inner, want_conjugate ? sums.conjugate : kNaN};
  if (has_low_rank_part()) {  // off the pattern: slope 2 lambda x, conjugate lambda x^2
    const double off = lambda_ * complement_square(sums.square_x);
    model.objective += off;
    model.inner += 2 * off;
    model.conjugate_sum += off;
  }
  return model;
}

template <class Work>
void CpuEvaluator::for_watched_blocks(Work&& work) const {
  for_each_shard(static_cast<int>(watched_errors_.size()), [&](int block) {
    const std::size_t from = static_cast<std::size_t>(block) * kWatchedBlock;
    work(block, from, std::min(watched_x_.size(), from + kWatchedBlock));
  });
}

double CpuEvaluator::move(double t) {
  forget_first_product();
  if (aimed_matrix_ != nullptr) return move_to_matrix(t);
  assert(aimed_ != nullptr);
  count_pass();
  fast_v_.resize(cols_);
  for (Index j = 0; j < cols_; ++j) fast_v_[j] = Real(aimed_right_[natural(j)]);
  for_each_shard(shards(), [&](int s) {
    shard_values_[static_cast<std::size_t>(s)] = move_shard(s, aimed_left_.data(), fast_v_.data(), t);
  });
  const double largest = *std::max_element(shard_values_.begin(), shard_values_.end());
  if (has_low_rank_part()) {
    const auto [inner, target_square] = target_products();
    square_norm_ = (1 - t) * (1 - t) * square_norm_ + 2 * t * (1 - t) * inner + t * t * target_square;
  }
  for_watched_blocks([&](int, std::size_t from, std::size_t to) {
    for (std::size_t e = from; e < to; ++e) {
      const double target = aimed_left_[watched_->row[e]] * aimed_right_[watched_->col[e]];
      watched_x_[e] += Real(t) * (Real(target) - watched_x_[e]);
    }
  });
  matrix_sampled_ = false;
  if (thin_) {
    thin_->blend(t, *aimed_);
    iterate_stale_ = true;
    return largest;
  }
  if (t >= 1) keep_remembered();
  iterate_.blend(t, *aimed_);
  // Beyond twice the largest possible rank the factors hold nothing new; once per min(m, n) moves costs little.
  if (iterate_.terms() >= std::max<Index>(64, 2 * std::min(rows_, cols_))) compress();
  return largest;
}

void CpuEvaluator::remember() {
  remembered_.reset();
  if (thin_) {
    remembered_ = iterate();
  } else {
    remembered_values_ = iterate_.values();
  }
}

LowRankMatrix CpuEvaluator::remembered() {
  keep_remembered();
  return *remembered_;
}

void CpuEvaluator::keep_remembered() {
  if (remembered_) return;
  const Eigen::Index terms = remembered_values_.size();
  remembered_.emplace(iterate_.left().leftCols(terms), remembered_values_, iterate_.right().leftCols(terms));
}

void CpuEvaluator::restart(LowRankMatrix factors) {
  keep_remembered();
  assert(factors.rows() == rows_ && factors.cols() == cols_);
  factors.compress();
  iterate_ = std::move(factors);
  iterate_stale_ = false;
  if (thin_) thin_.emplace(iterate_);
  load_iterate();
}

void CpuEvaluator::forget_slopes() {
  for (std::vector<Real>* array :
       {&slope_, &average_, &average_x_, &certified_, &loss_shift_, &penalty_shift_, &target_}) {
    std::vector<Real>().swap(*array);  // an assignment of nothing would keep the memory
  }
  lanczos_ = {};
  bound_lanczos_ = {};
}

void CpuEvaluator::refresh_iterate() {
  if (!iterate_stale_) return;
  iterate_ = thin_->to_low_rank();
  iterate_stale_ = false;
}

const LowRankMatrix& CpuEvaluator::iterate() {
  refresh_iterate();
  return iterate_;
}

void CpuEvaluator::compress() {
  keep_remembered();
  if (thin_) {
    refresh_iterate();
  } else {
    iterate_.compress();
  }
  load_iterate();
}

void CpuEvaluator::load_iterate() {
  forget_first_product();
  square_norm_ = iterate_.values().squaredNorm();
  const LowRankMatrix x = scaled_to_data(iterate_);
  for_each_shard(shards(), [&](int s) { load_shard(s, x, x_.data() + shard_begin(s)); });
  if (watched_ != nullptr) x.sample(watched_->row, watched_->col, watched_x_);
  count_pass();
}

void CpuEvaluator::watch(const Entries& held_out) {
  watched_ = &held_out;
  watched_errors_.resize((held_out.row.size() + kWatchedBlock - 1) / kWatchedBlock);
  scaled_to_data(iterate()).sample(held_out.row, held_out.col, watched_x_);
}

HeldOutError CpuEvaluator::held_out_error() const {
  for_watched_blocks([&](int block, std::size_t from, std::size_t to) {
    HeldOutError sums;  // of squares, of sizes, of losses
    std::visit(
        [&](const auto& loss) {
          for (std::size_t e = from; e < to; ++e) {
            const double x = double(watched_x_[e]);
            const double y = double(watched_->value[e]);
            sums.rmse += (x - y) * (x - y);
            sums.mae += std::abs(x - y);
            sums.loss += double(loss.value(x, y));
          }
        },
        problem_.loss);
    watched_errors_[static_cast<std::size_t>(block)] = sums;
  });
  HeldOutError sum;
  for (const HeldOutError& block : watched_errors_) {
    sum.rmse += block.rmse;
    sum.mae += block.mae;
    sum.loss += block.loss;
  }
  const auto count = static_cast<double>(watched_x_.size());
  return {std::sqrt(sum.rmse / count), sum.mae / count, sum.loss / count};
}

}  // namespace tracenorm
