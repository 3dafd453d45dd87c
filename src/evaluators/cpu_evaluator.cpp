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

/// An oracle that wants more digits than this gets its products in double.
constexpr double kFastAccuracy = 1e-5;

/// Held-out entries are followed in blocks of this many.
constexpr std::size_t kWatchedBlock = 32768;

/// Slopes of this many entries, and what they are made from, stay in the second cache.
constexpr Offset kBlockEntries = 16384;

}  // namespace

std::vector<Index> cut_rows(Index rows, Offset entries, const Offset* begin, Index outputs) {
  const Offset least = std::max(kLeastShardEntries, kLeastOutputEntries * outputs);
  const auto wanted = static_cast<int>(std::clamp<Offset>(entries / least, 1, kMostShards));
  std::vector<Index> cuts{0};
  for (int s = 1; s < wanted; ++s) {
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
}

void CpuEvaluator::start(kernels::Mode mode, const Real* value, const Real* weight, std::vector<Index> cuts) {
  mode_ = mode;
  value_ = value;
  weight_ = weight;
  cuts_ = std::move(cuts);
  const auto count = static_cast<std::size_t>(entries());
  x_.assign(count, Real(0));
  slope_.assign(count, Real(0));
  shard_outputs_.resize(cols_, shards());
  fast_outputs_.resize(cols_, shards());
  row_products_.resize(static_cast<std::size_t>(std::min<Index>(detail::kLanczosBlock, cols_)));
  for (RealVector& product : row_products_) product.resize(rows_);  // memory that is not used yet is not resident
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
  // With a weighted norm the slopes of Z are only known after the pass.
  const bool with_product = first_product_ == FirstProduct::wanted && !weighted_norm();
  FastProduct product{};
  if (with_product) {
    start_ = leading_.atom.right;
    draw_start(start_);
    product = begin_fast(Slopes::current, start_);
    ++counters_.products;
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
        normal_fast_rows(first, last, slope_.data(), fast_v_.data(), product.shift, row_products_[0].data(),
                         fast_outputs_.col(s).data());
      });
      entry_sums_[static_cast<std::size_t>(s)] = sums;
    });
  });
  if (with_product) end_fast(product, first_out_, row_products_[0]);
  first_product_ = with_product ? FirstProduct::ready : FirstProduct::unwanted;
  kernels::EntrySums sums;
  for (const kernels::EntrySums& shard : entry_sums_) sums += shard;
  slope_square_ = weighted_norm() ? balance(slope_, balanced_slope_) : sums.square_slope;
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

void CpuEvaluator::add_shard_outputs(double* out) {
  for_column_blocks([&](Index from, Index size) {
    Eigen::Map<Eigen::VectorXd> sum(out + from, size);
    sum = shard_outputs_.col(0).segment(from, size);
    for (int s = 1; s < shards(); ++s) sum += shard_outputs_.col(s).segment(from, size);
  });
}

void CpuEvaluator::apply_entries(Slopes which, ConstVector v, Vector& product) {
  count_pass();
  ++counters_.products;
  product.resize(rows_);
  for_each_shard(shards(), [&](int s) { apply_shard(s, slopes(which), v.data(), product.data()); });
}

void CpuEvaluator::apply_entries_transpose(Slopes which, ConstVector u, Vector& out) {
  count_pass();
  ++counters_.products;
  for_each_shard(shards(), [&](int s) {
    shard_outputs_.col(s).setZero();
    apply_transpose_shard(s, slopes(which), u.data(), shard_outputs_.col(s).data());
  });
  out.resize(cols_);
  add_shard_outputs(out.data());
}

void CpuEvaluator::apply(Slopes which, ConstVector v, Vector& product) {
  apply_entries(which, v, product);
  if (!has_low_rank_part()) return;
  add_low_rank(v, product);
}

void CpuEvaluator::apply_transpose(Slopes which, ConstVector u, Vector& out) {
  apply_entries_transpose(which, u, out);
  if (!has_low_rank_part()) return;
  add_low_rank_transpose(u, out);
}

