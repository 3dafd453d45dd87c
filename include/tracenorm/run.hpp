// What is asked of a run, what is handed to it, what one iteration records, what comes back, and who listens.
#pragma once

#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracenorm/certificate.hpp"
#include "tracenorm/field.hpp"
#include "tracenorm/low_rank_matrix.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm {

class Backend;
class Checkpoints;
class Observer;
class Ranks;

/// What "best on the validation entries" means: the least root mean square error, or the least mean loss (which
/// outliers among them do not dominate when the loss is robust, and which suits labels).
enum class ValidationMeasure { rmse, loss };

/// Plain values: they can be kept, compared and written down.
struct RunOptions {
  int iterations = 500;           ///< at most this many
  std::optional<double> gap;      ///< stop at this certified relative gap
  std::optional<double> seconds;  ///< stop after this much wall-clock time (makes a run unrepeatable)
  std::uint64_t seed = 1;         ///< of the start vectors of the singular-pair solver
  int threads = 0;                ///< 0: all cores. The result does not depend on it
  double certificate_share =
      0.1;  ///< certificates may use this share of the passes; 0 switches them off but for the last
  ValidationMeasure validation_measure = ValidationMeasure::rmse;
  int patience = 0;              ///< with validation: stop after this many iterations without improvement; 0: never
  bool keep_dual = false;        ///< keep the point that proves the lower bound: four bytes an entry
  std::string backend = "auto";  ///< where the entries live: "cpu", "cuda", or "auto"

  static const std::array<Field<RunOptions>, 8> fields;
};

/// The trace keeps a record of each iteration: more than this would fill the memory of a usual machine.
inline constexpr double kMostIterations = 1e7;

inline constexpr std::array<Field<RunOptions>, 8> RunOptions::fields{
    {{"iterations", &RunOptions::iterations, 0, kMostIterations, "stop after this many"},
     {"gap", &RunOptions::gap, kAboveZero, kUnlimited,
      "stop at this certified relative gap (0.01: proved to be within 1 % of the optimum)"},
     {"time", &RunOptions::seconds, 0, kUnlimited, "stop after this many seconds"},
     {"patience", &RunOptions::patience, 0, kMostIterations,
      "with validation entries: stop after this many iterations without a better one; 0: never"},
     {"certificate_share", &RunOptions::certificate_share, 0, 1,
      "share of the work that may go into lower bounds; 0: only one at the end"},
     {"seed", &RunOptions::seed, 0, 9.2e18, "of everything random; the same seed gives the same bits"},
     {"threads", &RunOptions::threads, 0, 4096, "0: all cores; the result does not depend on it"},
     {"backend", &RunOptions::backend, "auto|cpu|cuda",
      "where passes run; auto takes a CUDA device for large problems where there is one"}}};

/// What a run looks at while it goes on and that belongs to the caller. Each may be null; all outlive the call.
struct RunHooks {
  const LowRankMatrix* start = nullptr;  ///< where to begin, in the units of the prepared data; null: at zero. Shrunk
                                         ///< into the ball when outside. The fixed-rank methods do not use it
  LowRankMatrix* free_start = nullptr;  ///< null, or what `start` points to: it is emptied once the run has begun there
  const SideOffsets* start_offsets = nullptr;  ///< for problems with offsets; null: zeros
  const Entries* validation = nullptr;  ///< held-out entries in prepared units; the best iterate on them is returned,
                                        ///< unless a gap is asked for (and no patience): then the last one is
  Observer* observer = nullptr;
  const std::atomic<bool>* cancel = nullptr;  ///< set from a signal handler to stop after the current iteration
  const Backend* backend = nullptr;           ///< another place for the entries than the options say
  Checkpoints* checkpoints = nullptr;         ///< where the run is kept; see checkpoint.hpp
  Ranks* ranks = nullptr;  ///< processes that share the rows, of which this is one: each makes the same call with the
                           ///< same arguments (but observers and flags) and gets the same result; see ranks.hpp
};

