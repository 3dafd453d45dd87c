// A run that takes a moment, and its checkpoints.
#pragma once

#include "tracenorm/checkpoint.hpp"

namespace tracenorm::fuzz {

inline const Problem& small_problem() {
  static const Problem problem = [] {
    Entries entries;
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j < 5; ++j) {
        if ((i * 7 + j * 3) % 4 == 0) continue;
        entries.row.push_back(i);
        entries.col.push_back(j);
        entries.value.push_back(Real((i * j) % 5) - 2);
      }
    }
    return Problem{make_sparse(6, 5, entries), losses::Absolute{}, NoPenalty{}, TraceNormBall{8}};
  }();
  return problem;
}

inline Result small_run(const Checkpoint& from, Checkpoint* last = nullptr) {
  RunOptions run;
  run.iterations = 12;
  run.threads = 1;
  Checkpoints checkpoints(from, "it",
                          [&](const Checkpoint& checkpoint) {
                            if (last != nullptr && !checkpoint.current.empty()) *last = checkpoint;
                          },
                          {.seconds = 0, .leg_passes = 20});
  RunHooks hooks;
  hooks.checkpoints = &checkpoints;
  return solve(small_problem(), methods::FrankWolfe{}, run, hooks);
}

inline const Checkpoint& small_checkpoint() {
  static const Checkpoint made = [] {
    Checkpoint last;
    small_run({}, &last);
    last.answers.clear();
    return last;
  }();
  return made;
}

}  // namespace tracenorm::fuzz
