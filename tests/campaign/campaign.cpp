// Random problems, solved by several methods in many ways, and judged: every bound against the best objective of all
// methods in long double, every objective against the truth, every status against its numbers, every certificate by
// `verify`.
//
//   tracenorm_campaign [--minutes M] [--problems N] [--seed FIRST] [--small FILE] [--backend cpu|cuda]
//
// --small writes the smallest problems with their best objective and bound, a line of JSON each, for the cone solver of
// tests/campaign/cone.py.
// Prints what it did as JSON; exit code 1 when anything was wrong. A violation names its seed: --seed S --problems 1.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/random.hpp"
#include "campaign/random_problem.hpp"
#include "campaign/truth.hpp"
#include "kernels/kernels.hpp"
#include "solver/norm_bound.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::campaign {
namespace {

struct Tally {
  int problems = 0;
  int answers = 0;
  int failures = 0;          ///< numerical failures, which are honest answers
  int bounds_violated = 0;   ///< a lower bound above the best objective
  int objectives_wrong = 0;  ///< an objective below the truth, or an answer outside the ball
  int statuses_wrong = 0;
  int verified = 0;
  int unproved = 0;     ///< answers that `verify` refutes
  int well_scaled = 0;  ///< answers of `corrective` to well-scaled problems, asked for a gap below 1e-6
  int tight = 0;        ///< how many of them have it
  std::map<std::string, int> proofs;
  std::map<std::string, int> statuses;

  [[nodiscard]] int wrong() const { return bounds_violated + objectives_wrong + statuses_wrong + unproved; }
};

/// How a problem is solved this time.
struct Way {
  Method method;
  RunOptions options;
  std::string name;
};

Way draw_way(Random& random, const char* method) {
  Way way{parse_method(method), {}, method};
  way.options.iterations = static_cast<int>(5 + random.below(60));
  if (const auto* corrective = std::get_if<methods::Corrective>(&way.method)) way.options.gap = corrective->tolerance;
  if (random.uniform() < 0.8) way.options.gap = std::pow(10.0, -1 - 9 * random.uniform());
  const double shares[] = {0, 0.1, 1};
  way.options.certificate_share = shares[random.below(3)];
  way.options.threads = random.uniform() < 0.9 ? 1 : 2;
  way.options.seed = 1 + random.below(1000);
  way.options.keep_dual = true;
  using Proof = SpectralBound::Proof;
  const std::optional<Proof> forced[] = {std::nullopt, Proof::exact, Proof::cholesky, Proof::probabilistic};
  const std::size_t which = random.below(4);
  force_proof(forced[which]);
  const kernels::InstructionSet sets[] = {kernels::InstructionSet::reference, kernels::InstructionSet::baseline,
                                          kernels::InstructionSet::avx2, kernels::InstructionSet::avx512};
  kernels::InstructionSet set = kernels::InstructionSet::baseline;
  const std::size_t wanted = random.below(4);
  if (kernels::available(sets[wanted])) set = sets[wanted];
  kernels::select(set);
  way.name = fmt::format("{}, {} iterations, gap {:.3g}, share {}, proof {}, {}", method, way.options.iterations,
                         way.options.gap.value_or(0), way.options.certificate_share,
                         forced[which] ? to_string(*forced[which]) : "any", kernels::to_string(set));
  return way;
}

/// Whether the status is what the numbers say.
bool status_fits(const Result& result, const RunOptions& options) {
  if (result.status == Status::numerical_failure)
    return !std::isfinite(result.objective) || std::isinf(result.relative_gap);
  if (!std::isfinite(result.objective) || result.relative_gap != relative_gap(result.objective, result.lower_bound)) {
    return false;
  }
  const bool reached = options.gap && result.relative_gap <= *options.gap;
  if (reached != (result.status == Status::gap_reached)) return false;
  return result.status != Status::optimal || result.relative_gap <= 1e-9;
}

class Judge {
 public:
  Judge(const RandomProblem& given, std::uint64_t seed, Tally& tally) : given_(given), seed_(seed), tally_(tally) {}

