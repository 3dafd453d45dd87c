// From data to a model: chooses what is not said, solves, and judges. What the program, the Python package and its
// estimators do, and nothing of it is theirs.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tracenorm/model.hpp"
#include "tracenorm/radius_path.hpp"

namespace tracenorm {

/// Entries of a rows x cols matrix, in the units they came in.
struct FitData {
  Index rows = 0;
  Index cols = 0;
  Entries entries;
  std::vector<Real> weight{};  ///< empty, or one positive weight per entry
  Entries validation{};        ///< to choose by; empty: a tenth of the entries is held out for it, where needed
  /// Where each rank has the entries of some rows: which these are. Everybody has the validation entries.
  std::optional<DealtEntries> dealt{};

  [[nodiscard]] Offset all() const { return dealt ? dealt->all : entries.size(); }
};

/// What is left empty is chosen. Without a radius that is everything: a path of radii, a robust loss that is smooth
/// near zero, offsets of rows and columns, a weighted trace norm. With one it is the plain model of the paper.
struct FitOptions {
  std::optional<double> radius{};              ///< empty: chosen on held-out entries
  std::optional<double> norm_power{};          ///< empty: 0.5 when the radius is chosen, else 0
  double norm_smoothing = 0.5;                 ///< see NormWeights
  std::optional<Loss> loss{};                  ///< empty: chosen with the radius (huber:1 or huber:0.5), else absolute
  std::optional<Preparation::Kind> prepare{};  ///< empty: both when the radius is chosen, else zscore; none for labels.
                                               ///< Offsets of both are fitted together with X, where the method can
  Penalty penalty = NoPenalty{};
  Symmetry symmetry = Symmetry::none;  ///< of the answer; the data must be symmetric, and are prepared without offsets
  bool symmetrize = false;             ///< the data are made symmetric first
  bool choose_l1 = false;              ///< several l1 penalties are tried together with the radii
  std::optional<bool> clip{};      ///< whether predictions keep within the range of the data; empty: when the radius is
                                   ///< chosen and the data have few levels or clear ends, and never for labels
  std::optional<Method> method{};  ///< empty: corrective with a gap or with offsets fitted together with X, else fwua
  bool choose_loss = false;        ///< another loss is tried too; set by `settle` where none is given
  int search_entries = 10'000'000;  ///< larger data are searched on a random share of the rows with about so many
  bool refit = true;                ///< predictions undo the shrinkage of the norm as held-out entries ask for
  RunOptions run{};

  static const std::array<Field<FitOptions>, 4> fields;

