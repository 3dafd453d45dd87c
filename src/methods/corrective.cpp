// Certified answers fast: Frank-Wolfe steps bring new directions and the guarantee, a descent over the factors corrects
// within what is there (docs/mathematics.md, "Corrective steps").
#include <algorithm>
#include <cmath>
#include <utility>

#include "methods/factor_descent.hpp"
#include "methods/line_search.hpp"
#include "methods/methods.hpp"
#include "methods/seeds.hpp"

namespace tracenorm::methods {

namespace {

/// The first and the least width, in units of the data's scale.
constexpr double kFirstWidth = 0.15;
constexpr double kLeastWidth = 1e-6;

/// When multipliers have lowered the slack to less than this share since the last time, the width may stay, unless the
/// linear gap is below a share of the slack.
constexpr double kSlackFalls = 0.3;
constexpr double kDominated = 0.1;

/// A narrower width is between these times the old one.
constexpr double kNarrowest = 0.25;
constexpr double kWidest = 0.5;

/// A correction of which it is not sure that it lowers the smoothed objective must lower the gap to this share.
constexpr double kGapFalls = 0.9;

/// A Frank-Wolfe step is taken at least this often, needed or not.
constexpr int kStepStride = 4;

/// What seeds weigh at first, as a share of the radius; with X = 0 there is nothing else. A kink's curvature grows like
/// one over the width, so that later a new direction may pay with a thousandth of that weight only, and with more the
/// descent does not find its way back: seeds weigh less after each correction that was taken back, and more again after
/// each that was not.
constexpr double kSeedShare = 0.02;
constexpr double kFirstSeedShare = 0.8;
constexpr double kLeastSeedShare = 1e-6;
constexpr double kSeedsFall = 0.05;
constexpr double kSeedsRise = 2;

/// The two parts of the certified gap: multipliers and a narrower width lower the first, a better X the second.
struct Gap {
  double slack = 0;
  double linear = 0;
  [[nodiscard]] double sum() const { return slack + linear; }
};

Gap gap_of(const Linearization& model, double radius, double sigma) {
  return {.slack = model.objective + model.conjugate_sum - model.inner, .linear = model.inner + radius * sigma};
}

/// Steps that a descent remembers, each of which is two points in memory: to small gaps three of them need half as many
/// passes as one, six no fewer; to a gap as large as this one needed no more in all but one of the cases measured
/// (docs/measurements.md).
constexpr int kMemory = 3;
constexpr double kLargeGap = 2e-3;

/// For a pair that nobody will use.
constexpr OracleAccuracy kGlance{1, 1};

/// How exactly the singular pair must be known that judges a relative gap of this size.
OracleAccuracy accuracy(double gap) { return {std::clamp(0.02 * gap, 1e-9, 1e-4), 60}; }

/// How many seeds: at least a third of all terms, and as many as fill the next factors' rows, of which offsets have
/// some columns.
Index seeds_beside(Index terms, double wanted, Index spare) {
  const Index count = terms + std::max(static_cast<Index>(wanted), terms / 2) + spare;
  return (count + kFactorStep - 1) / kFactorStep * kFactorStep - spare - terms;
}

/// The best X so far: the smoothed objective falls from iteration to iteration, the objective itself nearly always.
struct Incumbent {
  ModelPoint x;
  double objective = kInfinity;
  bool is_iterate = false;

  void meet(Evaluator& f, double value) {
    is_iterate = value <= objective;
    if (!is_iterate) return;
    objective = value;
    x = f.point();
  }
};

/// The loop's state beside X: the width, and what became of the last correction.
class CorrectiveRun {
 public:
  CorrectiveRun(const Corrective& options, Evaluator& f, Session& session)
      : options_(options),
        f_(f),
        session_(session),
        seeds_(f, session.options().seed),
        asked_(session.options().gap.value_or(0)),
        descent_(f, asked_ < kLargeGap ? kMemory : 1),
        best_{{FactoredMatrix(f.panels())}},
        width_(f.radius() > 0 ? kFirstWidth * f.data_scale() : 0.0),
        before_{FactoredMatrix(f.panels())} {}

  void run() {
    const auto state = [&](const Exchange& kept) { exchange(kept); };
    for (int k = session_.begin(state); !session_.pauses(k, state); ++k) {
      const Linearization model = f_.linearize(width_, true);
      const LeadingAtom& leading = f_.leading_atom(interrupted() ? kGlance : accuracy(asked_));
      best_.meet(f_, model.objective);
      if (!session_.proceed({.k = k, .objective = best_.objective, .width = width_, .step = 1}, model, &best_.x)) break;
      const Gap gap = gap_of(model, f_.radius(), leading.sigma);
      if (doubtful_ && !(gap.sum() <= kGapFalls * before_gap_)) {
        take_back();
        continue;
      }
      doubtful_ = false;
      before_ = {FactoredMatrix(f_.panels())};  // its memory is needed
      const bool narrow = (gap.slack > gap.linear || stuck_) && width_ > kLeastWidth * f_.data_scale();
      if (narrow) narrow_width(gap);
      Start start = narrow ? here() : step(model, leading, rejected_ || k % kStepStride == 0);
      correct(std::move(start), gap);
    }
    if (!best_.is_iterate && !session_.paused()) f_.restart(std::move(best_.x));
  }

