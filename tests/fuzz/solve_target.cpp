// Valid problems: every one of them has an answer that is feasible and not below its own bound, and goes on from its
// checkpoints to the same bits.
#include <cmath>

#include "fuzzed_problem.hpp"
#include "target.hpp"
#include "tracenorm/checkpoint.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracenorm;
  FuzzedDataProvider bytes(data, size);
  const fuzz::FuzzedProblem made = fuzz::fuzzed_problem(bytes);
  const double leg = bytes.ConsumeFloatingPointInRange(5.0, 60.0);
  fuzz::may_refuse([&] {
    Checkpoint last;
    const auto solved_from = [&](const Checkpoint& from, bool keeps) {
      Checkpoints checkpoints(from, "it",
                              [&](const Checkpoint& checkpoint) {
                                if (keeps && !checkpoint.current.empty()) last = checkpoint;
                              },
                              {.seconds = 0, .leg_passes = leg});
      RunHooks hooks;
      hooks.checkpoints = &checkpoints;
      return solve(made.problem, made.method, made.run, hooks);
    };
    const Result result = solved_from({}, true);
    require(result.status != Status::numerical_failure);
    require(std::isfinite(result.objective));
    require(result.trace_norm <= made.problem.radius());
    require(result.lower_bound <= result.objective);
    last.answers.clear();
    if (last.current.empty()) return;
    const Result again = solved_from(last, false);
    require(again.objective == result.objective && again.lower_bound == result.lower_bound);
    require(again.solution.left() == result.solution.left() && again.solution.right() == result.solution.right());
  });
  return 0;
}