  /// Whether the radius is to be chosen: the method has one, and none is given.
  [[nodiscard]] bool chooses_radius() const { return !radius && (!method || is_bounded(*method)); }
};

inline constexpr std::array<Field<FitOptions>, 4> FitOptions::fields{
    {{"radius", &FitOptions::radius, kAboveZero, kUnlimited,
      "bound on the trace norm (the sum of singular values) of the answer, in the units of the prepared data"},
     {"norm_power", &FitOptions::norm_power, 0, 1,
      "weigh rows and columns in the trace norm by this power of how many entries they have; 0: not, 0.5: as in the "
      "theory of entries observed unevenly"},
     {"norm_smoothing", &FitOptions::norm_smoothing, kAboveZero, 1,
      "share of equal counts mixed into the counts before the power"},
     {"search_entries", &FitOptions::search_entries, 1000, 2e9,
      "with more entries the radius and what goes with it are chosen on a random share of the rows that has about so "
      "many"}}};

/// The options with every choice made that needs no data. Throws a usage error about `prepare` where it would change
/// labels.
FitOptions settle(FitOptions options);

/// Whether a fit with these (settled) options takes entries that are dealt out to ranks: completion with chosen
/// settings and offsets, or with a given radius and without penalty.
bool takes_dealt(const FitOptions& settled);

/// The errors of an answer on entries it was not made from. Only the measures that apply to the data are set.
struct HeldOut {
  Offset entries = 0;
  Offset unknown = 0;          ///< how many of them have a row or column without training data: offsets predict them
  std::optional<double> rmse;  ///< in the units of the raw data
  std::optional<double> mae;
  std::optional<double> rmse_prepared;  ///< in the units the problem was solved in
  std::optional<double> mae_prepared;
  std::optional<double> auc;  ///< NaN when one of the two classes is absent
  std::optional<double> average_precision{};
};

/// Judges on entries in raw units: errors for numbers, area under the ROC curve for labels. `Preparation::kUnknown`
/// stands for a row or column that the training data did not have.
HeldOut judge(const LowRankMatrix& x, const Loss& loss, const Preparation& preparation, const Entries& raw);

/// How predictions undo the shrinkage of the norm: singular values are taken times a gain, which lies on a straight
/// line between that of the largest one and that of those near zero. Scores are mean losses (huber:1, in deviations) on
/// the held-out entries.
struct Refit {
  Offset entries = 0;
  double gain = 1;        ///< of the largest singular value, for the least score
  double small_gain = 1;  ///< of those near zero
  double score = 0;       ///< with it
  double score_of_1 = 0;
  bool taken = false;  ///< only where the difference is more than chance would make it
};

/// The share of large data that settings were searched for on.
struct SearchedShare {
  Index rows = 0;
  Offset entries = 0;
  int settings = 0;  ///< the first so many steps of the path; the others were tried on all rows
  int wanted = 0;    ///< `search_entries` of the options
};

/// What a part of the work cost.
struct PhaseCost {
  std::string phase;  ///< prepare, search, iterations, certificate, answer; callers add their own
  double seconds = 0;
  double passes = 0;      ///< over the entries, where they are counted
  double peak_bytes = 0;  ///< the most memory that the process has had by the end of it
};

/// What came of a fit, with everything that was chosen for it.
struct Fit {
  Problem problem;          ///< as it was solved: in prepared units, with the chosen loss, penalty and radius
  Preparation preparation;  ///< offsets that were fitted together with X are there too, and then not in the data of
                            ///< `problem`
  std::optional<Refit> refit{};
  std::optional<Reading> predictor{};  ///< predicts, where the answer itself does not
  std::optional<Spread> spread{};
  NormWeights norm_weights;
  Method method;
  RunOptions run;
  std::vector<RadiusStep> path;  ///< the radii that were tried; empty: none was to be chosen
  std::size_t path_best = 0;
  std::optional<SearchedShare> searched{};  ///< empty: all rows were
  Result result;
  std::vector<PhaseCost> profile{};     ///< in the order of time; the certificate's part is spread over the iterations
  std::optional<HeldOut> validation;    ///< on the validation entries that were given
  std::optional<RowPrice> row_price{};  ///< of data that were dealt out to ranks, which only all of them can tell

  /// The answer with its units; names of rows and columns are the caller's.
  [[nodiscard]] Model model() const;
};

/// The fewest entries of which some can be held out to choose a radius on.
inline constexpr Offset kFewestToChoose = 20;

/// Validation entries that were given also choose the iterate, and the best one of the path is the answer (unless a gap
/// is asked for). Without any, a tenth of the entries is held out before offsets are fitted, judged by the mean loss,
/// and the answer is then solved on all of them, from where the path stood. Where offsets are fitted together with X
/// and there are more than `search_entries`, settings are searched for on a random share of the rows, and a hundredth
/// of the entries adjusts them to all rows. `hooks.validation` is not looked at.
Fit fit(FitData data, const FitOptions& options = {}, const RunHooks& hooks = {});

/// The same for a full matrix with holes. Entries (i,j) and (j,i) of a square one are held out together.
Fit fit(DenseObservations matrix, const FitOptions& options = {}, const RunHooks& hooks = {});

}  // namespace tracenorm
