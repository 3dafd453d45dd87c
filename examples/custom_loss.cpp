// A loss of your own: any convex function, given by its values. Here errors above are twice as bad as errors below, and
// small ones are free.
#include <algorithm>
#include <cstdio>
#include <tracenorm/tracenorm.hpp>

int main() {
  using namespace tracenorm;

  const losses::Custom lopsided{[](double x, double y) {
                                  return std::max({0.0, 2 * (x - y) - 0.1, (y - x) - 0.1});
                                },
                                "lopsided",
                                {}};
  Entries observed;
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < 15; ++j) {
      if ((i * j) % 3 == 1) continue;
      observed.row.push_back(i);
      observed.col.push_back(j);
      observed.value.push_back(static_cast<Real>(0.1 * (i + 1) * ((j % 4) - 1.5)));
    }
  }
  const Problem problem{make_sparse(20, 15, observed), lopsided, NoPenalty{}, TraceNormBall{20.0}};
  RunOptions options;
  options.iterations = 300;
  const Result result = solve(problem, methods::FrankWolfe{}, options);
  std::printf("%s: objective %.4f, lower bound %.4f, rank %d\n", to_string(problem.loss).c_str(), result.objective,
              result.lower_bound, result.solution.terms());
  return result.lower_bound <= result.objective ? 0 : 1;
}