void CpuEvaluator::add_low_rank(ConstVector v, Vector& out) {
  if (thin_) {
    thin_->add_product(2 * lambda_, v, out);
    return;
  }
  coefficients_.noalias() = iterate_.right().transpose() * v;
  coefficients_.array() *= 2 * lambda_ * iterate_.values().array();
  out.noalias() += iterate_.left() * coefficients_;
}

void CpuEvaluator::add_low_rank_transpose(ConstVector u, Vector& out) {
  if (thin_) {
    thin_->add_transpose_product(2 * lambda_, u, out);
    return;
  }
  coefficients_.noalias() = iterate_.left().transpose() * u;
  coefficients_.array() *= 2 * lambda_ * iterate_.values().array();
  out.noalias() += iterate_.right() * coefficients_;
}

double CpuEvaluator::iterate_inner(const Vector& u, const Vector& v) const {
  return thin_ ? thin_->inner(u, v) : iterate_.inner(u, v);
}

void CpuEvaluator::normal(Slopes which, ConstVector v, Vector& out) {
  count_pass();
  ++counters_.products;
  const bool low_rank = has_low_rank_part();
  if (low_rank) {  // its share of M v is known before the pass, row by row
    low_rank_shift_.setZero();
    add_low_rank(v, low_rank_shift_);
  }
  const double* shift = low_rank ? low_rank_shift_.data() : nullptr;
  double* product = low_rank ? row_product_.data() : nullptr;
  for_each_shard(shards(), [&](int s) {
    shard_outputs_.col(s).setZero();
    normal_shard(s, slopes(which), v.data(), shift, product, shard_outputs_.col(s).data());
  });
  out.resize(cols_);
  add_shard_outputs(out.data());
  if (!low_rank) return;
  add_low_rank_transpose(row_product_, out);
}

void CpuEvaluator::load_fast_vector(ConstVector v, double factor) {
  fast_v_.resize(cols_);
  if (column_order_.empty()) {
    fast_v_ = (factor * v).cast<Real>();
    return;
  }
  for (Index j = 0; j < cols_; ++j) fast_v_[j] = Real(factor * v[column_order_[static_cast<std::size_t>(j)]]);
}

CpuEvaluator::FastProduct CpuEvaluator::begin_fast(Slopes which, ConstVector v) {
  // M v / |M|_F is at most one: neither it nor M'M v / |M|_F can leave the range of Real.
  const double square = which == Slopes::current ? slope_square_ : average_square_;
  const double size = square > 0 && std::isfinite(square) ? std::sqrt(square) : 1.0;
  load_fast_vector(v, 1 / size);
  if (!has_low_rank_part()) return {nullptr, size};
  low_rank_shift_.setZero();
  add_low_rank(v, low_rank_shift_);
  fast_shift_ = (low_rank_shift_ / size).cast<Real>();
  return {fast_shift_.data(), size};
}

void CpuEvaluator::end_fast(const FastProduct& pass, Vector& out, RealVector& product) {
  product *= Real(pass.size);
  out.resize(cols_);
  for_column_blocks([&](Index from, Index count) {
    Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kColumnBlock, 1> sum =
        fast_outputs_.col(0).segment(from, count).cast<double>();
    for (int s = 1; s < shards(); ++s) sum += fast_outputs_.col(s).segment(from, count).cast<double>();
    sum *= pass.size;
    for (Index j = 0; j < count; ++j) {
      out[column_order_.empty() ? from + j : column_order_[static_cast<std::size_t>(from + j)]] = sum[j];
    }
  });
  if (!has_low_rank_part()) return;
  row_product_ = product.cast<double>();
  add_low_rank_transpose(row_product_, out);
}

void CpuEvaluator::normal_fast(Slopes which, ConstVector v, Vector& out, RealVector& product) {
  count_pass();
  ++counters_.products;
  const FastProduct pass = begin_fast(which, v);
  for_each_shard(shards(), [&](int s) {
    fast_outputs_.col(s).setZero();
    normal_fast_rows(cuts_[static_cast<std::size_t>(s)], cuts_[static_cast<std::size_t>(s) + 1], slopes(which),
                     fast_v_.data(), pass.shift, product.data(), fast_outputs_.col(s).data());
  });
  end_fast(pass, out, product);
}

