#include "tracenorm/fold_in.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/among_ranks.hpp"
#include "base/execution.hpp"
#include "model/shared_rows.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr int kMostSweeps = 2000;
constexpr double kGap = 1e-6;  // relative, at which the ascent ends
constexpr int kHalvings = 60;  // of an interval of slopes: to the last bit of a double, nearly

/// How far X is scaled up and down to see what a smaller one would cost: wide enough to see past kinks.
constexpr double kStretch = 0.01;

/// The least price, as a share of what X gains over zero: where the bound does not bind, the smallest row is as good as
/// any other.
constexpr double kLeastShare = 1e-4;

/// minimize over z  sum_j f_j(a_j z) + |z|^2 / 2, by its dual: maximise  - sum_j f*_j(s_j) - |sum_j s_j a_j|^2 / 2, one
/// slope s_j at a time; z = - sum_j s_j a_j.
class RowProblem {
 public:
  RowProblem(RowMajor features, std::vector<double> data)
      : a_(std::move(features)), y_(std::move(data)), s_(a_.rows()), z_(Eigen::VectorXd::Zero(a_.cols())) {
    s_.setZero();
  }

  template <class L>
  Eigen::VectorXd solve(const L& loss) {
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      for (Eigen::Index j = 0; j < a_.rows(); ++j) ascend(loss, j);
      if (gap(loss) <= kGap * (1 + std::abs(value(loss)))) break;
    }
    return z_;
  }

 private:
  /// The best s_j with the others fixed: s in the subdifferential of f_j at x = c - k s, where c is what the others
  /// predict. The slope at c - k s less s falls with s, and the root lies between zero and the slope at c.
  template <class L>
  void ascend(const L& loss, Eigen::Index j) {
    const double k = a_.row(j).squaredNorm();
    if (k == 0) return;
    const double c = a_.row(j).dot(z_) + k * s_[j];
    const double y = y_[static_cast<std::size_t>(j)];
    const double most = double(loss.subgradient(c, y));
    double low = std::min(0.0, most);
    double high = std::max(0.0, most);
    for (int halving = 0; halving < kHalvings; ++halving) {
      const double middle = (low + high) / 2;
      (double(loss.subgradient(c - k * middle, y)) > middle ? low : high) = middle;
    }
    const double next = (low + high) / 2;
    z_ -= (next - s_[j]) * a_.row(j).transpose();
    s_[j] = next;
  }

  template <class L>
  double value(const L& loss) const {
    double sum = z_.squaredNorm() / 2;
    for (Eigen::Index j = 0; j < a_.rows(); ++j) {
      sum += double(loss.value(a_.row(j).dot(z_), y_[static_cast<std::size_t>(j)]));
    }
    return sum;
  }
  template <class L>
  double gap(const L& loss) const {
    double conjugates = z_.squaredNorm() / 2;
    for (Eigen::Index j = 0; j < a_.rows(); ++j) {
      conjugates += loss.conjugate(s_[j], y_[static_cast<std::size_t>(j)]);
    }
    return value(loss) + conjugates;
  }

  RowMajor a_;
  std::vector<double> y_;
  Eigen::VectorXd s_;
  Eigen::VectorXd z_;
};

/// What a row pays, and how large it is before its price.
struct Payment {
  double pays = 0;
  double size = 0;
  double gains = 0;  ///< over predicting zero
};

/// visit(column, value, weight) for the entries of a row.
template <class Visit>
void for_each_in_row(const SparseObservations& data, Index row, Visit&& visit) {
  for (Offset e = data.pattern.begin()[row]; e < data.pattern.begin()[row + 1]; ++e) {
    const auto at = static_cast<std::size_t>(e);
    visit(data.pattern.col()[e], double(data.value[at]), data.weight.empty() ? 1.0 : double(data.weight[at]));
  }
}
template <class Visit>
void for_each_in_row(const DenseObservations& data, Index row, Visit&& visit) {
  for (Index j = 0; j < data.cols; ++j) {
    const std::size_t at =
        static_cast<std::size_t>(row) * static_cast<std::size_t>(data.cols) + static_cast<std::size_t>(j);
    if (std::isnan(data.value[at])) continue;
    visit(j, double(data.value[at]), data.weight.empty() ? 1.0 : double(data.weight[at]));
  }
}

/// What offsets that were fitted together with X add to it.
double shift(const SideOffsets& offsets, Index row, Index col) {
  if (offsets.row.empty()) return 0;
  return offsets.row[static_cast<std::size_t>(row)] + offsets.col[static_cast<std::size_t>(col)];
}

