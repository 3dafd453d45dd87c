#include "linalg/symmetric_eigen.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <vector>

namespace tracenorm {

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& m) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(m);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

SymmetricEigen leading_eigen(const Eigen::MatrixXd& m, Signs signs, double tolerance) {
  const SymmetricEigen all = symmetric_eigen(m);
  const double floor = tolerance * all.values.cwiseAbs().maxCoeff();
  std::vector<Eigen::Index> order;
  for (Eigen::Index k = 0; k < all.values.size(); ++k) {
    const double value = all.values[k];
    if ((signs == Signs::any ? std::abs(value) : static_cast<int>(signs) * value) > floor) order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return std::abs(all.values[a]) > std::abs(all.values[b]); });
  return {all.values(order), all.vectors(Eigen::all, order)};
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& m) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(m, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace tracenorm