void CpuEvaluator::add_noise(Vector& v, double size) {
  const double each = size / std::sqrt(static_cast<double>(v.size()));
  for (Eigen::Index j = 0; j < v.size(); ++j) v[j] += each * random_.normal();
}

void CpuEvaluator::draw_start(Vector& v) {
  // A warm start alone can miss a new leading direction that it is orthogonal to; a little noise cannot.
  add_noise(v, v.isZero(0) ? 1.0 : kStartNoise);
  v.normalize();
}

const LeadingAtom& CpuEvaluator::leading_atom(const OracleAccuracy& accuracy) {
  Vector& v = leading_.atom.right;
  const bool fast = accuracy.relative >= kFastAccuracy;
  bool first_known = fast && first_product_ == FirstProduct::ready;
  first_product_ = FirstProduct::wanted;  // whoever asked once will ask again
  if (first_known) {
    v = start_;
  } else {
    draw_start(v);
  }
  const LanczosResult lanczos = lanczos_leading(
      [&](int step, ConstVector in, Vector& out) {
        if (std::exchange(first_known, false)) {
          out = first_out_;
        } else if (fast) {
          normal_fast(Slopes::current, in, out, row_products_[static_cast<std::size_t>(step)]);
        } else {
          normal(Slopes::current, in, out);
        }
      },
      v, accuracy.relative, accuracy.products, lanczos_);
  leading_.products = lanczos.products;
  Vector& u = leading_.atom.left;
  if (fast) {  // v is a combination of vectors whose products are known
    u.setZero();
    for (int j = 0; j < lanczos.size; ++j) {
      u += lanczos_.ritz[j] * row_products_[static_cast<std::size_t>(j)].cast<double>();
    }
    u /= v.norm();
    v.normalize();
  } else {
    v.normalize();
    apply(Slopes::current, v, u);
    ++leading_.products;
  }
  leading_.sigma = u.norm();
  if (leading_.sigma > 0) {
    u /= leading_.sigma;
  } else {  // a zero slope matrix: every atom is as good as any other
    u.setZero();
    u[0] = 1;
  }
  leading_.atom.weight = -radius_;
  return leading_;
}

void CpuEvaluator::aim(const Atom& atom) {
  aimed_ = &atom;
  aimed_matrix_ = nullptr;
  aimed_left_ = atom.weight * atom.left;
  aimed_right_ = atom.right;
  if (weighted_norm()) {
    aimed_left_.array() *= row_scale_.array();
    aimed_right_.array() *= col_scale_.array();
  }
  target_sampled_ = false;
}

void CpuEvaluator::sample_target() {
  if (target_sampled_) return;
  target_.resize(x_.size());
  target_sampled_ = true;
  if (aimed_matrix_ != nullptr) return sample_matrix();
  count_pass();
  for_each_shard(shards(), [&](int s) {
    sample_shard(s, aimed_left_.data(), aimed_right_.data(), target_.data() + shard_begin(s));
  });
}

CpuEvaluator::TargetProducts CpuEvaluator::target_products() const {
  if (!has_low_rank_part()) return {0, 0};  // nobody asks
  if (aimed_matrix_ != nullptr) return {iterate_.inner(*aimed_matrix_), aimed_matrix_->inner(*aimed_matrix_)};
  return {aimed_->weight * iterate_inner(aimed_->left, aimed_->right), aimed_->weight * aimed_->weight};
}