template <class Data, class L>
Payment payment(const Data& data, const L& loss, const Result& answer, const RowMajor& right, Index here, Index above) {
  const Index row = above + here;
  Payment result;
  const LowRankMatrix& x = answer.solution;
  const Eigen::VectorXd left = x.left().row(row).transpose().cwiseProduct(x.values());
  for_each_in_row(data, here, [&](Index col, double y, double weight) {
    const double base = shift(answer.offsets, row, col);
    const double fitted = right.row(col).dot(left);
    const double less = double(loss.value(base + (1 - kStretch) * fitted, y));
    const double more = double(loss.value(base + (1 + kStretch) * fitted, y));
    result.pays += weight * (less - more) / (2 * kStretch);
    result.gains += weight * (double(loss.value(base, y)) - double(loss.value(base + fitted, y)));
  });
  result.size = left.dot(x.left().row(row).transpose());
  return result;
}

void check_values(const Loss& loss, const std::vector<Real>& values) {
  std::visit(
      [&](const auto& chosen) {
        for (const Real value : values) {
          if (chosen.accepts(double(value))) continue;
          throw Error(ErrorCode::input,
                      fmt::format("loss {} wants {}, but a new row holds {}", to_string(loss), chosen.wants, value));
        }
      },
      loss);
}

}  // namespace

double NewRow::predict(const Model& model, Index col) const {
  double prepared = 0;
  for (std::size_t t = 0; col >= 0 && t < weight.size(); ++t) {
    prepared += weight[t] * model.factors.right()(col, static_cast<Eigen::Index>(t));
  }
  const Preparation& units = model.preparation;
  return units.range.clip(units.undo(prepared, Preparation::kUnknown, col) + offset);
}

std::vector<double> NewRow::scores(const Model& model) const {
  const Eigen::Map<const Eigen::VectorXd> w(weight.data(), static_cast<Eigen::Index>(weight.size()));
  const Eigen::VectorXd prepared = model.factors.right() * w;
  std::vector<double> all(static_cast<std::size_t>(model.factors.cols()));
  for (Index j = 0; j < model.factors.cols(); ++j) {
    all[static_cast<std::size_t>(j)] = model.preparation.undo(prepared[j], Preparation::kUnknown, j) + offset;
  }
  return all;
}

namespace {

NewRow fold_in(const Model& model, const Loss& loss, const std::vector<Index>& cols, const std::vector<Real>& values,
               double offset_variance) {
  const LowRankMatrix& x = model.factors;
  const auto count = static_cast<Eigen::Index>(cols.size());
  const double price = model.row_price.at(static_cast<double>(count));
  if (x.terms() > 0 && !(model.row_price.multiplier > 0)) {
    throw Error(ErrorCode::input,
                "the model does not say what a row costs, so new rows cannot be folded in; it was written by version "
                "0.1 or by other means: solve again");
  }
  const Eigen::Index terms = x.terms();
  const std::vector<double>* certified = model.certified ? &model.certified->values : nullptr;
  const Eigen::VectorXd sizes =
      certified != nullptr ? Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(certified->data(), terms)) : x.values();
  const Eigen::VectorXd root = (sizes / std::max(price, 1e-300)).cwiseSqrt();
  const Eigen::VectorXd gain = x.values().cwiseQuotient(sizes);  // of predictions
  const double offset_root = std::sqrt(offset_variance);
  RowMajor features = RowMajor::Zero(count, terms + 1);
  std::vector<double> data(cols.size());
  for (Eigen::Index j = 0; j < count; ++j) {
    const auto at = static_cast<std::size_t>(j);
    if (cols[at] >= 0) features.row(j).head(terms) = x.right().row(cols[at]).cwiseProduct(root.transpose());
    features(j, terms) = offset_root;
    data[at] = model.preparation.apply(double(values[at]), Preparation::kUnknown, cols[at]);
  }
  RowProblem problem(std::move(features), std::move(data));
  const Eigen::VectorXd z = std::visit([&](const auto& chosen) { return problem.solve(chosen); }, loss);
  NewRow row;
  row.offset = model.preparation.scale * offset_root * z[terms];
  row.weight.resize(static_cast<std::size_t>(terms));
  for (Eigen::Index t = 0; t < terms; ++t) row.weight[static_cast<std::size_t>(t)] = gain[t] * root[t] * z[t];
  return row;
}

}  // namespace

double row_offset_variance(const Preparation& preparation, Ranks* ranks) {
  const std::vector<double>& offsets = preparation.row_offset;
  const auto count = static_cast<double>(total_count(static_cast<Offset>(offsets.size()), ranks));
  if (count == 0) return 0;
  ExactSum squares;  // the same number however many ranks there are
  for (const double offset : offsets) squares.add(offset * offset);
  return total(squares, ranks) / count / (preparation.scale * preparation.scale);
}

