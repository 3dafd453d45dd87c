#include "support/plain_backend.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "linalg/lapack.hpp"

namespace tracenorm::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A panel, whatever its use, is columns of doubles.
Eigen::Map<MatrixXd> numbers(const Panel& panel) {
  return {static_cast<double*>(panel.data()) + panel.first() * panel.rows(), panel.rows(), panel.columns()};
}

/// Makes numbers that are sums over the rows here sums over all rows, as if the first shard here had all of these.
void complete(const std::optional<Shards>& shards, double* numbers, std::size_t count) {
  if (!shards) return;
  std::vector<double> parts(count * static_cast<std::size_t>(std::max(shards->count(), 1)), 0.0);
  std::copy_n(numbers, count, parts.begin());
  shards->add_up(parts.data(), static_cast<Offset>(count), numbers);
}
template <class Sums>
Sums completed(const std::optional<Shards>& shards, Sums sums) {
  complete(shards, reinterpret_cast<double*>(&sums), sizeof(Sums) / sizeof(double));
  return sums;
}

class PlainPanels final : public Panels {
 public:
  PlainPanels(Index rows, Index cols, std::optional<Shards> shards)
      : rows_(rows), cols_(cols), shards_(std::move(shards)) {}

  Panel make(Side side, Use use, Index columns) override {
    const Index rows = side == Side::left ? rows_ : cols_;
    const auto memory = std::make_shared<MatrixXd>(MatrixXd::Zero(rows, std::max(columns, 1)));
    return {side, use, rows, columns, memory->data(), memory};
  }
  void upload(const MatrixXd& from, const Panel& to) override { numbers(to) = from; }
  MatrixXd download(const Panel& from) override { return numbers(from); }
  void draw(double size, Random& random, const Panel& panel) override {
    for (double& x : numbers(panel).reshaped()) x += size * random.normal();
  }
  using Panels::gram;
  void gram(PanelList a, const Panel& b, Eigen::Ref<MatrixXd> out) override {
    Eigen::Index row = 0;
    for (const Panel& one : a) {
      out.middleRows(row, one.columns()) = numbers(one).transpose() * numbers(b);
      row += one.columns();
    }
    if (b.side() == Side::right) return;
    MatrixXd whole = out;
    complete(shards_, whole.data(), static_cast<std::size_t>(whole.size()));
    out = whole;
  }
  using Panels::combine;
  void combine(double keep, PanelList in, const SmallMatrix& small, const Panel& out) override {
    MatrixXd sum = MatrixXd::Zero(out.rows(), out.columns());
    if (keep != 0) sum = keep * numbers(out);
    Eigen::Index row = 0;
    for (const Panel& one : in) {
      sum += numbers(one) * small.middleRows(row, one.columns());
      row += one.columns();
    }
    numbers(out) = sum;
  }
  void scale_rows(const Panel& panel, const Panel& factors) override {
    numbers(panel) = numbers(factors).col(0).asDiagonal() * MatrixXd(numbers(panel));
  }
  bool decompose(Panel& left, VectorXd& values, Panel& right) override {
    const MatrixXd x = numbers(left) * values.asDiagonal() * numbers(right).transpose();
    if (!x.allFinite()) return false;
    const lapack::Svd svd = lapack::svd(x);
    const Index terms = std::min(left.columns(), static_cast<Index>(svd.values.size()));
    values = svd.values.head(terms);
    left = left.middle(0, terms);
    right = right.middle(0, terms);
    numbers(left) = svd.left.leftCols(terms);
    numbers(right) = svd.right.leftCols(terms);
    return true;
  }

 private:
  Index rows_;
  Index cols_;
  std::optional<Shards> shards_;
};

class PlainStore final : public EntryStore {
 public:
  explicit PlainStore(const Problem& problem, std::optional<Shards> shards = {})
      : shards_(std::move(shards)),
        loss_(problem.loss),
        l1_(lambda_of<L1Penalty>(problem.penalty)),
        complement_(lambda_of<ComplementSquaredPenalty>(problem.penalty)) {
    const auto* sparse = std::get_if<SparseObservations>(&problem.observations);
    data_ = sparse != nullptr ? make_dense(*sparse) : std::get<DenseObservations>(problem.observations);
    facts_.rows = data_.rows;
    facts_.cols = data_.cols;
    facts_.entries = static_cast<Offset>(data_.rows) * data_.cols;
    x_ = slope_ = average_ = target_ = MatrixXd::Zero(data_.rows, data_.cols);
    double squares = 0;
    double count = 0;
    for (const Real y : data_.value) {
      if (std::isnan(y)) continue;
      squares += double(y) * double(y);
      ++count;
    }
    if (count > 0) facts_.data_scale = std::sqrt(squares / count);
  }

