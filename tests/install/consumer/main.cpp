// A stranger's program: knows the installed headers and nothing else.
#include <cstdio>
#include <tracenorm/tracenorm.hpp>

int main() {
  using namespace tracenorm;
  const Entries entries{{0, 0, 1, 2, 2}, {0, 1, 1, 0, 2}, {1, 2, -1, 0.5, 3}};
  const Problem problem{make_sparse(3, 3, entries), losses::Absolute{}, NoPenalty{}, TraceNormBall{4.0}};
  const Result result = solve(problem);
  std::printf("tracenorm %s: objective %.4f, certified lower bound %.4f\n", TRACENORM_VERSION, result.objective,
              result.lower_bound);
  return result.lower_bound <= result.objective ? 0 : 1;
}