NewRow fold_in(const Model& model, const Loss& loss, const std::vector<Index>& cols, const std::vector<Real>& values) {
  return fold_in(model, loss, cols, values, row_offset_variance(model.preparation));
}

std::vector<NewRow> fold_in(const Model& model, const Loss& loss, const Entries& entries, Index rows, int threads) {
  return fold_in(model, loss, entries, rows, threads, row_offset_variance(model.preparation));
}

std::vector<NewRow> fold_in(const Model& model, const Loss& loss, const Entries& entries, Index rows, int threads,
                            double offset_variance) {
  check_values(loss, entries.value);
  std::vector<std::vector<Index>> cols(static_cast<std::size_t>(rows));
  std::vector<std::vector<Real>> values(cols.size());
  for (std::size_t e = 0; e < entries.row.size(); ++e) {
    cols[static_cast<std::size_t>(entries.row[e])].push_back(entries.col[e]);
    values[static_cast<std::size_t>(entries.row[e])].push_back(entries.value[e]);
  }
  std::vector<NewRow> folded(cols.size());
  if (rows > 0)
    folded[0] = fold_in(model, loss, cols[0], values[0], offset_variance);  // what is wrong with a model is said here
  Execution(threads).for_each_block(rows, 16, [&](Offset first, Offset count) {
    for (auto r = static_cast<std::size_t>(first); r < static_cast<std::size_t>(first + count); ++r) {
      folded[r] = fold_in(model, loss, cols[r], values[r], offset_variance);
    }
  });
  return folded;
}

Model with_rows(Model model, const std::vector<NewRow>& rows, const std::vector<Index>& places) {
  const LowRankMatrix& x = model.factors;
  Index count = x.rows();
  for (const Index place : places) count = std::max(count, place + 1);
  Eigen::MatrixXd left = Eigen::MatrixXd::Zero(count, x.terms());
  left.topRows(x.rows()) = x.left();
  std::vector<double>& offsets = model.preparation.row_offset;
  if (!offsets.empty()) offsets.resize(static_cast<std::size_t>(count));
  if (model.certified && !model.certified->row_offset.empty())
    model.certified->row_offset.resize(static_cast<std::size_t>(count));  // nothing is certified of new rows
  if (model.spread) model.spread->row.resize(static_cast<std::size_t>(count));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Eigen::Map<const Eigen::VectorXd> weight(rows[r].weight.data(), x.terms());
    left.row(places[r]) = weight.cwiseQuotient(x.values()).transpose();
    if (!offsets.empty()) offsets[static_cast<std::size_t>(places[r])] = rows[r].offset;
    if (model.spread) model.spread->row[static_cast<std::size_t>(places[r])] = model.spread->unknown;
  }
  model.factors = LowRankMatrix(std::move(left), x.values(), x.right());
  return model;
}

RowPrice row_price(const Fit& fit) {
  if (fit.row_price) return *fit.row_price;
  if (std::holds_alternative<losses::Custom>(fit.problem.loss))
    return {};  // no file holds it, so no row could be fitted
  const LowRankMatrix& x = fit.result.solution;
  const Observations& observations = fit.problem.observations;
  const std::vector<Offset> counts = count_observed(observations).row;
  RowPrice price{1, std::max(1e-300, static_cast<double>(observed(observations)) / static_cast<double>(counts.size())),
                 fit.norm_weights.power, fit.norm_weights.smoothing};
  const RowMajor right = x.right();
  constexpr Offset kBlock = 256;
  const auto* sparse = std::get_if<SparseObservations>(&observations);
  const Index above = sparse != nullptr ? first_row(*sparse) : 0;
  const Index here = sparse != nullptr ? sparse->pattern.rows() : rows(observations);
  std::vector<Payment> payments(static_cast<std::size_t>(here));
  Execution(fit.run.threads).for_each_block(here, kBlock, [&](Offset first, Offset size) {
    for (Offset row = first; row < first + size; ++row) {
      Payment& one = payments[static_cast<std::size_t>(row)];
      one = std::visit(
          [&](const auto& data, const auto& loss) {
            return payment(data, loss, fit.result, right, static_cast<Index>(row), above);
          },
          observations, fit.problem.loss);
      one.size *= price.at(static_cast<double>(counts[static_cast<std::size_t>(above + row)]));
    }
  });
  Payment all;
  for (const Payment& one : gathered(std::move(payments), sparse != nullptr ? ranks_of(*sparse) : nullptr)) {
    all.pays += one.pays;
    all.gains += one.gains;
    all.size += one.size;
  }
  const double least = kLeastShare * std::max(0.0, all.gains);
  price.multiplier = all.size > 0 ? std::max({all.pays, least, 0.0}) / all.size : 0.0;
  return price;
}

}  // namespace tracenorm