  EntrySums linearize(double width, bool, const NormalProduct* first) override {
    const EntrySums sums = sums_at(x_, width, slope_);
    if (first != nullptr) multiply(Slopes::current, *first);
    return completed(shards_, sums);
  }
  void shift_kinks(double) override {}  // slopes may be taken at x itself

  void aim(const Product& target) override { target_ = numbers(target.left) * numbers(target.right).transpose(); }
  EntrySums aim_without(const Product& term, double scale, std::optional<double> width) override {
    target_ = scale * (x_ - numbers(term.left) * numbers(term.right).transpose());
    MatrixXd there;
    EntrySums sums = sums_at(target_, width.value_or(0), there);
    if (width) sums.inner = (0.5 * (slope_ + there)).cwiseProduct(target_ - x_).sum();
    return completed(shards_, sums);
  }
  SegmentSums segment(std::span<const double> t, std::optional<double> width) override {
    SegmentSums sums;
    for (std::size_t p = 0; p < t.size(); ++p) {
      MatrixXd slope;
      sums.value[p] = sums_at(x_ + t[p] * (target_ - x_), width.value_or(0), slope).objective;
      sums.derivative[p] = slope.cwiseProduct(target_ - x_).sum();
    }
    return completed(shards_, sums);
  }
  double move(double t) override {
    double largest = 0;
    for_each_entry([&](Index i, Index j, double y, double) {
      if (l1_ > 0 || !std::isnan(y)) largest = std::max(largest, std::abs(target_(i, j) - x_(i, j)));
    });
    x_ += t * (target_ - x_);
    slope_.setConstant(std::numeric_limits<double>::quiet_NaN());  // nobody may need them any more
    return largest;
  }
  void load(const FactorView& x) override {
    x_ = matrix(x);
    slope_.setConstant(std::numeric_limits<double>::quiet_NaN());
  }
  [[nodiscard]] EntrySums objective(const FactorView& x) const override {
    MatrixXd unused;
    EntrySums sums = sums_at(matrix(x), 0, unused);
    sums.rounding = 1e-12 * sums.objective;
    return completed(shards_, sums);
  }

  EntrySums factor_gradient(const Product& at, double scale, double width, const Product& products) override {
    MatrixXd slope;
    const EntrySums sums = sums_at(scale * numbers(at.left) * numbers(at.right).transpose(), width, slope);
    numbers(products.left) = slope * numbers(at.right);
    numbers(products.right) = slope.transpose() * numbers(at.left);
    complete(products.right);
    return completed(shards_, sums);
  }
  void multiply(Slopes which, const Panel& in, const Panel& out) override {
    numbers(out) = in.side() == Side::right ? MatrixXd(slopes(which) * numbers(in))
                                            : MatrixXd(slopes(which).transpose() * numbers(in));
    if (out.side() == Side::right) complete(out);
  }
  void multiply(Slopes which, const NormalProduct& p) override {
    MatrixXd product = slopes(which) * numbers(p.in);
    if (p.factor) product = numbers(p.factor).col(0).asDiagonal() * product;
    if (p.addend) product += numbers(p.addend);
    if (p.product) numbers(p.product) = product;
    if (p.factor) product = numbers(p.factor).col(0).asDiagonal() * product;
    if (!p.out) return;
    numbers(p.out) = slopes(which).transpose() * product;
    complete(p.out);
  }
  void multiply(Slopes which, const Product& in, const Product& out) override {
    numbers(out.left) = slopes(which) * numbers(in.right);
    numbers(out.right) = slopes(which).transpose() * numbers(in.left);
    complete(out.right);
  }

  void average(double t) override {
    average_ = averaged_ ? MatrixXd((1 - t) * average_ + t * slope_) : slope_;
    averaged_ = true;
  }
  EntrySums conjugates(Slopes which, const FactorView*) override {
    EntrySums sums;
    dual_ = which == Slopes::zero ? MatrixXd(0 * slope_) : slopes(which);
    for_each_entry([&](Index i, Index j, double y, double w) {
      const double s = dual_(i, j);
      sums.conjugate += conjugate(s, y, w);
      sums.square_slope += s * s;
      sums.rounding += 1e-12 * std::abs(conjugate(s, y, w));
    });
    return completed(shards_, sums);
  }
  [[nodiscard]] std::vector<Real> dual_slopes() const override {
    std::vector<Real> all;
    for (Index i = 0; i < data_.rows; ++i) {
      for (Index j = 0; j < data_.cols; ++j) all.push_back(Real(dual_(i, j)));
    }
    return all;
  }
  MatrixXd gram(Slopes which, Side side, const Panel& row_factor, const Panel& col_factor) override {
    MatrixXd m = slopes(which);
    if (row_factor) m = numbers(row_factor).col(0).asDiagonal() * m * numbers(col_factor).col(0).asDiagonal();
    if (side == Side::left) return m * m.transpose();
    MatrixXd square = m.transpose() * m;
    tracenorm::test::complete(shards_, square.data(), static_cast<std::size_t>(square.size()));
    return square;
  }
  void forget_slopes() override {}