  void take(const Way& way, const Result& result) {
    ++tally_.answers;
    ++tally_.statuses[std::string(to_string(result.status))];
    if (!status_fits(result, way.options)) {
      complain(tally_.statuses_wrong, way,
               fmt::format("status {} with objective {:.17g}, lower bound {:.17g}, gap {:.17g}",
                           to_string(result.status), result.objective, result.lower_bound, result.relative_gap));
    }
    if (result.status == Status::numerical_failure) {
      ++tally_.failures;
      return;
    }
    ++tally_.proofs[std::string(to_string(result.certificate.proof))];
    const long double truth = true_objective(given_.problem, result);
    if (!(result.objective >= truth * (1 - 1e-16L) - 1e-300L)) {  // a double cannot say everything that is not zero
      complain(tally_.objectives_wrong, way,
               fmt::format("objective {:.17g} below the truth {:.20g}", result.objective, static_cast<double>(truth)));
    }
    const double norm = true_trace_norm(given_.problem, result.solution);
    if (!(norm <= given_.problem.radius() * (1 + 1e-13))) {
      complain(tally_.objectives_wrong, way, fmt::format("trace norm {:.17g}", norm));
    }
    if (const std::string wrong = wrong_shape(given_.problem, result.solution); !wrong.empty()) {
      complain(tally_.objectives_wrong, way, wrong);
    }
    if (truth < best_) best_ = truth, best_way_ = way.name;
    double bound = result.lower_bound;
    for (const Iteration& iteration : result.trace) bound = std::max(bound, iteration.lower_bound);
    if (bound > bound_) bound_ = bound, bound_way_ = way;
    if (given_.well_scaled && result.method == "corrective" && way.options.gap <= 1e-6) {
      ++tally_.well_scaled;
      tally_.tight += result.relative_gap <= 1e-6 ? 1 : 0;
    }
    check_certificate(way, result);
  }

  void conclude(std::FILE* small) {
    if (small != nullptr && given_.well_scaled && std::isfinite(bound_)) write_small(small);
    if (bound_ > best_) {
      complain(tally_.bounds_violated, bound_way_,
               fmt::format("bound {:.17g} above the objective {:.20g} of {}", bound_, static_cast<double>(best_),
                           best_way_));
    }
  }

 private:
  void check_certificate(const Way& way, const Result& result) {
    if (!result.dual || std::holds_alternative<losses::Custom>(given_.problem.loss)) return;
    Claim claim = claim_of(given_.problem, given_.preparation, result);
    Model model{result.solution, {}, {}, given_.preparation};
    if (given_.problem.offsets) {
      model.preparation.row_offset = in_raw_units(result.offsets.row);
      model.preparation.col_offset = in_raw_units(result.offsets.col);
    }
    const Verification verification = verify(claim, given_.raw, model, {.threads = 1, .seed = 1});
    ++tally_.verified;
    if (verification.verdict != Verification::Verdict::refuted) return;
    complain(tally_.unproved, way, "verify: " + verification.steps.back().name + ": " + verification.steps.back().says);
  }

  [[nodiscard]] std::vector<double> in_raw_units(std::vector<double> offsets) const {
    for (double& offset : offsets) offset *= given_.preparation.scale;
    return offsets;
  }

  /// In prepared units.
  void write_small(std::FILE* file) const {
    const Problem& problem = given_.problem;
    const auto* sparse = std::get_if<SparseObservations>(&problem.observations);
    const DenseObservations data =
        sparse != nullptr ? make_dense(*sparse) : std::get<DenseObservations>(problem.observations);
    if (problem.offsets || data.value.size() > 64 || std::holds_alternative<losses::Custom>(problem.loss)) return;
    std::string values;
    for (const Real y : data.value) {
      values += fmt::format("{}{}", values.empty() ? "" : ", ", std::isnan(y) ? "null" : fmt::format("{:.9g}", y));
    }
    fmt::print(file,
               "{{\"seed\": {}, \"rows\": {}, \"cols\": {}, \"values\": [{}], \"loss\": \"{}\", \"penalty\": \"{}\", "
               "\"symmetry\": \"{}\", \"radius\": {:.17g}, \"objective\": {:.17g}, \"bound\": {:.17g}}}\n",
               seed_, data.rows, data.cols, values, to_string(problem.loss), to_string(problem.penalty),
               to_string(problem.constraint.symmetry), problem.radius(), static_cast<double>(best_), bound_);
  }

