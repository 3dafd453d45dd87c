// The summary a person reads at the end of a run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/memory.hpp"
#include "report/run_report.hpp"
#include "tracenorm/options.hpp"

namespace tracenorm::report {

namespace {

std::string line_text(std::string_view label, std::string_view value) {
  return fmt::format("{:<18} {}\n", label, value);
}

std::string preparation_words(const Preparation& preparation) {
  using Kind = Preparation::Kind;
  switch (preparation.kind) {
    case Kind::none:
      return {};
    case Kind::center:
      return fmt::format(", minus the mean {:.5g}", preparation.offset);
    case Kind::zscore:
      return fmt::format(", z-scores (mean {:.5g}, deviation {:.5g})", preparation.offset, preparation.scale);
    case Kind::rows:
    case Kind::columns:
    case Kind::both:
      break;
  }
  const std::string_view sides = preparation.kind == Kind::rows      ? "rows"
                                 : preparation.kind == Kind::columns ? "columns"
                                                                     : "rows and columns";
  return fmt::format(", minus offsets of {} (around {:.5g}), in deviations of {:.5g}", sides, preparation.offset,
                     preparation.scale);
}

std::string data_line(const RunReport& report) {
  const Observations& data = report.problem.observations;
  const double all = static_cast<double>(rows(data)) * static_cast<double>(cols(data));
  const auto seen = observed(data);
  std::string line = fmt::format("{}: {} x {}, {} observed ({:.3g} %)", report.data, rows(data), cols(data), seen,
                                 100.0 * static_cast<double>(seen) / all);
  return line + preparation_words(report.preparation);
}

/// What keeps the answer low-rank.
std::string restraint(const RunReport& report) {
  std::vector<std::string> parts;
  if (const auto bound = radius(report)) {
    const bool weighted = report.norm_weights.power > 0;
    parts.push_back(fmt::format("{}trace norm at most {:.6g}{}", weighted ? "weighted " : "", *bound,
                                report.path.empty() ? "" : " (chosen)"));
  }
  if (const auto weight = trace_penalty(report.method)) {
    parts.push_back(fmt::format("{:.7g} times the trace norm", *weight));
  }
  for (const Option& option : options_of(report.method)) {
    const auto* rank = option.field.name == "rank" ? std::get_if<std::int64_t>(&option.value) : nullptr;
    if (rank != nullptr && *rank > 0) parts.push_back(fmt::format("rank at most {}", *rank));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string problem_line(const RunReport& report) {
  const Problem& problem = report.problem;
  std::string line = fmt::format("{} loss, {}", to_string(problem.loss), restraint(report));
  if (const auto* l1 = std::get_if<L1Penalty>(&problem.penalty)) line += fmt::format(", l1 penalty {:.4g}", l1->lambda);
  if (const auto* complement = std::get_if<ComplementSquaredPenalty>(&problem.penalty)) {
    line += fmt::format(", penalty {:.4g} on the squares of the unobserved", complement->lambda);
  }
  return line;
}

std::string method_line(const RunReport& report) {
  std::string line = report.result.method;
  for (const Option& option : options_of(report.method)) {
    const auto* word = std::get_if<std::string>(&option.value);
    if (word == nullptr) continue;
    if (option.field.name == "width" && option.words.size() > 1) line += fmt::format(" ({} width)", *word);
    if (*word == "line-search") line += " with line search";
  }
  if (std::holds_alternative<methods::Glrl>(report.method)) line += " (our reading)";
  return line;
}

std::string objective_line(const RunReport& report) {
  std::string line = fmt::format("{:.6g}", report.result.objective);
  if (const auto bounded = objective_without_trace_penalty(report)) {
    line += fmt::format(" ({:.6g} without the trace norm)", *bounded);
  }
  return line;
}

/// What the trace norm of the answer to a penalised problem is good for. Before convergence it is not that of the
/// optimum (usually larger).
std::string_view trace_norm_remark(const Result& result) {
  if (result.trace_norm == 0) return " (the penalty leaves nothing)";
  const bool settled =
      result.status == Status::converged || result.status == Status::optimal || result.status == Status::gap_reached;
  const bool last = result.solution_iteration == result.iterations;  // not an earlier one that validation chose
  if (!settled || !last) return " (radius for the bounded methods, but not converged)";
  return " (radius for the bounded methods)";
}

std::string trace_norm_line(const RunReport& report) {
  return fmt::format("{:.6g}{}", report.result.trace_norm,
                     trace_penalty(report.method) ? trace_norm_remark(report.result) : "");
}

std::string iterations_line(const Result& result) {
  std::string line = std::to_string(result.iterations);
  if (result.solution_iteration != result.iterations) {
    line += fmt::format(" (best on validation: {})", result.solution_iteration);
  }
  return line;
}

/// Very short runs need decimals, long ones do not.
std::string seconds_text(double seconds) {
  return seconds < 100 ? fmt::format("{:.3g}", seconds) : fmt::format("{:.0f}", seconds);
}

/// Where the time went, and the most memory that it took.
std::string profile_line(const std::vector<PhaseCost>& profile) {
  std::vector<std::string> parts;
  for (const PhaseCost& cost : profile) {
    parts.push_back(fmt::format("{} {} s", cost.phase, seconds_text(cost.seconds)));
    if (cost.passes > 0) parts.back() += fmt::format(" ({:.0f} passes)", cost.passes);
  }
  return fmt::format("{}; at most {}", fmt::join(parts, ", "), bytes_text(profile.back().peak_bytes));
}

/// What is proved is about the answer; what is predicted may be another matrix.
std::string prediction_line(const Refit& refit) {
  if (!refit.taken) return fmt::format("the answer itself; {} held-out entries ask for nothing else", refit.entries);
  const std::string gain = refit.gain == refit.small_gain ? fmt::format("{:.3g}", refit.gain)
                                                          : fmt::format("{:.3g} (the largest) to {:.3g} (the smallest)",
                                                                        refit.gain, refit.small_gain);
  return fmt::format(
      "singular values of the answer times {}, as {} held-out entries have it; what is certified is the "
      "answer",
      gain, refit.entries);
}

/// How many of how many, and per cent.
std::string share_text(Offset part, Offset all) {
  return fmt::format("{} of {} ({:.3g} %)", part, all, 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

void add_covariance(std::vector<SummaryLine>& lines, const CovarianceEstimate& estimate) {
  const Offset variables = estimate.deviation.size();
  const Offset pairs = variables * (variables - 1) / 2;
  std::string samples = fmt::format("{} of {} variables", estimate.samples, variables);
  if (estimate.missing > 0)
    samples += "; missing values: " + share_text(estimate.missing, estimate.samples * variables);
  if (estimate.rare > 0) samples += fmt::format("; pairs with too few samples: {}", share_text(estimate.rare, pairs));
  lines.push_back({"samples", samples});
  if (estimate.far > 0) {
    lines.push_back({"far values", fmt::format("{}: further than {:g} robust deviations from the median",
                                               share_text(estimate.far, estimate.samples * variables), kFarValue)});
  }
  lines.push_back({"zero covariances", fmt::format("{} pairs", share_text(estimate.zeros, pairs))});
}

std::string likely_line(const RunReport& report, const LikelyLink& link) {
  return fmt::format("{} {} {}  {:.4f}  {}", report.rows.name(link.row), report.kind == DataKind::directed ? "->" : "-",
                     report.cols.name(link.col), link.score,
                     std::isnan(link.share) ? "(none were held out)" : fmt::format("{:.1f} %", 100 * link.share));
}

std::string held_out_line(const HeldOut& held_out, const Preparation& preparation) {
  std::vector<std::string> parts;
  if (held_out.rmse) parts.push_back(fmt::format("RMSE {:.4f}, MAE {:.4f}", *held_out.rmse, *held_out.mae));
  if (held_out.rmse_prepared && preparation.scale != 1) {
    parts.push_back(fmt::format("z-RMSE {:.4f}, z-MAE {:.4f}", *held_out.rmse_prepared, *held_out.mae_prepared));
  }
  if (held_out.auc) {
    parts.push_back(std::isnan(*held_out.auc) ? "AUC undefined (only one class)"
                                              : fmt::format("AUC {:.4f}", *held_out.auc));
  }
  if (held_out.average_precision && !std::isnan(*held_out.average_precision)) {
    parts.push_back(fmt::format("average precision {:.4f}", *held_out.average_precision));
  }
  std::string line = fmt::format("{} ({} entries", fmt::join(parts, "; "), held_out.entries);
  if (held_out.unknown > 0) {
    line += fmt::format("; {} of them of a row or column without training data, predicted by what else is known",
                        held_out.unknown);
  }
  return line + ")";
}

std::string text_of(const std::monostate&) { return "none"; }
std::string text_of(bool value) { return value ? "yes" : "no"; }
std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(std::uint64_t value) { return std::to_string(value); }
std::string text_of(double value) { return fmt::format("{:.7g}", value); }
std::string text_of(const std::string& value) { return value; }
std::string text_of(const std::vector<std::string>& value) { return fmt::format("{}", fmt::join(value, ", ")); }

/// The gap as a share says nothing when the bound is not positive; the plain difference does.
std::string certified_excess(const Result& result) {
  if (result.lower_bound > 0) return fmt::format("{:.3g} %", 100 * result.relative_gap);
  return fmt::format("{:.4g}", std::max(0.0, result.objective - result.lower_bound));
}

std::string proof_text(const Certificate& certificate) {
  if (certificate.proof != SpectralBound::Proof::probabilistic) return std::string(to_string(certificate.proof));
  return fmt::format("probabilistic, wrong with probability at most {:.1g}", certificate.failure_probability);
}

/// One line per radius, with a bar as long as the validation error is above the best one: the path as a chart.
void add_path(std::vector<SummaryLine>& lines, const RunReport& report) {
  if (report.path.empty()) return;
  const auto error = [](const RadiusStep& step) { return step.validation_error; };
  double lowest = error(report.path.front());
  double highest = lowest;
  bool penalties = false;
  bool losses = false;
  double seconds = 0;
  for (const RadiusStep& step : report.path) {
    lowest = std::min(lowest, error(step));
    highest = std::max(highest, error(step));
    penalties = penalties || step.lambda > 0;
    losses = losses || step.loss != report.path.front().loss;
    seconds += step.seconds;
  }
  constexpr double kCells = 30;
  std::string label = "radius path";
  for (std::size_t s = 0; s < report.path.size(); ++s) {
    const RadiusStep& step = report.path[s];
    const double share = highest > lowest ? (error(step) - lowest) / (highest - lowest) : 0.0;
    const std::string lambda = penalties ? fmt::format("l1 {:<9.4g} ", step.lambda) : "";
    const std::string loss = losses ? fmt::format("{:<10} ", step.loss) : "";
    const std::string turn = step.turn > 0   ? fmt::format(" turn {}", step.turn)
                             : step.turn < 0 ? " offsets before X"
                                             : "";
    const bool all_rows = report.searched && s >= static_cast<std::size_t>(report.searched->settings);
    lines.push_back({label,
                     fmt::format("{}{}{:<10.5g} validation error {:.5f} {} {:#<{}}{}{}", lambda, loss, step.radius,
                                 error(step), s == report.path_best ? "<-" : "  ", "",
                                 static_cast<int>(std::lround(share * kCells)), turn, all_rows ? " (all rows)" : ""),
                     SummaryLine::About::path});
    label.clear();
  }
  std::string settings = fmt::format("{} settings in {} seconds", report.path.size(), seconds_text(seconds));
  if (report.searched) {
    settings += fmt::format(", {} of them on a random share of the rows: {} rows with {} entries",
                            report.searched->settings, report.searched->rows, report.searched->entries);
  }
  lines.push_back({"", std::move(settings), SummaryLine::About::path});
}

/// A bound by the entries' own minima says something once this share of the way to them is left.
constexpr double kNearMinima = 1e-3;

}  // namespace

std::optional<double> radius(const RunReport& report) {
  if (!is_bounded(report.method)) return std::nullopt;
  return report.problem.radius();
}

std::optional<double> objective_without_trace_penalty(const RunReport& report) {
  const std::optional<double> penalty = trace_penalty(report.method);
  if (!penalty) return std::nullopt;
  return report.result.objective - *penalty * report.result.trace_norm;
}

bool has_useful_bound(const RunReport& report) {
  const Result& result = report.result;
  if (!std::isfinite(result.lower_bound) || result.certificate.proof == SpectralBound::Proof::none) return false;
  if (result.certificate.slopes != Slopes::zero) return true;
  // Each entry minimised on its own: that proves something only where (nearly) all of them are at their minima.
  double first = std::abs(result.objective);
  for (const Iteration& iteration : result.trace) first = std::max(first, iteration.objective);
  return result.objective - result.lower_bound <= kNearMinima * (first - result.lower_bound);
}

std::string certificate_sentence(const RunReport& report) {
  const Result& result = report.result;
  if (!is_convex(report.method)) return fmt::format("no certificate: {} is nonconvex", result.method);
  if (!std::isfinite(result.lower_bound) || result.certificate.proof == SpectralBound::Proof::none) {
    return "not certified: no lower bound of the optimum was found";
  }
  if (!has_useful_bound(report)) {
    return fmt::format(
        "no useful bound yet: all that is known is that no objective is below {:.4g}; more iterations, or "
        "a gap to reach (--gap 0.01), would prove more",
        result.lower_bound + 0.0);
  }
  return fmt::format("certified: objective is at most {} above the optimum{} (proof: {})", certified_excess(result),
                     trace_penalty(report.method) ? " of the penalised problem" : "", proof_text(result.certificate));
}

std::string value_text(const NamedValue& named) {
  return std::visit([](const auto& value) { return text_of(value); }, named.value);
}

std::string to_text(const std::vector<NamedValue>& values) {
  std::string text;
  for (const NamedValue& named : values) {
    std::string label = named.name;
    std::replace(label.begin(), label.end(), '_', ' ');
    text += line_text(label, value_text(named));
  }
  return text;
}

std::vector<SummaryLine> summary(const RunReport& report) {
  const Result& result = report.result;
  std::vector<SummaryLine> lines{{"data", data_line(report)}};
  if (!report.columns.empty()) lines.push_back({"columns", report.columns});
  if (report.covariance) add_covariance(lines, *report.covariance);
  lines.insert(lines.end(), {{"problem", problem_line(report)}, {"method", method_line(report)}});
  if (const ValueRange& range = report.preparation.range; range.bounded()) {
    lines.push_back(
        {"predictions", fmt::format("kept within {:.5g} to {:.5g}, the ends of the data", range.lower, range.upper)});
  }
  add_path(lines, report);
  const std::string bound = !std::isfinite(result.lower_bound) ? "none"
                            : has_useful_bound(report)         ? fmt::format("{:.6g}", result.lower_bound + 0.0)
                                                               : "none yet";
  lines.insert(lines.end(), {{"status", result.message, SummaryLine::About::status},
                             {"objective", objective_line(report)},
                             {"lower bound", bound},
                             {"rank", std::to_string(result.solution.terms())},
                             {"trace norm", trace_norm_line(report)},
                             {"iterations", iterations_line(result)},
                             {"seconds", seconds_text(result.seconds)}});
  if (!report.profile.empty()) lines.push_back({"profile", profile_line(report.profile)});
  if (report.refit) lines.push_back({"predictions", prediction_line(*report.refit)});
  if (report.validation) lines.push_back({"validation", held_out_line(*report.validation, report.preparation)});
  if (report.test) lines.push_back({"test", held_out_line(*report.test, report.preparation)});
  if (!report.likely.empty())
    lines.push_back({"likely",
                     "links that are not in the data, most likely first: score, and share of links among held-out "
                     "pairs with such a score"});
  for (const LikelyLink& link : report.likely) lines.push_back({"", likely_line(report, link)});
  if (!report.written.empty()) lines.push_back({"written", fmt::format("{}", fmt::join(report.written, ", "))});
  return lines;
}

std::string to_text(const RunReport& report) {
  std::string text;
  for (const SummaryLine& line : summary(report)) {
    const bool explained = line.about == SummaryLine::About::status;  // the page has an anchor for each
    text += line_text(line.label, explained ? fmt::format("{} (docs: troubleshooting#{})", line.value,
                                                          to_string(report.result.status))
                                            : line.value);
  }
  return text + certificate_sentence(report) + "\n";
}

}  // namespace tracenorm::report