  void watch(const Entries& held_out, const FactorView&) override { held_out_ = &held_out; }
  [[nodiscard]] HeldOutSums held_out() const override {
    HeldOutSums sums;
    for (std::size_t e = 0; e < held_out_->row.size(); ++e) {
      const double error = x_(held_out_->row[e], held_out_->col[e]) - double(held_out_->value[e]);
      sums += {error * error, std::abs(error),
               value(x_(held_out_->row[e], held_out_->col[e]), double(held_out_->value[e]))};
    }
    return completed(shards_, sums);
  }

 private:
  template <class P>
  static double lambda_of(const Penalty& penalty) {
    const P* own = std::get_if<P>(&penalty);
    return own != nullptr ? own->lambda : 0.0;
  }
  [[nodiscard]] const MatrixXd& slopes(Slopes which) const {
    return which == Slopes::current ? slope_ : which == Slopes::average ? average_ : dual_;
  }
  static MatrixXd matrix(const FactorView& x) {
    return numbers(x.left) * x.values.asDiagonal() * numbers(x.right).transpose();
  }
  [[nodiscard]] double value(double x, double y) const {
    return std::visit([&](const auto& loss) { return double(loss.value(x, y)); }, loss_);
  }
  void for_each_entry(const std::function<void(Index, Index, double, double)>& work) const {
    for (Index i = 0; i < data_.rows; ++i) {
      for (Index j = 0; j < data_.cols; ++j) {
        const auto e = static_cast<std::size_t>(i) * static_cast<std::size_t>(data_.cols) + static_cast<std::size_t>(j);
        work(i, j, double(data_.value[e]), data_.weight.empty() ? 1.0 : double(data_.weight[e]));
      }
    }
  }
  /// An entry's function is w loss where it is observed, plus lambda |x| everywhere or lambda x^2 where it is not. The
  /// conjugate with |x| is that of the loss at the allowed slope nearest to the loss's own at zero.
  [[nodiscard]] double conjugate(double s, double y, double w) const {
    if (std::isnan(y)) return complement_ > 0 ? s * s / (4 * complement_) : 0.0;
    return std::visit(
        [&](const auto& loss) {
          const double at_zero = w * double(loss.subgradient(0.0, y));
          return w * double(loss.conjugate(std::clamp(at_zero, s - l1_, s + l1_) / w, y));
        },
        loss_);
  }
  EntrySums sums_at(const MatrixXd& x, double width, MatrixXd& slope) const {
    EntrySums sums;
    slope.setZero(x.rows(), x.cols());
    for_each_entry([&](Index i, Index j, double y, double w) {
      const double at = x(i, j);
      double h = l1_ * std::abs(at);
      double s = l1_ * (width > 0 ? std::clamp(at / width, -1.0, 1.0) : double(at > 0) - double(at < 0));
      if (std::isnan(y)) {
        h += complement_ * at * at;
        s += 2 * complement_ * at;
      } else {
        h += w * value(at, y);
        s += w * std::visit([&](const auto& loss) { return double(loss.chord(at, width, y)); }, loss_);
      }
      slope(i, j) = s;
      sums += {h, s * at, conjugate(s, y, w), at * at, s * s};
    });
    return sums;
  }

  void complete(const Panel& panel) const {
    if (!shards_) return;
    MatrixXd all = numbers(panel);
    tracenorm::test::complete(shards_, all.data(), static_cast<std::size_t>(all.size()));
    numbers(panel) = all;
  }

  std::optional<Shards> shards_;
  const Loss& loss_;
  double l1_;
  double complement_;
  DenseObservations data_;
  MatrixXd x_;
  MatrixXd slope_;
  MatrixXd average_;
  MatrixXd dual_;
  bool averaged_ = false;
  MatrixXd target_;
  const Entries* held_out_ = nullptr;
};

class PlainBackend final : public Backend {
 public:
  [[nodiscard]] Place open(const Problem& problem, const Execution&) const override { return place(problem, {}); }
  [[nodiscard]] Place open_rows(const Problem& rows, const WholeProblem& whole, const Execution&) const override {
    return place(rows, whole.shards);
  }

 private:
  static Place place(const Problem& problem, const std::optional<Shards>& shards) {
    return {std::make_unique<PlainPanels>(rows(problem.observations), cols(problem.observations), shards),
            std::make_unique<PlainStore>(problem, shards)};
  }
};

}  // namespace

const Backend& plain_backend() {
  static const PlainBackend backend;
  return backend;
}

}  // namespace tracenorm::test
