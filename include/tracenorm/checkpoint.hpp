// Nothing that was solved is lost: what is needed to go on with a run, whenever the process that ran it ended.
//
// With checkpoints a solve is cut into legs at places that the data and the work decide, never the clock. At the end of
// a leg the solve lets go of everything but a `State`, and goes on from that alone, as a resumed one does: both end
// with the same bits. The clock decides only which of the states are written.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tracenorm/problem.hpp"
#include "tracenorm/run.hpp"
#include "tracenorm/solve.hpp"
#include "tracenorm/state.hpp"

namespace tracenorm {

/// What was solved so far, in order: a search for settings solves many problems, and repeats all else that it does.
struct Checkpoint {
  State run{};                   ///< the caller's own
  std::vector<State> answers{};  ///< of the solves that are done
  State current{};               ///< where the solve under way stands, or stood before it was done; empty: at its start
};

/// What a solve was asked for: whether a state belongs to it.
struct SolveIdentity {
  std::string data;     ///< a checksum of the entries, the start and the held-out entries
  std::string options;  ///< "method = 'fwua'; radius = 30; ..."
  std::string limits;   ///< "iterations = 500; ..."; they may change while a run goes on
};
SolveIdentity identity_of(const Problem& problem, const Method& method, const RunOptions& run, const RunHooks& hooks);

struct CheckpointOptions {
  double seconds = 600;                ///< about how often one is written
  std::optional<double> leg_passes{};  ///< how much work a leg is; empty: by the number of entries
};

/// Follows the solves of one run, one after the other (not at once). A run that goes on from a checkpoint repeats what
/// led to it: solves that are done answer at once, the one under way goes on.
class Checkpoints {
 public:
  /// Called with what is to be written; its errors end the run.
  using Write = std::function<void(const Checkpoint&)>;
  /// `name` is how messages call the checkpoint that the run goes on from.
  Checkpoints(Checkpoint from, std::string name, Write write, const CheckpointOptions& options = {});

  /// Whether anything is written any more: not after a solve that was interrupted.
  [[nodiscard]] bool open() const { return open_; }
  [[nodiscard]] double leg_passes(Offset entries) const;

  /// The answer of the solve that comes next, if it is known; the last one only where its limits are still the same.
  /// Throws an input error when the checkpoint is of another.
  [[nodiscard]] std::optional<Result> answer(const SolveIdentity& identity);
  /// Where it stands; null: at its start.
  [[nodiscard]] const State* current(const SolveIdentity& identity);
  /// The end of a leg. Returns where the state is from now on.
  const State* stand(const SolveIdentity& identity, State state);
  /// It is done, or was stopped before it was.
  void finish(const SolveIdentity& identity, const Result& result);
  /// Writes what there is, due or not.
  void write();

 private:
  void check(const SolveIdentity& identity, const State& state) const;
  void sign(const SolveIdentity& identity, State& state) const;
  void write_if_due();

  Checkpoint checkpoint_;
  std::string name_;
  Write write_;
  CheckpointOptions options_;
  std::size_t next_ = 0;  // which solve
  bool open_ = true;
  std::chrono::steady_clock::time_point written_ = std::chrono::steady_clock::now();
  double cost_ = 0;  // of the last one, in seconds
};

}  // namespace tracenorm
