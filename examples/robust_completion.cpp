// The shortest useful program: fill the holes of a matrix whose observed entries contain gross outliers, and say how
// good the answer is.
#include <cstdio>
#include <random>
#include <tracenorm/tracenorm.hpp>

int main() {
  using namespace tracenorm;

  // A rank-one 60 x 40 matrix, half of it observed, one observation in twenty badly wrong.
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> u(60);
  std::vector<double> v(40);
  for (double& x : u) x = normal(random);
  for (double& x : v) x = normal(random);
  const auto seen = [](Index i, Index j) { return (3 * i + 5 * j + i * j) % 11 < 6; };
  Entries observed;
  for (Index i = 0; i < 60; ++i) {
    for (Index j = 0; j < 40; ++j) {
      if (!seen(i, j)) continue;
      const bool outlier = (7 * i + 3 * j) % 20 == 0;
      observed.row.push_back(i);
      observed.col.push_back(j);
      observed.value.push_back(static_cast<Real>(u[std::size_t(i)] * v[std::size_t(j)] + (outlier ? 30 : 0)));
    }
  }

  const auto error_of = [&](const Loss& loss) {
    const Problem problem{make_sparse(60, 40, observed), loss, NoPenalty{}, TraceNormBall{50.0}};
    const Result result = solve(problem);
    double sum = 0;
    int holes = 0;
    for (Index i = 0; i < 60; ++i) {
      for (Index j = 0; j < 40; ++j) {
        if (seen(i, j)) continue;
        const double error = result.solution.entry(i, j) - u[std::size_t(i)] * v[std::size_t(j)];
        sum += error * error;
        ++holes;
      }
    }
    const double rmse = std::sqrt(sum / holes);
    std::printf("%-10s error in the holes %.3f, objective %.2f, certified within %.2f %% of the optimum\n",
                to_string(loss).c_str(), rmse, result.objective, 100 * result.relative_gap);
    return rmse;
  };

  const double robust = error_of(losses::Absolute{});
  const double plain = error_of(losses::Squared{});
  return robust < plain ? 0 : 1;
}
