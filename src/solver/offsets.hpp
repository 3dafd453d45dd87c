// Offsets of rows and columns that are fitted together with X: the entries meet X + b 1' + 1 c', and ridge terms
// rho |b|^2 + kappa |c|^2 join the objective (docs/mathematics.md, "Offsets in the model").
//
// To the entries b 1' + 1 c' is two more terms of a product, so a store needs no verb for it; and products with slopes
// at such factors bring the slopes of b and c along.
#pragma once

#include "seam/entry_store.hpp"
#include "seam/panels.hpp"
#include "solver/factored_matrix.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm {

/// b and c: exact panels of one column.
struct OffsetPanels {
  Panel row;
  Panel col;
};

/// How many columns of a product they take.
inline constexpr Index kOffsetColumns = 2;

class Offsets {
 public:
  /// Without offsets in the problem nothing of it has an effect.
  Offsets(const Problem& problem, Panels& panels, EntryStore& store, Counters& counters);

  [[nodiscard]] bool active() const { return ridge_.has_value(); }
  [[nodiscard]] Index columns() const { return active() ? kOffsetColumns : 0; }
  [[nodiscard]] const OffsetPanels& now() const { return now_; }
  /// Where a move of 1 leads.
  [[nodiscard]] const OffsetPanels& target() const { return target_; }
  [[nodiscard]] OffsetPanels copy(const OffsetPanels& offsets) const;
  [[nodiscard]] OffsetPanels upload(const SideOffsets& offsets) const;
  [[nodiscard]] SideOffsets download() const { return download(now_); }
  [[nodiscard]] SideOffsets download(const OffsetPanels& offsets) const;

  void set(const OffsetPanels& offsets) { copy(offsets, now_); }
  void aim(const OffsetPanels& offsets);
  /// Aims where a move of `step` takes b and c one step down the slopes that were summed last, together with their
  /// ridges'. Each is divided by how many entries it meets, and the pace follows the slopes: where they turn round
  /// between two steps the last one was too long.
  void aim_down(double step);
  /// Aims at all offsets times a factor.
  void aim_scaled(double factor);
  void move(double t);
  void remember() { copy(now_, remembered_); }
  void remember(const OffsetPanels& offsets) { copy(offsets, remembered_); }
  [[nodiscard]] const OffsetPanels& remembered() const { return remembered_; }
  void recall() { copy(remembered_, now_); }

  /// rho |b|^2 + kappa |c|^2.
  [[nodiscard]] double ridge(const OffsetPanels& offsets) const;
  [[nodiscard]] double ridge() const { return active() ? ridge(now_) : 0; }
  /// That of now, never too small.
  [[nodiscard]] double ridge_bound() const;
  /// Its value and derivative at now + t (target - now).
  void ridge_at(double t, double& value, double& derivative) const;

  /// Puts b 1' + 1 c' into the last two columns of a product that is to be taken times `scale`.
  void join(const OffsetPanels& offsets, double scale, const Product& product) const;
  /// Takes (N 1, N' 1) out of products of slopes N with such factors, adds the slopes of the ridge, and leaves zeros.
  /// Returns b' N 1 + c' N' 1.
  double part(const OffsetPanels& offsets, double scale, const Product& products, const OffsetPanels& gradient) const;
  /// X with b 1' + 1 c' beside it, to load.
  [[nodiscard]] FactoredMatrix joined(FactoredMatrix x) const;

  /// Row and column sums of the slopes, in double, for the two below.
  void sum(Slopes which);
  /// |M 1|^2 / (4 rho) + |M' 1|^2 / (4 kappa): what the ridges add to the sum of conjugates.
  [[nodiscard]] double conjugate() const;
  /// The same, never too small; `square` is |M|_F^2, at least.
  [[nodiscard]] double conjugate_bound(double square) const;
  /// b' M 1 + c' M' 1.
  [[nodiscard]] double inner() const;

  /// 1 / sqrt(n + 2 rho) for a row of n entries, likewise for columns: coordinates in which curvatures are about even.
  [[nodiscard]] const OffsetPanels& stretch() const { return stretch_; }

 private:
  [[nodiscard]] OffsetPanels make() const;
  void copy(const OffsetPanels& from, const OffsetPanels& to) const;

  std::optional<OffsetRidge> ridge_;
  Panels& panels_;
  EntryStore& store_;
  Counters& counters_;
  OffsetPanels ones_;
  OffsetPanels now_;
  OffsetPanels target_;
  OffsetPanels remembered_;
  OffsetPanels sums_;
  OffsetPanels stretch_;
  OffsetPanels slopes_;  // of the whole objective, divided: the way down of the last step
  double pace_ = 0.5;    // b and c move at once, so each goes half of its way at first
};

}  // namespace tracenorm
