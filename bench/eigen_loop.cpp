// What a C++ programmer would write for the absolute loss: FWUA with Eigen's sparse products and Spectra's eigenvalues.
// bench/compare.py runs it next to the program.
//
// Usage: tracenorm_eigen_loop TRIPLETS RADIUS ITERATIONS    (lines "row column value", indices from 0)
#include <fmt/format.h>

#include <Spectra/SymEigsSolver.h>
#include <Eigen/SparseCore>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <fstream>
#include <string>
#include <vector>

namespace {

using Matrix = Eigen::SparseMatrix<float, Eigen::RowMajor>;

/// v -> G'(G v) for Spectra.
class Normal {
 public:
  using Scalar = float;
  explicit Normal(const Matrix& g) : g_(g) {}
  [[nodiscard]] Eigen::Index rows() const { return g_.cols(); }
  [[nodiscard]] Eigen::Index cols() const { return g_.cols(); }
  void perform_op(const float* in, float* out) const {
    Eigen::Map<Eigen::VectorXf>(out, g_.cols()) =
        g_.transpose() * (g_ * Eigen::Map<const Eigen::VectorXf>(in, g_.cols()));
  }

 private:
  const Matrix& g_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::ifstream file(argv[1]);
  std::vector<Eigen::Triplet<float>> triplets;
  int rows = 0;
  int cols = 0;
  int i = 0;
  int j = 0;
  float value = 0;
  while (file >> i >> j >> value) {
    triplets.emplace_back(i, j, value);
    rows = std::max(rows, i + 1);
    cols = std::max(cols, j + 1);
  }
  const double radius = std::stod(argv[2]);
  const int iterations = std::stoi(argv[3]);
  Matrix y(rows, cols);
  y.setFromTriplets(triplets.begin(), triplets.end());
  Matrix g = y;
  const Eigen::Index count = y.nonZeros();
  const Eigen::Map<const Eigen::ArrayXf> data(y.valuePtr(), count);
  Eigen::Map<Eigen::ArrayXf> slope(g.valuePtr(), count);
  Eigen::ArrayXf x = Eigen::ArrayXf::Zero(count);
  const double scale = std::sqrt(double(data.square().mean()));
  std::deque<double> changes;
  Eigen::VectorXf start = Eigen::VectorXf::Ones(cols);
  const auto began = std::chrono::steady_clock::now();
  for (int k = 0; k < iterations; ++k) {
    const double paper = changes.empty() ? radius : 2.0 / (k + 2) * *std::max_element(changes.begin(), changes.end());
    const double width = std::max(paper, 0.5 * scale / std::sqrt(k + 1.0));
    slope = ((x - data) / float(width)).min(1.0F).max(-1.0F);
    const Normal normal(g);
    Spectra::SymEigsSolver<Normal> solver(const_cast<Normal&>(normal), 1, 20);
    solver.init(start.data());
    solver.compute(Spectra::SortRule::LargestAlge, 1000, 1e-2F);
    const Eigen::VectorXf v = solver.eigenvectors().col(0);
    Eigen::VectorXf u = g * v;
    u /= u.norm();
    start = v;
    double change = 0;
    const float step = float(2.0 / (k + 2));
    for (Eigen::Index row = 0; row < rows; ++row) {
      for (int e = y.outerIndexPtr()[row]; e < y.outerIndexPtr()[row + 1]; ++e) {
        const float d = float(-radius) * u[row] * v[y.innerIndexPtr()[e]] - x[e];
        change = std::max(change, double(std::abs(d)));
        x[e] += step * d;
      }
    }
    changes.push_back(change);
    if (changes.size() > 5) changes.pop_front();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  fmt::print("{{\"objective\": {:.9g}, \"seconds\": {:.4g}}}\n", double((x - data).abs().cast<double>().sum()),
             seconds);
  return 0;
}
