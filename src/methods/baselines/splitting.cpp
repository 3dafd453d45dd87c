#include "methods/baselines/splitting.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/precise_sum.hpp"
#include "linalg/lapack.hpp"
#include "linalg/spectral_bound.hpp"
#include "model/entry_functions.hpp"
#include "solver/block_krylov.hpp"

namespace tracenorm::baselines {

namespace {

template <class L>
constexpr bool smooth =
    std::is_same_v<L, losses::Squared> || std::is_same_v<L, losses::Huber> || std::is_same_v<L, losses::Logistic>;

/// The Lipschitz constant of the derivative of one entry's loss of weight one.
double curvature(const Loss& loss) {
  if (const auto* squared = std::get_if<losses::Squared>(&loss)) return 2 * squared->weight;
  if (std::holds_alternative<losses::Logistic>(loss)) return 0.25;
  return 1.0;  // huber
}

double largest_weight(const DenseObservations& data) {
  double largest = data.weight.empty() ? 1.0 : 0.0;
  for (std::size_t p = 0; p < data.weight.size(); ++p) {
    if (!std::isnan(data.value[p])) largest = std::max(largest, double(data.weight[p]));
  }
  return largest;
}

double clip(double z, double level) { return std::clamp(z, -level, level); }

DenseObservations dense_copy(const Observations& observations) {
  const auto* sparse = std::get_if<SparseObservations>(&observations);
  return sparse != nullptr ? make_dense(*sparse) : DenseObservations{};
}

}  // namespace

bool is_smooth(const Loss& loss) {
  return std::visit([](const auto& l) { return smooth<std::decay_t<decltype(l)>>; }, loss);
}

Splitting::Splitting(const Problem& problem, const methods::GenFB& options, std::uint64_t seed,
                     const Execution& execution)
    : execution_(execution),
      owned_(dense_copy(problem.observations)),
      data_(owned_.rows > 0 ? owned_ : std::get<DenseObservations>(problem.observations)),
      loss_(problem.loss),
      lambda1_(penalty_lambda(problem.penalty)),
      lambda2_(options.trace_penalty),
      step_(options.step / (curvature(problem.loss) * largest_weight(data_))),
      w1_(lambda1_ > 0 ? 0.5 : 0.0),
      w2_(1 - w1_),
      soft_level_(lambda1_ > 0 ? step_ * lambda1_ / w1_ : 0.0),
      svt_level_(step_ * lambda2_ / w2_),
      x_(RowMatrix::Zero(data_.rows, data_.cols)),
      z1_(x_),
      z2_(x_),
      a_(x_),
      cuts_(cut_rows(data_.rows, x_.size(), nullptr)),
      threshold_(data_.rows, data_.cols, seed, execution),
      random_(seed) {}

template <class Work>
void Splitting::for_each_entry(Work&& work) const {
  std::visit(
      [&](const auto& loss) {
        if constexpr (smooth<std::decay_t<decltype(loss)>>) {
          execution_.for_each_shard(static_cast<int>(cuts_.size()) - 1, [&](int s) {
            const auto shard = static_cast<std::size_t>(s);
            for (Offset p = Offset(cuts_[shard]) * data_.cols; p < Offset(cuts_[shard + 1]) * data_.cols; ++p) {
              const auto place = static_cast<std::size_t>(p);
              const double y = double(data_.value[place]);
              const double w = data_.weight.empty() ? 1.0 : double(data_.weight[place]);
              work(p, std::isnan(y) ? 0.0 : w * loss.subgradient(x_.data()[p], y));
            }
          });
        }
      },
      loss_);
}

LowRankMatrix Splitting::advance() {
  for_each_entry([&](Offset p, double gradient) {
    const double x = x_.data()[p];
    double& z1 = z1_.data()[p];
    const double a = 2 * x - step_ * gradient;
    const double p1 = a - z1 - clip(a - z1, soft_level_);  // soft(a - Z1)
    a_.data()[p] = a - z2_.data()[p];
    z1 += p1 - x;
  });
  if (at_start_) {  // X = 0: the size of the first step is the scale of everything
    floor_ = 1e-3 * a_.norm();
    moved_ = a_.norm();
    at_start_ = false;
  }
  // An inexact proximal step is as good as an exact one as long as its errors stay below the moves.
  constexpr double share_of_move = 1e-2;
  LowRankMatrix p2 = threshold_(a_, svt_level_, std::max(share_of_move * moved_, 1e-13 * a_.norm()));
  std::vector<double> moves(cuts_.size() - 1);
  std::vector<double> norms(cuts_.size() - 1);
  execution_.for_each_shard(static_cast<int>(cuts_.size()) - 1, [&](int s) {
    const auto shard = static_cast<std::size_t>(s);
    constexpr Index block = 64;
    for (Index i = cuts_[shard]; i < cuts_[shard + 1]; i += block) {
      const Index count = std::min(block, cuts_[shard + 1] - i);
      const RowMatrix rows =
          lapack::product(p2.left().middleRows(i, count) * p2.values().asDiagonal(), p2.right(), true);
      auto x = x_.middleRows(i, count);
      auto z2 = z2_.middleRows(i, count);
      z2 += rows - x;
      const RowMatrix next = w1_ * z1_.middleRows(i, count) + w2_ * z2;
      moves[shard] += (next - x).squaredNorm();
      norms[shard] += next.squaredNorm();
      x = next;
    }
  });
  moved_ = std::sqrt(std::accumulate(moves.begin(), moves.end(), 0.0));
  const double norm = std::sqrt(std::accumulate(norms.begin(), norms.end(), 0.0));
  const double scale = std::max(norm, floor_);
  change_ = scale > 0 ? moved_ / scale : 0.0;
  entry_work_ += 30.0 * static_cast<double>(x_.size());
  return p2;
}

void Splitting::make_dual_point() {
  for_each_entry([&](Offset p, double gradient) {
    const double a = 2 * x_.data()[p] - step_ * gradient;
    // a - Z1 - soft(a - Z1) = (step / w1) times a subgradient of lambda1 |.|. At the start, what makes the slope
    // smallest: it proves at once that the answer is zero when the penalties are that large.
    const double l1 = at_start_ ? clip(-gradient, lambda1_) : clip(a - z1_.data()[p], soft_level_) * w1_ / step_;
    a_.data()[p] = gradient + clip(l1, lambda1_);
  });
}

double Splitting::norm_bound() {
  const Eigen::MatrixXd gram = small_gram(a_);
  const double square = a_.squaredNorm();
  constexpr Eigen::Index exact_side = 256;
  double bound = 0;
  if (gram.rows() <= exact_side) {
    bound = largest_eigenvalue_bound(gram);
  } else {
    Eigen::VectorXd v = random_block(static_cast<Index>(gram.rows()), 1, random_);
    const double estimate = leading_eigenvector(
        [&](const Eigen::VectorXd& in, Eigen::VectorXd& out) { out.noalias() = gram * in; }, v, 1e-8, 200);
    bound = cholesky_bound(gram, estimate, 1e-7);
  }
  // Each entry of the Gram matrix is a sum of at most max(m, n) products.
  const double unit = std::numeric_limits<double>::epsilon();
  return std::sqrt(bound + 2 * (double(std::max(a_.rows(), a_.cols())) + 10) * unit * square);
}

double Splitting::conjugate_sum(double scale) const {
  // Per entry h = w loss + lambda1 |.|, so h*(s) is the least of (w loss)*(s') over |s' - s| <= lambda1: at the s'
  // nearest to the loss's slope at zero. A missing entry has h = lambda1 |.|, and h*(s) = 0 as |s| <= lambda1.
  std::vector<PreciseSum> sums(cuts_.size() - 1);
  std::vector<double> products(sums.size());  // of slopes and data, which the conjugates are the small differences of
  std::visit(
      [&](const auto& loss) {
        execution_.for_each_shard(static_cast<int>(sums.size()), [&](int s) {
          const auto shard = static_cast<std::size_t>(s);
          for (Offset p = Offset(cuts_[shard]) * data_.cols; p < Offset(cuts_[shard + 1]) * data_.cols; ++p) {
            const auto place = static_cast<std::size_t>(p);
            const double y = double(data_.value[place]);
            if (std::isnan(y)) continue;
            const double w = data_.weight.empty() ? 1.0 : double(data_.weight[place]);
            const double slope = scale * a_.data()[p];
            const double at_zero = w * double(loss.subgradient(0.0, y));
            sums[shard].add(w * loss.conjugate(std::clamp(at_zero, slope - lambda1_, slope + lambda1_) / w, y));
            products[shard] += (std::abs(slope) + lambda1_) * std::abs(y);
          }
        });
      },
      loss_);
  double bound = 0;
  for (std::size_t s = 0; s < sums.size(); ++s) {
    const double rounding = 64 * std::numeric_limits<double>::epsilon();
    bound += sums[s].value() + rounding * (sums[s].magnitude() + products[s]);
  }
  return bound;
}

double Splitting::lower_bound() {
  make_dual_point();
  const double norm = norm_bound();
  return 0.0 - conjugate_sum(norm > lambda2_ ? lambda2_ / norm : 1.0);
}

void Splitting::exchange(Exchange state) {
  for (auto& [name, matrix] : {std::pair{"x", &x_}, {"z1", &z1_}, {"z2", &z2_}, {"a", &a_}})
    state.matrix(name, *matrix);
  threshold_.exchange(state.part("threshold"));
  state.random("random", random_);
  state.number("at_start", at_start_);
  state.number("floor", floor_);
  state.number("moved", moved_);
  state.number("change", change_);
  state.number("entry_work", entry_work_);
}

}  // namespace tracenorm::baselines
