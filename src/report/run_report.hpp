// Everything that is said about a run, gathered once; to_json and to_text say it to a machine and to a person.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/named_value.hpp"
#include "tracenorm/claim.hpp"
#include "tracenorm/covariance.hpp"
#include "tracenorm/fit.hpp"

namespace tracenorm::report {

/// A pair that was not observed, its score, and whether it is of the kind that should score high.
struct ScoredPair {
  Index row = 0;
  Index col = 0;
  double score = 0;
  bool positive = false;
};

/// A pair without a link that may well have one.
struct LikelyLink {
  Index row = 0;
  Index col = 0;
  double score = 0;
  double share = 0;  ///< of links among held-out pairs with such a score; NaN where none were held out
};

/// A point of the ROC curve: the shares of negatives and of positives that score at least as high as some threshold.
struct RocPoint {
  double negatives = 0;
  double positives = 0;
};

/// A fit, and what its caller knows about it.
struct RunReport : Fit {
  std::string command{};
  std::string data{};                 ///< the file the problem came from
  std::string columns{};              ///< which columns of it were taken, in words; empty where there was no choice
  DataKind kind = DataKind::entries;  ///< how the file became entries
  Entries replaced{};                 ///< raw values that the command put in place of the file's
  std::vector<NamedValue> options{};  ///< those that neither problem, method nor run know of
  Labels rows{};
  Labels cols{};
  std::optional<CovarianceEstimate> covariance{};  ///< where X is a part of one
  std::optional<HeldOut> test{};
  std::vector<RocPoint> roc{};          ///< where scores tell two classes apart
  std::vector<ScoredPair> top_pairs{};  ///< with the highest scores, best first
  std::vector<LikelyLink> likely{};     ///< where they were asked for, most likely first
  std::vector<std::string> written{};   ///< the files that were written
};

/// One JSON object and a line end. What is not a finite number is null.
std::string to_json(const RunReport& report);

/// A fact about a run for people. An empty label: the value goes on with what stands above.
struct SummaryLine {
  enum class About : std::uint8_t { anything, status, path };  ///< for those who say more of it elsewhere

  std::string label;
  std::string value;
  About about = About::anything;
};

/// What a person should know of the run, in order; the certificate has its own sentence.
std::vector<SummaryLine> summary(const RunReport& report);

/// The summary as it stands on a terminal, certificate included.
std::string to_text(const RunReport& report);

/// Every option of the run, given or not, by its name in the JSON.
std::vector<NamedValue> all_options(const RunReport& report);

/// What ran: version, compiler, instruction set, threads, seed.
std::vector<NamedValue> environment(const RunReport& report);
std::vector<NamedValue> environment(const Environment& environment);

/// The answer with its names, and with a JSON inside that says what was solved and how well.
Model make_model(const RunReport& report);

/// The bound on the trace norm; nothing for a method without one.
std::optional<double> radius(const RunReport& report);

/// The part of the objective that a bounded method would see; nothing where that is all of it.
std::optional<double> objective_without_trace_penalty(const RunReport& report);

/// Whether the lower bound says more than that no entry can cost less than its own minimum, which needs no proof.
bool has_useful_bound(const RunReport& report);

/// "certified: objective is at most 1.2 % above the optimum (proof: cholesky)", or that nothing was certified, why, and
/// what would help.
std::string certificate_sentence(const RunReport& report);

}  // namespace tracenorm::report
