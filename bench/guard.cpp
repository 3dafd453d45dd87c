// A fixed amount of work for each kernel of an iteration, for a count of instructions: tools/guard.py runs it under
// callgrind and compares with tools/guard.json. No clock is involved.
//
// Usage: tracenorm_guard KERNEL    (one of the names below; "none" does everything but the kernel)
#include <cstdio>
#include <string>
#include <string_view>

#include "patterns.hpp"
#include "solver/evaluator.hpp"
#include "tracenorm/problem.hpp"

namespace {

using namespace tracenorm;

constexpr int kTimes = 20;

Problem sparse_problem() {
  return {bench::make_ratings(500, 400, 20000), losses::Absolute{}, NoPenalty{}, TraceNormBall{100}};
}

Problem dense_problem() {
  Random random(1);
  std::vector<Real> links(std::size_t{150} * 150);
  for (Real& link : links) link = random.uniform() < 0.1 ? Real(1) : Real(0);
  return {DenseObservations{150, 150, std::move(links), {}}, losses::Squared{0.5}, L1Penalty{0.01}, TraceNormBall{20}};
}

/// One of the passes, or the pair's products, or none.
void run(std::string_view pass, Evaluator& f) {
  f.linearize(0.5, false);
  f.aim(f.leading_atom({0.1, 6}).atom);
  f.move(1.0);
  f.linearize(0.5, false);
  f.aim(f.leading_atom({0.1, 6}).atom);
  for (int k = 0; k < kTimes; ++k) {
    if (pass == "linearize") f.linearize(0.5, false);
    if (pass == "conjugate") f.linearize(0.5, true);
    if (pass == "products") f.leading_atom({2e-5, 10});
    if (pass == "move") f.move(1.0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc == 2 ? argv[1] : "";
  const std::size_t space = name.find('-');
  if (space == std::string::npos) {
    std::fputs("usage: tracenorm_guard sparse|dense-none|linearize|conjugate|products|move\n", stderr);
    return 2;
  }
  const Problem problem = name.starts_with("sparse") ? sparse_problem() : dense_problem();
  OwnEvaluator evaluator(problem, 1);
  run(std::string_view(name).substr(space + 1), *evaluator);
  return 0;
}
