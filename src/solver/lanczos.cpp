#include "solver/lanczos.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <vector>

namespace tracenorm {

namespace {

/// Eigenvalues of the small matrix divided by the size of the operator, ascending; none where that is zero.
struct RitzValues {
  Eigen::VectorXd values;
  double scale = 0;
  int steps = 0;
};

RitzValues ritz_values(Panels& panels, FunctionRef<void(const Panel&, const Panel&)> apply, const Panel& start,
                       int steps, Random& random, bool symmetric) {
  steps = static_cast<int>(std::min<Offset>(steps, start.rows()));
  const Panel vector = panels.make(Side::right, Use::exact, 1);
  const Panel product = panels.make(Side::right, Use::exact, 1);
  const Panel rest = panels.make(Side::right, Use::descent, 1);
  std::vector<Panel> basis;
  const auto extend = [&](double factor, const Panel& by) {
    basis.push_back(panels.make(Side::right, Use::descent, 1));
    panels.add(0, factor, by, basis.back());
  };
  /// Takes the part within the basis out of `rest`; returns the length of what is left.
  const auto part_outside = [&] {
    Eigen::VectorXd inside(static_cast<Eigen::Index>(basis.size()));
    for (int pass = 0; pass < 2; ++pass) {  // of Gram-Schmidt
      panels.gram(basis, rest, inside);
      panels.combine(1, basis, -inside, rest);
    }
    panels.add(0, 1, rest, vector);
    return std::sqrt(panels.dot(vector, vector));
  };
  extend(1 / std::sqrt(panels.dot(start, start)), start);
  Eigen::VectorXd diagonal(steps);
  Eigen::VectorXd off(steps);
  double scale = 0;  // of the operator
  int size = 0;
  while (size < steps) {
    panels.add(0, 1, basis.back(), vector);
    apply(vector, product);
    diagonal[size] = panels.dot(vector, product) / panels.dot(vector, vector);
    scale = std::max(scale, std::abs(diagonal[size]));
    const double length = std::sqrt(panels.dot(product, product));
    panels.add(0, length > 0 ? 1 / length : 1.0, product, rest);  // in the range of Real whatever the operator is
    double left = part_outside();
    off[size] = left * length;
    if (symmetric) scale = std::max(scale, off[size]);
    ++size;
    if (size == steps) break;
    if (!(left > kLanczosRounding)) {
      // The space is exhausted, as it soon is where there are few different eigenvalues: a fresh direction asks what it
      // may have missed. What is left of the old one is below rounding.
      off[size - 1] = 0;
      panels.add(0, 0, rest, rest);
      panels.draw(1 / std::sqrt(static_cast<double>(rest.rows())), random, rest);
      left = part_outside();
      if (!(left > kLanczosRounding)) break;  // there is none: the space is everything
    }
    extend(1 / left, rest);
  }
  if (!(scale > 0)) return {{}, 0, size};
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(diagonal.head(size) / scale, off.head(size - 1) / scale, Eigen::EigenvaluesOnly);
  return {solver.eigenvalues(), scale, size};
}

}  // namespace

LanczosValue lanczos_value(Panels& panels, FunctionRef<void(const Panel&, const Panel&)> apply, const Panel& start,
                           int steps, Random& random) {
  const RitzValues ritz = ritz_values(panels, apply, start, steps, random, false);
  if (ritz.values.size() == 0) return {0, ritz.steps};
  return {ritz.scale * ritz.values[ritz.steps - 1] * (1 + kLanczosRounding), ritz.steps};
}

LanczosEnds lanczos_ends(Panels& panels, FunctionRef<void(const Panel&, const Panel&)> apply, const Panel& start,
                         int steps, Random& random) {
  const RitzValues ritz = ritz_values(panels, apply, start, steps, random, true);
  if (ritz.values.size() == 0) return {0, 0, ritz.steps};
  const double margin = ritz.scale * kLanczosRounding;
  return {ritz.scale * ritz.values[0] - margin, ritz.scale * ritz.values[ritz.steps - 1] + margin, ritz.steps};
}

}  // namespace tracenorm