kernels::SegmentSums CpuEvaluator::sum_segment(std::span<const double> t, std::optional<double> width) {
  assert(t.size() <= kernels::kSegmentPoints);
  sample_target();
  count_pass();
  double points[kernels::kSegmentPoints];
  for (int p = 0; p < kernels::kSegmentPoints; ++p) {
    points[p] = t[std::min(static_cast<std::size_t>(p), t.size() - 1)];
  }
  std::vector<kernels::SegmentSums> parts(static_cast<std::size_t>(shards()));
  visit_kernels(problem_.loss, mode_, weight_ != nullptr, [&](const auto& loss, const auto& table) {
    for_each_shard(shards(), [&](int s) {
      const Real* target = target_.data() + shard_begin(s);
      kernels::SegmentSums& sums = parts[static_cast<std::size_t>(s)];
      if (width) {
        kernels::EntryRange r = range(s, nullptr);
        ShiftedPlaces places;
        shift(r, shard_begin(s), *width, places);
        table.smoothed_segment(loss, r, target, points, *width, sums);
      } else {
        table.segment(loss, range(s, nullptr), target, points, sums);
      }
    });
  });
  kernels::SegmentSums sum;
  for (const kernels::SegmentSums& part : parts) sum += part;
  return sum;
}

SegmentPoint CpuEvaluator::off_pattern(const TargetProducts& products, double t, double square,
                                       double square_derivative) const {
  if (!has_low_rank_part()) return {0, 0};
  // |X(t)|_F^2 is a parabola; its part on the pattern came with the pass.
  const auto [inner, target_square] = products;
  const double whole = (1 - t) * (1 - t) * square_norm_ + 2 * t * (1 - t) * inner + t * t * target_square;
  const double whole_derivative = 2 * ((t - 1) * square_norm_ + (1 - 2 * t) * inner + t * target_square);
  return {lambda_ * std::max(0.0, whole - square), lambda_ * (whole_derivative - square_derivative)};
}

void CpuEvaluator::objective_at(std::span<const double> t, std::span<SegmentPoint> out) {
  assert(t.size() == out.size());
  const kernels::SegmentSums sums = sum_segment(t, std::nullopt);
  const TargetProducts products = target_products();
  for (std::size_t p = 0; p < t.size(); ++p) {
    const SegmentPoint off = off_pattern(products, t[p], sums.square[p], sums.square_derivative[p]);
    out[p] = {sums.value[p] + off.value, sums.derivative[p] + off.derivative};
  }
}

void CpuEvaluator::smoothed_derivatives_at(std::span<const double> t, double width, std::span<double> out) {
  assert(t.size() == out.size());
  const kernels::SegmentSums sums = sum_segment(t, width);
  const TargetProducts products = target_products();
  for (std::size_t p = 0; p < t.size(); ++p) {
    out[p] = sums.derivative[p] + off_pattern(products, t[p], sums.square[p], sums.square_derivative[p]).derivative;
  }
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
  load_fast_vector(aimed_right_, 1);
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
  target_sampled_ = false;
  if (thin_) {
    thin_->blend(t, *aimed_);
    iterate_stale_ = true;
    return largest;
  }
  iterate_.blend(t, *aimed_);
  // Beyond twice the largest possible rank the factors hold nothing new; once per min(m, n) moves costs little.
  if (iterate_.terms() >= std::max<Index>(64, 2 * std::min(rows_, cols_))) compress();
  return largest;
}

void CpuEvaluator::apply_block(const Eigen::MatrixXd& block, Eigen::MatrixXd& out) {
  out.resize(rows_, block.cols());
  Vector column;
  for (Eigen::Index c = 0; c < block.cols(); ++c) {
    apply(Slopes::current, block.col(c), column);
    out.col(c) = column;
  }
}

void CpuEvaluator::apply_transpose_block(const Eigen::MatrixXd& block, Eigen::MatrixXd& out) {
  out.resize(cols_, block.cols());
  Vector column;
  for (Eigen::Index c = 0; c < block.cols(); ++c) {
    apply_transpose(Slopes::current, block.col(c), column);
    out.col(c) = column;
  }
}

void CpuEvaluator::restart(LowRankMatrix factors) {
  assert(factors.rows() == rows_ && factors.cols() == cols_);
  factors.compress();
  iterate_ = std::move(factors);
  iterate_stale_ = false;
  if (thin_) thin_.emplace(iterate_);
  load_iterate();
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
