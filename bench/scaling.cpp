// One run of FWUA on a made-up pattern of a given size: memory, seconds per iteration, cost per entry and pass. Prints
// a JSON object.
//
// Usage: tracenorm_scaling ROWS COLS ENTRIES ITERATIONS [THREADS [BACKEND]]
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <string>

#include "patterns.hpp"
#include "tracenorm/solve.hpp"

int main(int argc, char** argv) {
  using namespace tracenorm;
  if (argc < 5) {
    fmt::print(stderr, "usage: tracenorm_scaling ROWS COLS ENTRIES ITERATIONS [THREADS [BACKEND]]\n");
    return 2;
  }
  const auto rows = static_cast<Index>(std::stol(argv[1]));
  const auto cols = static_cast<Index>(std::stol(argv[2]));
  const auto wanted = static_cast<Offset>(std::stod(argv[3]));
  RunOptions options;
  options.iterations = std::stoi(argv[4]);
  options.threads = argc > 5 ? std::stoi(argv[5]) : 0;
  options.backend = argc > 6 ? argv[6] : "cpu";
  const double radius = 6 * std::sqrt(static_cast<double>(wanted));
  const Problem problem{bench::make_ratings(rows, cols, wanted), losses::Absolute{}, NoPenalty{},
                        TraceNormBall{radius}};
  methods::FrankWolfe method;
  method.oracle_tolerance = 1e-3;  // made-up ratings are easy: without this every pair would take one product
  const Result result = solve(problem, method, options);
  const Iteration& first = result.trace.front();
  const Iteration& last = result.trace[result.trace.size() - 2];  // the last one certifies
  const auto entries = static_cast<double>(observed(problem.observations));
  const double seconds = last.seconds - first.seconds;
  const double passes = last.counters.passes - first.counters.passes;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double peak = 1024.0 * static_cast<double>(usage.ru_maxrss);
  fmt::print(
      "{{\"rows\": {}, \"cols\": {}, \"entries\": {:.0f}, \"iterations\": {}, \"objective\": {:.9g}, "
      "\"seconds_per_iteration\": {:.4g}, \"passes_per_iteration\": {:.2f}, \"ns_per_entry_and_pass\": {:.3f}, "
      "\"peak_bytes\": {:.0f}, \"bytes_per_entry\": {:.1f}}}\n",
      rows, cols, entries, last.k, last.objective, seconds / (last.k - first.k), passes / (last.k - first.k),
      1e9 * seconds / passes / entries, peak, peak / entries);
  return 0;
}
