// Rank-drop steps (Cheung and Li, "Projection free rank-drop steps", IJCAI 2017), in a form without inverses.
//
// Let X = U S V' be the thin SVD, q a unit vector and x = S^(1/2) q. Then U S^(1/2) (I - q q') S^(1/2) V' = X - (U x)(V x)' has rank
// one less and trace norm tr S - x'x; multiplied by any c <= radius / (tr S - x'x) it is feasible. Two choices of c matter:
// 1, and radius / (radius - x'x), the step away from the atom along (U x)(V x)' to the boundary of its face.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "methods/frank_wolfe.hpp"
#include "methods/methods.hpp"

namespace tracenorm::methods {

namespace {

/// Directions worth trying: the last unit vector (deletes the smallest singular value), and top eigenvectors of B - w S, where
/// B = S^(1/2) sym(W) S^(1/2) and W = U' M V. w = 0 has the steepest linear decrease, a large w is close to the first. The
/// steepest is rarely the one that the true objective accepts.
std::vector<Eigen::VectorXd> directions(const Eigen::VectorXd& s, const Eigen::MatrixXd& w) {
  const Eigen::VectorXd root = s.cwiseSqrt();
  const Eigen::MatrixXd b = root.asDiagonal() * (0.5 * (w + w.transpose())) * root.asDiagonal();
  std::vector<Eigen::VectorXd> all{Eigen::VectorXd::Unit(s.size(), s.size() - 1)};
  for (const double factor : {0.0, 1.0, 10.0}) {
    Eigen::MatrixXd damped = b;
    damped.diagonal() -= (factor * b.norm() / s[0]) * s;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(damped);
    all.emplace_back(solver.eigenvectors().col(s.size() - 1));
  }
  return all;
}

struct Candidate {
  RankDropStep step;
  double objective = kInfinity;
};

/// The candidate with the best true objective.
Candidate best_candidate(Evaluator& f, const Eigen::VectorXd& s) {
  Eigen::MatrixXd w;
  f.project_slopes(w);
  Candidate best;
  const auto consider = [&](const RankDropStep& step) {
    const double value = f.objective_after(step);
    if (value < best.objective) best = {step, value};
  };
  for (const Eigen::VectorXd& q : directions(s, w)) {
    const double removed = q.dot(s.cwiseProduct(q));
    consider({q, removed < f.radius() ? f.radius() / (f.radius() - removed) : 1.0});
  }
  const Eigen::VectorXd chosen = best.step.q;
  if (chosen.size() > 0) consider({chosen, 1.0});
  return best;
}

/// One rank-drop step, if there is one that raises neither the objective nor the smoothed objective that the Frank-Wolfe steps
/// descend on. The second condition matters: an open-loop step often raises the true objective for a while, and a drop that
/// merely undoes it would look like progress. Above a cap on the rank the best step is taken whatever it costs.
bool try_drop(const RankDrop& options, Evaluator& f, double objective, double width) {
  const Eigen::VectorXd s = f.singular_values();
  if (s.size() < 2) return false;
  const Candidate best = best_candidate(f, s);
  if (!std::isfinite(best.objective)) return false;
  const bool above_cap = options.rank > 0 && static_cast<double>(s.size()) > options.rank;
  const bool free_of_charge = best.objective <= objective && f.smoothed_change_after(best.step, width) <= 0;
  if (!above_cap && !free_of_charge) return false;
  f.drop(best.step);
  return true;
}

}  // namespace

/// The Frank-Wolfe loop (frank_wolfe.cpp) with batches of drops between its steps. A drop is not an iteration: it lowers the same
/// merit function, so the rate of the steps is only interrupted. Drops in batches leave the steps between them free to
/// average; dropping after every step keeps undoing them (docs/measurements.md).
void run(const RankDrop& options, const Problem&, Evaluator& f, Session& session) {
  const int interval = static_cast<int>(options.interval);
  f.keep_thin();
  WidthSchedule width(options.frank_wolfe.width, f);
  for (int k = 0;; ++k) {
    const double tau = width.next(k);
    Linearization model = f.linearize(tau, session.wants_conjugate(k));
    if (k % interval == 0) {
      for (int drops = 0; drops < 2 * interval && try_drop(options, f, model.objective, tau); ++drops) {
        model = f.linearize(tau, session.wants_conjugate(k));
      }
    }
    const double alpha = aim_at_leading_atom(options.frank_wolfe, f, k);
    if (!session.proceed({.k = k, .objective = model.objective, .width = tau, .step = alpha}, model)) return;
    width.observe(f.move(alpha));
  }
}

}  // namespace tracenorm::methods
