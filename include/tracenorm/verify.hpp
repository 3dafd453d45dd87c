// Checks a claim from scratch: with plain code of its own, in double, with every rounding error bounded. What it shares
// with the solver is the readers of files and LAPACK.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracenorm/claim.hpp"
#include "tracenorm/model.hpp"

namespace tracenorm {

/// The data in raw units, with the rows and columns of the model.
struct GivenData {
  Index rows = 0;
  Index cols = 0;
  Entries entries{};               ///< in any order; the claim may be about some of them
  std::vector<Real> weight{};      ///< empty, or one per entry
  std::optional<Real> unstored{};  ///< the value of entries that are not listed; empty: they are missing
};

struct VerifyOptions {
  int threads = 0;             ///< 0: all cores
  Index largest_gram = 20000;  ///< up to this many rows or columns sigma_1 is bounded by a factorisation (8 bytes times
                               ///< the square of it in memory), above by a random start
  double failure_probability = 1e-9;    ///< of the bound from a random start
  std::optional<std::uint64_t> seed{};  ///< of that start; empty: from the system, so that nobody can know it before
};

struct VerificationStep {
  std::string name;  ///< "files", "data", "radius", "objective", "slopes", "norm", "bound"
  bool holds = false;
  std::string says;
};

struct Verification {
  enum class Verdict { proved, probable, refuted };
  Verdict verdict = Verdict::refuted;
  double failure_probability = 0;       ///< of the verdict `probable`
  std::vector<VerificationStep> steps;  ///< in order; the last one is where a refuted claim failed

  // What was proved, as far as the steps went; NaN beyond.
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  double trace_norm = kUnknown;    ///< of the answer: at most
  double objective = kUnknown;     ///< of the answer: at most
  double norm = kUnknown;          ///< sigma_1 of the slopes: at most
  double lower_bound = kUnknown;   ///< of every objective: at least
  double relative_gap = kUnknown;  ///< (objective - lower_bound) / |lower_bound|
};
std::string_view to_string(Verification::Verdict verdict);

/// Throws an input error where nothing can be said (a loss that is a function of one's own); everything else is part of
/// the answer.
Verification verify(const Claim& claim, const GivenData& data, const Model& answer, const VerifyOptions& options = {});

/// For people: a line per step, and the verdict.
std::string to_text(const Verification& verification);

}  // namespace tracenorm
