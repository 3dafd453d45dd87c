// Rank-drop steps (Cheung and Li, "Projection free rank-drop steps", IJCAI 2017), in a form without inverses.
//
// Let X = U S V' be the thin SVD, q a unit vector and x = S^(1/2) q. Then U S^(1/2) (I - q q') S^(1/2) V' = X - (U x)(V
// x)' has rank one less and trace norm tr S - x'x; multiplied by any c <= radius / (tr S - x'x) it is feasible. Two
// choices of c matter: 1, and radius / (radius - x'x), the step away from the atom along (U x)(V x)' to the boundary of
// its face.
#include <cmath>
#include <utility>

#include "methods/frank_wolfe.hpp"
#include "methods/methods.hpp"
#include "methods/width_schedule.hpp"
#include "solver/block_krylov.hpp"
#include "solver/rank_drop_steps.hpp"

namespace tracenorm::methods {

namespace {

/// The top eigenvector of a symmetric matrix, to the few digits that a search direction needs.
Eigen::VectorXd top_eigenvector(const Eigen::MatrixXd& symmetric) {
  const double shift = symmetric.cwiseAbs().rowwise().sum().maxCoeff();  // makes it positive semidefinite
  Eigen::VectorXd v = symmetric.diagonal().array() + 2 * shift;          // not orthogonal to it but by accident
  leading_eigenvector(
      [&](const Eigen::VectorXd& in, Eigen::VectorXd& out) {
        out.noalias() = symmetric * in;
        out += shift * in;
      },
      v, 1e-4, 64);
  return v.normalized();
}

/// Directions worth trying: the last unit vector (deletes the smallest singular value), and top eigenvectors of B - w
/// S, where B = S^(1/2) sym(W) S^(1/2) and W = U' M V. w = 0 has the steepest linear decrease, a large w is close to
/// the first. The steepest is rarely the one that the true objective accepts.
std::vector<Eigen::VectorXd> directions(const Eigen::VectorXd& s, const Eigen::MatrixXd& w) {
  const Eigen::VectorXd root = s.cwiseSqrt();
  const Eigen::MatrixXd b = root.asDiagonal() * (0.5 * (w + w.transpose())) * root.asDiagonal();
  std::vector<Eigen::VectorXd> all{Eigen::VectorXd::Unit(s.size(), s.size() - 1)};
  for (const double factor : {0.0, 1.0, 10.0}) {
    Eigen::MatrixXd damped = b;
    damped.diagonal() -= (factor * b.norm() / s[0]) * s;
    all.push_back(top_eigenvector(damped));
  }
  return all;
}

struct Candidate {
  RankDropStep step;
  double objective = kInfinity;
};

/// The candidate with the best true objective.
Candidate best_candidate(RankDropSteps& drops, double radius, const Eigen::VectorXd& s, const Eigen::MatrixXd& w) {
  Candidate best;
  const auto consider = [&](const RankDropStep& step) {
    const double value = drops.objective_after(step);
    if (value < best.objective) best = {step, value};
  };
  for (const Eigen::VectorXd& direction : directions(s, w)) {
    const Eigen::VectorXd q = drops.admissible(direction);
    const double removed = q.dot(s.cwiseProduct(q));
    consider({q, removed < radius ? radius / (radius - removed) : 1.0});
  }
  const Eigen::VectorXd chosen = best.step.q;
  if (chosen.size() > 0) consider({chosen, 1.0});
  return best;
}

/// Rank-drop steps, as long as there is one that raises neither the objective nor the smoothed objective that the
/// Frank-Wolfe steps descend on, `most` at most. The second condition matters: an open-loop step often raises the true
/// objective for a while, and a drop that merely undoes it would look like progress. Above a cap on the rank the best
/// step is taken whatever it costs. Returns the linearization at the new X.
Linearization drop_ranks(const RankDrop& options, Evaluator& f, RankDropSteps& drops, Linearization model, double width,
                         bool want_conjugate, int most) {
  Eigen::MatrixXd w;
  for (int taken = 0; taken < most; ++taken) {
    const Eigen::VectorXd s = drops.singular_values();
    if (s.size() < 2) break;
    if (taken == 0) w = drops.project_slopes();
    const Candidate best = best_candidate(drops, f.radius(), s, w);
    if (!std::isfinite(best.objective)) break;
    const bool above_cap = options.rank > 0 && s.size() > options.rank;
    const bool free_of_charge = best.objective <= model.objective && drops.smoothed_change_after(best.step, width) <= 0;
    if (!above_cap && !free_of_charge) break;
    const Eigen::MatrixXd rotation = drops.drop(best.step);
    w = (rotation.transpose() * w * rotation)
            .eval();  // the slopes changed a little since; directions need not be exact
    model = f.linearize(width, want_conjugate);
  }
  return model;
}

}  // namespace

/// The Frank-Wolfe loop (frank_wolfe.cpp) with batches of drops between its steps. A drop is not an iteration: it
/// lowers the same merit function, so the rate of the steps is only interrupted. Drops in batches leave the steps
/// between them free to average; dropping after every step keeps undoing them (docs/measurements.md).
void run(const RankDrop& options, const Problem&, Evaluator& f, Session& session) {
  RankDropSteps drops(f);
  WidthSchedule width(options.frank_wolfe.width, f);
  FrankWolfeStep step(options.frank_wolfe);
  const auto state = [&](const Exchange& kept) {
    width.exchange(kept.part("width"));
    step.exchange(kept.part("step"));
  };
  for (int k = session.begin(state); !session.pauses(k, state); ++k) {
    const double tau = width.next(k);
    const bool want_conjugate = session.wants_conjugate(k) || width.wants_conjugate(k);
    Linearization model = f.linearize(tau, want_conjugate);
    if (k % options.interval == 0) {
      model = drop_ranks(options, f, drops, model, tau, want_conjugate, 2 * options.interval);
    }
    const double alpha = step.next(f, k);
    if (!session.proceed({.k = k, .objective = model.objective, .width = tau, .step = alpha}, model)) return;
    const double change = f.move(alpha);
    width.observe(model, f.estimate_norm(Slopes::current), change);
  }
}

}  // namespace tracenorm::methods