 private:
  void exchange(Exchange state) {
    seeds_.exchange(state.part("seeds"));
    f_.exchange(state.part("best"), best_.x);
    state.number("best_objective", best_.objective);
    state.number("best_is_iterate", best_.is_iterate);
    state.number("width", width_);
    state.number("slack", slack_);
    state.number("stepped", stepped_);
    state.number("doubtful", doubtful_);
    state.number("rejected", rejected_);
    state.number("stuck", stuck_);
    state.number("seed_share", seed_share_);
    if (doubtful_) f_.exchange(state.part("before"), before_);
    state.number("before_gap", before_gap_);
  }

  /// Somebody waits for the end: the best X so far is the answer, and no more work goes into a better one. (Where there
  /// is a time limit, the correction that it cuts short still counts.)
  [[nodiscard]] bool interrupted() { return !session_.options().seconds && session_.overdue(); }

  /// Multipliers make the slack of kinks vanish at a width that stays; where they alone do not get on, it narrows.
  void narrow_width(const Gap& gap) {
    f_.shift_kinks(width_);
    // Rounding may leave a slack or a linear gap below zero.
    const double rest = std::max({0.0, gap.linear, asked_ * std::abs(best_.objective)});
    const double share = gap.slack > 0 ? std::min(1.0, rest / gap.slack) : 1.0;
    if (gap.slack > kSlackFalls * slack_ || share < kDominated || stuck_) {
      width_ *= std::clamp(std::sqrt(share), kNarrowest, kWidest);
    }
    slack_ = gap.slack;
    rejected_ = stuck_ = false;
  }

  /// Where a correction starts: at the sum of these.
  struct Start {
    FactoredMatrix x;
    FactoredMatrix seeds;
  };
  Start here() { return {f_.iterate().copy(), FactoredMatrix(f_.panels())}; }

  /// The Frank-Wolfe step at a fixed width and fixed multipliers: with it alone the method would converge. Where the
  /// gap is about directions within the spans of X it can wait for its turn. Returns X after it, with seeds of new
  /// directions where those are what the gap is about.
  Start step(const Linearization& model, const LeadingAtom& leading, bool due) {
    const double multiplier = -model.inner / f_.radius();
    const bool outside = seeds_.inside(f_.iterate()) - multiplier < 0.5 * (leading.sigma - multiplier);
    stepped_ = true;
    if (!outside && !due) return here();
    const bool first = f_.terms() == 0;
    FactoredMatrix fresh(f_.panels());
    if (outside) {
      const int wanted = first ? 2 * options_.directions : options_.directions;
      fresh = seeds_.outside(seeds_beside(f_.terms() + 1, wanted, f_.offsets().columns()));
    }
    f_.leave_slopes();
    f_.aim(leading.atom);
    const double t = smoothed_line_search(f_, width_);
    stepped_ = t > 0;
    if (stepped_) f_.move(t);
    Start start = here();
    const double norm = fresh.trace_norm_bound();
    if (norm > 0) {
      const double share = first ? kFirstSeedShare : seed_share_;
      start.x.scale(1 - share);
      fresh.scale(f_.radius() / norm);
      fresh.scale(share);
      start.seeds = std::move(fresh);
    }
    return start;
  }

  /// Descends over the factors. Where it is not sure that the smoothed objective has fallen, the next gap decides.
  void correct(Start start, const Gap& gap) {
    if (interrupted()) return;  // the search for seeds is long
    seeds_.forget();
    f_.leave_slopes();
    ModelPoint corrected = descent_.descend(std::move(start.x), std::move(start.seeds), width_, options_.steps,
                                            [&] { return session_.overdue(); });
    if (interrupted()) return;
    f_.aim(std::move(corrected));
    doubtful_ = !smoothed_descent(f_, width_);
    if (doubtful_) {
      before_ = f_.point();
      before_gap_ = gap.sum();
    } else {
      rejected_ = false;
      seed_share_ = std::min(kSeedShare, kSeedsRise * seed_share_);
    }
    f_.move(1);
  }

  /// The last correction was none. If the Frank-Wolfe step before it had nowhere to go either, and seeds of the least
  /// weight did not help, this width is done with.
  void take_back() {
    f_.restart(std::move(before_));
    doubtful_ = false;
    stuck_ = rejected_ && !stepped_ && seed_share_ <= kLeastSeedShare;
    rejected_ = true;
    seed_share_ = std::max(kLeastSeedShare, kSeedsFall * seed_share_);
  }

  const Corrective& options_;
  Evaluator& f_;
  Session& session_;
  Seeds seeds_;
  double asked_;
  FactorDescent descent_;
  Incumbent best_;
  double width_;
  double slack_ = kInfinity;  // at the last narrowing
  bool stepped_ = true;       // the last Frank-Wolfe step was not empty
  bool doubtful_ = false;     // X is a correction that may yet be taken back
  bool rejected_ = false;     // the last correction was taken back
  bool stuck_ = false;
  double seed_share_ = kSeedShare;
  ModelPoint before_;
  double before_gap_ = 0;
};

}  // namespace

void run(const Corrective& options, const Problem&, Evaluator& f, Session& session) {
  session.expect_long_iterations();
  CorrectiveRun(options, f, session).run();
}

}  // namespace tracenorm::methods
