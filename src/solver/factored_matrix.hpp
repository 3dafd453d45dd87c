// Rank-one atoms, and matrices that are sums of few of them, in panels: what an iterate is made of, where it is.
#pragma once

#include <Eigen/Core>

#include "seam/entry_store.hpp"
#include "seam/panels.hpp"
#include "tracenorm/constraint.hpp"
#include "tracenorm/low_rank_matrix.hpp"

namespace tracenorm {

/// weight * left * right', with unit vectors.
struct Atom {
  Panel left;
  Panel right;
  double weight = 0;
};

/// sum_t value_t left_t right_t'. The columns need not be orthogonal until `compress` has been called; afterwards it is
/// a thin singular value decomposition, values descending and positive.
class FactoredMatrix {
 public:
  /// Zero.
  explicit FactoredMatrix(Panels& panels);
  /// These columns, which are not copied; those beyond the values are room for more terms.
  FactoredMatrix(Panels& panels, Panel left, const Eigen::VectorXd& values, Panel right);
  /// From the host, and to it.
  FactoredMatrix(Panels& panels, const LowRankMatrix& x);
  [[nodiscard]] LowRankMatrix download(Index rows, Index cols) const;

  FactoredMatrix(FactoredMatrix&&) = default;
  FactoredMatrix& operator=(FactoredMatrix&&) = default;
  /// Cheap: both see the same columns until one of them writes there.
  [[nodiscard]] FactoredMatrix copy() const;
  /// A copy of the first terms, with these values.
  [[nodiscard]] FactoredMatrix first_terms(const Eigen::VectorXd& values) const;

  [[nodiscard]] Index terms() const { return terms_; }  ///< an upper bound of the rank; the rank after `compress`
  [[nodiscard]] Panel left() const { return left_.middle(0, terms_); }
  [[nodiscard]] auto values() const { return values_.head(terms_); }
  [[nodiscard]] Panel right() const { return right_.middle(0, terms_); }
  [[nodiscard]] FactorView view() const { return {left(), values(), right()}; }

  /// X <- (1 - t) X + t atom. A step of one forgets all former terms.
  void blend(double t, const Atom& atom);
  void blend(double t, const FactoredMatrix& other);
  /// So many more terms of the value 1, whose columns the caller fills in; returns the columns of all terms.
  Product extend(Index count);
  void scale(double factor);
  /// X <- diag(left) X diag(right), factors being panels of one column.
  void scale(const Panel& left, const Panel& right);
  /// Rewrites the same matrix as a thin SVD; values up to `tolerance` times the largest are dropped (the default drops
  /// rounding only). A matrix with values that are not finite stays as it is.
  void compress(double tolerance = 1e-12);
  /// The same for a matrix that is symmetric up to rounding, which makes it so exactly: an eigendecomposition with left
  /// = right times signs, and of a semidefinite one what is above zero.
  void compress(Symmetry symmetry, double tolerance = 1e-12);
  /// The signs of left' right, term by term: of the eigenvalues after that.
  [[nodiscard]] Eigen::VectorXd signs() const;

  /// out += factor X v for a right panel v of one column, X' v for a left one.
  void add_product(double factor, const Panel& v, const Panel& out) const;
  /// left' X right.
  [[nodiscard]] double inner(const Panel& left, const Panel& right) const;
  [[nodiscard]] double inner(const FactoredMatrix& other) const;
  /// Sum of |values|: an upper bound of the trace norm, equal to it after `compress`.
  [[nodiscard]] double trace_norm_bound() const { return values().cwiseAbs().sum(); }

  [[nodiscard]] Panels& panels() const { return *panels_; }

 private:
  /// Whether copies see columns from this one on.
  [[nodiscard]] bool seen_from(Index first) const;
  /// The terms in columns that nobody else sees, with room for so many.
  void relocate(Index room);
  /// Columns of terms may be written to.
  void own();
  /// Columns of the next terms may be: there is room for so many, and for `more` of them in a new place.
  void reserve(Index terms, Index more = 0);

  friend class ThinSvd;  // turns columns where they are

  Panels* panels_;
  Index terms_ = 0;
  mutable Index seen_ = 0;  // so many of the columns may be those of copies, too
  Panel left_;              // of more columns than terms, so that blending seldom allocates
  Eigen::VectorXd values_;
  Panel right_;
  bool decomposed_ = false;                    // it is a thin SVD already
  mutable Eigen::VectorXd left_coefficients_;  // kept so that products do not allocate
  mutable Eigen::VectorXd right_coefficients_;
};

}  // namespace tracenorm
