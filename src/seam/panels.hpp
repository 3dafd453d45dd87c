// Thin blocks of vectors that live where the entries live: on the host, on a device, in pieces on many machines.
// Everything as long as a row or a column of the matrix is a panel; only small matrices and scalars come to the host.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/random.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm {

/// A left panel has as many rows as the matrix, a right one as many as the matrix has columns.
enum class Side : std::uint8_t { left, right };

/// What a panel is for, which decides how a backend keeps it.
enum class Use : std::uint8_t {
  exact,   ///< in double: the iterate, and what is proved of it
  search,  ///< in Real, a few vectors side by side: the search for the leading pair
  descent  ///< in Real: factors to descend on, in multiples of kFactorStep columns, and bases of proofs
};

/// A handle: copies mean the same numbers, and so do the columns that are taken of it. Only `Panels` looks inside.
class Panel {
 public:
  Panel() = default;
  Panel(Side side, Use use, Offset rows, Index columns, void* data, std::shared_ptr<void> owner)
      : side_(side),
        use_(use),
        rows_(rows),
        columns_(columns),
        pitch_(columns),
        data_(data),
        owner_(std::move(owner)) {}

  explicit operator bool() const { return data_ != nullptr; }
  [[nodiscard]] Side side() const { return side_; }
  [[nodiscard]] Use use() const { return use_; }
  [[nodiscard]] Offset rows() const { return rows_; }
  [[nodiscard]] Index columns() const { return columns_; }
  /// Some of its columns.
  [[nodiscard]] Panel middle(Index first, Index count) const {
    Panel part = *this;
    part.first_ += first;
    part.columns_ = count;
    return part;
  }
  [[nodiscard]] Panel column(Index k) const { return middle(k, 1); }
  /// All numbers of a whole panel, or of the first columns of an exact one, as one long column.
  [[nodiscard]] Panel flat() const {
    Panel column = *this;
    column.rows_ *= use_ == Use::exact && first_ == 0 ? columns_ : pitch_;
    column.columns_ = column.pitch_ = 1;
    column.first_ = 0;
    return column;
  }

  /// For backends: the numbers of the whole panel, how many columns that has, and which one is the first here.
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] Index pitch() const { return pitch_; }
  [[nodiscard]] Index first() const { return first_; }
  /// Whether another panel may have the same numbers; without an owner nobody knows.
  [[nodiscard]] bool shared() const { return owner_.use_count() != 1; }

 private:
  Side side_ = Side::left;
  Use use_ = Use::exact;
  Offset rows_ = 0;
  Index columns_ = 0;
  Index pitch_ = 0;
  Index first_ = 0;
  void* data_ = nullptr;
  std::shared_ptr<void> owner_;
};

/// Several panels of one side and use, one beside the other.
using PanelList = std::span<const Panel>;
using SmallMatrix = Eigen::Ref<const Eigen::MatrixXd>;
/// Whether it only stretches columns.
inline bool is_diagonal(const SmallMatrix& small) {
  if (small.rows() != small.cols()) return false;
  for (Eigen::Index j = 0; j < small.cols(); ++j) {
    for (Eigen::Index i = 0; i < small.rows(); ++i) {
      if (i != j && small(i, j) != 0) return false;
    }
  }
  return true;
}

class Panels {
 public:
  Panels() = default;
  Panels(const Panels&) = delete;
  Panels& operator=(const Panels&) = delete;
  virtual ~Panels() = default;