/// One line of the trace. Iteration k describes X_k, before the step that makes X_{k+1}.
struct Iteration {
  int k = 0;
  double seconds = 0;
  double objective = 0;
  double lower_bound = -std::numeric_limits<double>::infinity();  ///< best certified so far
  double relative_gap = std::numeric_limits<double>::infinity();
  double width = 0;
  double step = 0;  ///< the step taken from here; 0 at the last one
  Index rank = 0;   ///< number of terms the iterate is stored with
  double sigma = 0;
  double validation_rmse = std::numeric_limits<double>::quiet_NaN();
  double validation_error = std::numeric_limits<double>::quiet_NaN();  ///< by the measure that was asked for
  Counters counters{};
};

enum class Status {
  not_run,
  gap_reached,      ///< the certified gap that was asked for
  iteration_limit,  ///< all iterations done
  time_limit,
  validation_limit,  ///< no better validation error for `patience` iterations
  converged,         ///< the method's own stopping rule, for methods without a certificate
  optimal,           ///< the linear gap and the slack vanished: nothing is left to improve
  precision_limit,   ///< the gap was reached, but not by the answer, which is rounded: less cannot be proved
  interrupted,       ///< cancelled, or the observer said stop
  numerical_failure
};
std::string_view to_string(Status status);
std::string_view to_string(SpectralBound::Proof proof);

/// How the reported lower bound was proved.
struct Certificate {
  SpectralBound::Proof proof = SpectralBound::Proof::none;
  double failure_probability = 0;  ///< of any bound of this run being wrong; 0 when proved
  Slopes slopes = Slopes::current;
};

struct Environment {
  std::string version;
  std::string compiler;
  std::string instruction_set;
  int threads = 0;
  std::uint64_t seed = 0;
  std::string backend = "cpu";
  int ranks = 1;                ///< processes
  std::int64_t messages = 0;    ///< calls by which they exchanged numbers, since the last checkpoint
  std::int64_t bytes_sent = 0;  ///< by the first of them
};

struct Result {
  Status status = Status::not_run;
  std::string message = "not run";
  std::string method;
  LowRankMatrix solution;                                       ///< a thin SVD
  SideOffsets offsets;                                          ///< fitted with it, where the problem has them
  double objective = std::numeric_limits<double>::quiet_NaN();  ///< of `solution`, in double, never too small
  double lower_bound = -std::numeric_limits<double>::infinity();
  double relative_gap = std::numeric_limits<double>::infinity();
  double trace_norm = std::numeric_limits<double>::quiet_NaN();  ///< of `solution`; at most the radius
  Certificate certificate;
  std::optional<DualPoint> dual;  ///< proves `lower_bound`; there when it was to be kept and a bound was proved
  int iterations = 0;             ///< steps taken
  int solution_iteration = 0;     ///< the iterate that is returned (the best on validation, or the last)
  double seconds = 0;
  double certificate_seconds = 0;  ///< the part of `seconds` spent on lower bounds
  double answer_seconds = 0;       ///< and on making the answer of the last iterate
  Counters counters{};
  std::vector<Iteration> trace;
  Environment environment;
};

/// A relative gap beyond this says nothing any more.
inline constexpr double kUselessGap = 1e100;

/// (objective - lower_bound) / |lower_bound|, never negative; infinite without a bound, beside a bound of zero, and
/// where a number is not finite.
double relative_gap(double objective, double lower_bound);

/// Who listens to a run. The library itself never prints.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = default;
  Observer& operator=(const Observer&) = default;
  virtual ~Observer() = default;
  /// Called after every iteration; returning false stops the run.
  virtual bool on_iteration(const Iteration& iteration, const RunOptions& options) = 0;
  /// Called when something begins that takes its time: "offsets of rows and columns", "radius 3 of about 9".
  virtual void on_phase(std::string_view /*what*/) {}
};

}  // namespace tracenorm