  void complain(int& count, const Way& way, const std::string& what) {
    ++count;
    fmt::print(stderr, "seed {}: {}\n  {}\n  {}\n", seed_, given_.name, way.name, what);
  }

  const RandomProblem& given_;
  std::uint64_t seed_;
  Tally& tally_;
  long double best_ = std::numeric_limits<long double>::infinity();
  std::string best_way_;
  double bound_ = -std::numeric_limits<double>::infinity();
  Way bound_way_;
};

void run_problem(std::uint64_t seed, const std::string& backend, Tally& tally, std::FILE* small) {
  const RandomProblem given = random_problem(seed);
  Random random(seed + 0x5eed);
  Judge judge(given, seed, tally);
  ++tally.problems;
  const char* all[] = {"fwua", "rdfw", "corrective", "sccg", "hcgs"};
  for (int k = 0; k < 3; ++k) {
    Way way = draw_way(random, k == 0 ? "corrective" : all[random.below(5)]);
    const bool custom = std::holds_alternative<losses::Custom>(given.problem.loss);
    if (!custom && !given.problem.constraint.symmetric()) way.options.backend = backend;  // cuda refuses both
    RunHooks hooks;
    if (given.start.terms() > 0 && random.uniform() < 0.7) hooks.start = &given.start;
    judge.take(way, solve(given.problem, way.method, way.options, hooks));
  }
  judge.conclude(small);
}

std::string to_json(const std::map<std::string, int>& counts) {
  std::string json;
  for (const auto& [name, count] : counts) json += fmt::format("{}\"{}\": {}", json.empty() ? "" : ", ", name, count);
  return "{" + json + "}";
}

int run(int argc, char** argv) {
  double minutes = 0;
  int problems = 200;
  std::uint64_t seed = 1;
  std::FILE* small = nullptr;
  std::string backend = "cpu";
  for (int k = 1; k + 1 < argc; k += 2) {
    if (std::strcmp(argv[k], "--minutes") == 0) minutes = std::atof(argv[k + 1]), problems = 1 << 30;
    if (std::strcmp(argv[k], "--problems") == 0) problems = std::atoi(argv[k + 1]);
    if (std::strcmp(argv[k], "--small") == 0) small = std::fopen(argv[k + 1], "w");
    if (std::strcmp(argv[k], "--backend") == 0) backend = argv[k + 1];
    if (std::strcmp(argv[k], "--seed") == 0) seed = std::strtoull(argv[k + 1], nullptr, 10);
  }
  const auto begin = std::chrono::steady_clock::now();
  Tally tally;
  for (int k = 0; k < problems; ++k) {
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (minutes > 0 && elapsed > 60 * minutes) break;
    try {
      run_problem(seed + static_cast<std::uint64_t>(k), backend, tally, small);
    } catch (const std::exception& error) {
      fmt::print(stderr, "seed {}: {}\n", seed + static_cast<std::uint64_t>(k), error.what());
      ++tally.statuses_wrong;
    }
  }
  if (small != nullptr) std::fclose(small);
  fmt::print(
      "{{\"first_seed\": {}, \"problems\": {}, \"answers\": {}, \"numerical_failures\": {},\n \"bounds_violated\": {}, "
      "\"objectives_or_norms_wrong\": {}, \"statuses_wrong\": {},\n \"verified\": {}, \"refuted\": {}, "
      "\"tight_gaps\": {}, \"of\": {},\n \"proofs\": {}, \"statuses\": {}}}\n",
      seed, tally.problems, tally.answers, tally.failures, tally.bounds_violated, tally.objectives_wrong,
      tally.statuses_wrong, tally.verified, tally.unproved, tally.tight, tally.well_scaled, to_json(tally.proofs),
      to_json(tally.statuses));
  return tally.wrong() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tracenorm::campaign

int main(int argc, char** argv) { return tracenorm::campaign::run(argc, argv); }