  /// Zeros.
  virtual Panel make(Side side, Use use, Index columns) = 0;
  /// To and from the host, in the order of the data. For the start, the answer and small things.
  virtual void upload(const Eigen::MatrixXd& from, const Panel& to) = 0;
  virtual Eigen::MatrixXd download(const Panel& from) = 0;
  /// Adds `size` times random numbers of mean 0 and variance 1: normal ones, or uniform ones in a panel for searches.
  virtual void draw(double size, Random& random, const Panel& panel) = 0;
  /// out = a' b.
  virtual void gram(PanelList a, const Panel& b, Eigen::Ref<Eigen::MatrixXd> out) = 0;
  /// out = keep * out + in * small. Uses may differ; a whole panel may take the place of itself. Where keep is zero, it
  /// does not matter what was there.
  virtual void combine(double keep, PanelList in, const SmallMatrix& small, const Panel& out) = 0;
  /// Row i times number i of a panel of one column.
  virtual void scale_rows(const Panel& panel, const Panel& factors) = 0;
  /// Makes left * diag(values) * right' a singular value decomposition, values descending and not negative, whatever
  /// columns there are. Panels become narrower where they had more columns than rows. False where numbers are not
  /// finite: they stay as they are. Seldom needed: solver/decomposition.hpp does with the products above where it can.
  virtual bool decompose(Panel& left, Eigen::VectorXd& values, Panel& right) = 0;

  // Where vectors are in pieces.

  /// How long vectors of a side are, all pieces together.
  [[nodiscard]] virtual Offset length(const Panel& panel) { return panel.rows(); }
  /// The numbers of a panel as they lie in the host's memory, one beside the other; empty where they do not.
  [[nodiscard]] virtual std::span<std::byte> in_host_memory(const Panel& /*panel*/) { return {}; }

  // What follows from these; where every answer to the host is a delay, a place may have a shorter way.

  /// projection = basis' block, block <- block - basis * projection, square = block' block.
  virtual void take_out(PanelList basis, const Panel& block, Eigen::Ref<Eigen::MatrixXd> projection,
                        Eigen::Ref<Eigen::MatrixXd> square) {  // NOLINT(performance-unnecessary-value-param): a view
    gram(basis, block, projection);
    projection *= -1;
    combine(1, basis, projection, block);
    projection *= -1;
    gram(block, block, square);
  }
  /// The inner products of the columns of each of two lists, of either side, among themselves.
  virtual void grams(PanelList a, Eigen::Ref<Eigen::MatrixXd> of_a, PanelList b, Eigen::Ref<Eigen::MatrixXd> of_b) {
    for (auto [list, out] : {std::pair(a, &of_a), {b, &of_b}}) {
      Eigen::Index column = 0;
      for (const Panel& one : list) {
        gram(list, one, out->middleCols(column, one.columns()));
        column += one.columns();
      }
    }
  }

  // What follows from these everywhere.

  void gram(const Panel& a, const Panel& b, const Eigen::Ref<Eigen::MatrixXd>& out) { gram(PanelList(&a, 1), b, out); }
  [[nodiscard]] Eigen::MatrixXd gram(const Panel& a, const Panel& b) {
    Eigen::MatrixXd out(a.columns(), b.columns());
    gram(a, b, out);
    return out;
  }
  void combine(double keep, const Panel& in, const SmallMatrix& small, const Panel& out) {
    combine(keep, PanelList(&in, 1), small, out);
  }
  /// The inner product of two single columns.
  [[nodiscard]] double dot(const Panel& a, const Panel& b) {
    Eigen::Matrix<double, 1, 1> out;
    gram(a, b, out);
    return out(0, 0);
  }
  /// out = keep * out + factor * in, for single columns.
  void add(double keep, double factor, const Panel& in, const Panel& out) {
    combine(keep, in, Eigen::Matrix<double, 1, 1>(factor), out);
  }
  /// out = in, for panels of the same shape and use: whole ones, or the first columns of exact ones.
  void copy(const Panel& in, const Panel& out) { add(0, 1, in.flat(), out.flat()); }
  [[nodiscard]] Panel copy(const Panel& in) {
    Panel out = make(in.side(), in.use(), in.columns());
    combine(0, in, Eigen::MatrixXd::Identity(in.columns(), in.columns()), out);
    return out;
  }
};

}  // namespace tracenorm
