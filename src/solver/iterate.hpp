// The iterate as a low-rank matrix: atoms that are blended in, or a thin SVD that is kept up to date for methods that
// drop ranks; and one earlier iterate that is remembered.
#pragma once

#include <optional>
#include <utility>

#include "solver/factored_matrix.hpp"
#include "solver/thin_svd.hpp"

namespace tracenorm {

class Iterate {
 public:
  Iterate(Index rows, Index cols, Panels& panels, Symmetry symmetry);

  /// As FactoredMatrix; true when so many terms have come together that it was compressed.
  bool blend(double t, const Atom& atom);
  void blend(double t, FactoredMatrix other);
  /// Replaces it, as a thin SVD.
  void restart(FactoredMatrix x);
  /// The same for factors that were an iterate: atoms stay as they are.
  void resume(FactoredMatrix x) {
    if (thin_) return restart(std::move(x));
    factors_ = std::move(x);
  }
  void compress();

  [[nodiscard]] const FactoredMatrix& factors();
  /// The same, and nothing is left.
  [[nodiscard]] FactoredMatrix take();
  /// How many terms it is stored with: at least its rank.
  [[nodiscard]] Index terms() const { return thin_ ? thin_->terms() : factors_.terms(); }

  /// From here on it is kept as a thin SVD X = U S V' that every blend updates.
  void keep_thin();
  [[nodiscard]] ThinSvd& thin() { return *thin_; }
  /// A rank-drop step on it; see ThinSvd.
  Eigen::MatrixXd drop(const Eigen::VectorXd& q, double scale);

  /// Marks the iterate of now, for `remembered` to give back. Cheap as long as only atoms are added to it.
  void remember();
  [[nodiscard]] FactoredMatrix remembered();
  void remember(FactoredMatrix x) { remembered_ = std::move(x); }

  /// out += factor X v, or X' v; and u' X v.
  void add_product(double factor, const Panel& v, const Panel& out) const;
  [[nodiscard]] double inner(const Panel& u, const Panel& v) const;

 private:
  /// The factors are about to be rewritten: what is remembered of them becomes a copy.
  void keep_remembered();

  Symmetry symmetry_;
  Index most_terms_;        // beyond twice the largest possible rank the factors hold nothing new
  FactoredMatrix factors_;  // stale while thin_ is in use, until somebody asks for it
  bool stale_ = false;
  std::optional<ThinSvd> thin_;
  std::optional<FactoredMatrix> remembered_;  // a copy, or
  Eigen::VectorXd remembered_values_;         // the values of the first so many terms of the iterate
};

}  // namespace tracenorm
