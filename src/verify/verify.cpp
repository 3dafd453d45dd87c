#include "tracenorm/verify.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>

#include "tracenorm/error.hpp"
#include "verify/checksums.hpp"
#include "verify/dual.hpp"
#include "verify/observed.hpp"
#include "verify/primal.hpp"
#include "verify/rounding.hpp"
#include "verify/spectral_norm.hpp"

namespace tracenorm {

namespace {

using namespace rigorous;

bool good_weights(const std::vector<double>& weight, Index count) {
  if (weight.size() != static_cast<std::size_t>(count)) return false;
  for (const double w : weight) {
    if (!(w > 0 && std::isfinite(w))) return false;
  }
  return true;
}

bool good_shifts(const std::vector<double>& ridge, const std::vector<double>& shift, Index count) {
  for (const double b : shift) {
    if (!std::isfinite(b)) return false;
  }
  return good_weights(ridge, count) && shift.size() == ridge.size();
}

/// The offsets of an answer as a model has them.
std::vector<double> in_raw_units(std::vector<double> shift, double scale) {
  for (double& b : shift) b *= scale;
  return shift;
}

/// What must be so before anything can be computed; empty: it is.
std::string misfit(const Claim& claim, const Model& answer) {
  const Index rows = claim.observed.rows();
  const Index cols = claim.observed.cols();
  if (answer.factors.rows() != rows || answer.factors.cols() != cols) {
    return fmt::format("the answer is {} x {}, the claim is about {} x {}", answer.factors.rows(),
                       answer.factors.cols(), rows, cols);
  }
  const Preparation& of_claim = claim.preparation;
  const Preparation& of_answer = answer.preparation;
  const auto same = [&](const std::vector<double>& claimed, const std::vector<double>& shift,
                        const std::vector<double>& answered) {
    return shift.empty() ? claimed == answered : claimed.empty() && in_raw_units(shift, of_claim.scale) == answered;
  };
  if (of_claim.kind != of_answer.kind || of_claim.offset != of_answer.offset || of_claim.scale != of_answer.scale ||
      !same(of_claim.row_offset, claim.row_shift, of_answer.row_offset) ||
      !same(of_claim.col_offset, claim.col_shift, of_answer.col_offset)) {
    return "the answer and the claim are in different units, or have different offsets";
  }
  const auto fits = [](const std::vector<double>& offset, Index count) {
    return offset.empty() || offset.size() == static_cast<std::size_t>(count);
  };
  if (!(std::isfinite(of_claim.offset) && std::isfinite(of_claim.scale) && of_claim.scale != 0) ||
      !fits(of_claim.row_offset, rows) || !fits(of_claim.col_offset, cols)) {
    return "the units of the claim are not usable";
  }
  const TraceNormBall& ball = claim.constraint;
  if (!(ball.radius >= 0 && std::isfinite(ball.radius))) return fmt::format("the radius is {}", ball.radius);
  if ((ball.weighted() || !ball.col_weight.empty()) &&
      !(good_weights(ball.row_weight, rows) && good_weights(ball.col_weight, cols))) {
    return "the weights of the norm must be positive, one a row and one a column";
  }
  if (ball.symmetric() && (rows != cols || ball.row_weight != ball.col_weight || !claim.row_ridge.empty())) {
    return "a symmetric problem is square, has the same weights for rows and columns, and no offsets";
  }
  if (!claim.row_ridge.empty() || !claim.col_ridge.empty() || !claim.row_shift.empty() || !claim.col_shift.empty()) {
    if (!std::holds_alternative<NoPenalty>(claim.penalty)) return "offsets in the answer go without a penalty";
    if (!good_shifts(claim.row_ridge, claim.row_shift, rows) || !good_shifts(claim.col_ridge, claim.col_shift, cols)) {
      return "offsets and their ridges must be finite, the ridges positive, one a row and one a column";
    }
  }
  if (answer.factors.terms() > 0 && !(answer.factors.left().allFinite() && answer.factors.values().allFinite() &&
                                      answer.factors.right().allFinite())) {
    return "the answer has numbers that are not finite";
  }
  return {};
}

std::string describe(const Observed& observed, const Claim& claim) {
  std::string text = fmt::format("{} x {}, {} observed entries", claim.observed.rows(), claim.observed.cols(),
                                 claim.observed.entries());
  if (observed.left_out > 0 && claim.kind == DataKind::entries) {
    text += fmt::format("; {} others are not part of the problem", observed.left_out);
  }
  if (claim.replaced.size() > 0) text += fmt::format("; {} values replaced on purpose", claim.replaced.size());
  return text;
}

std::string describe(const FeasibleSlopes& slopes) {
  std::string text = fmt::format("{} slopes in the domains of the conjugates, which add up to at most {:.17g}",
                                 slopes.slope.size(), slopes.conjugates);
  if (slopes.moved > 0) {
    text += fmt::format("; {} moved there from outside, by {:.2g} at most", slopes.moved, slopes.furthest);
  }
  return text;
}

/// Whether it is a sum of terms w u u' with w not below zero, as they stand.
bool is_semidefinite(const LowRankMatrix& x) {
  return x.terms() == 0 || (x.values().minCoeff() >= 0 && x.left() == x.right());
}

/// The largest sigma_1 with which the claim holds.
double norm_wanted(const Claim& claim, double conjugates) {
  if (claim.constraint.radius == 0) return kInfinite;
  // A hair less, so that what follows from it is not less than what is claimed.
  const double hair = 4 * std::numeric_limits<double>::epsilon() * (std::abs(conjugates) + std::abs(claim.lower_bound));
  return below(below(-conjugates - claim.lower_bound - hair) / claim.constraint.radius);
}

void take_steps(const Claim& claim, const GivenData& data, const Model& answer, const VerifyOptions& options,
                Verification& out) {
  const auto step = [&](const char* name, bool holds, std::string says) {
    out.steps.push_back({name, holds, std::move(says)});
    return holds;
  };
  const Execution execution(options.threads);
  std::string trouble = misfit(claim, answer);
  if (trouble.empty() && (claim.checksums.answer != checksum_of_answer(answer.factors))) {
    trouble = "the answer is not the one that the certificate was made for, or was changed since";
  }
  if (trouble.empty() && claim.checksums.dual != checksum_of_dual(claim.dual)) {
    trouble = "the slopes are not those that the certificate was made with";
  }
  if (!step("files", trouble.empty(), trouble.empty() ? "answer and certificate belong together" : trouble)) {
    return;
  }

  const Observed observed = observe(claim, data);
  trouble = observed.problem;
  if (trouble.empty() &&
      claim.checksums.data != checksum_of_data(observed.value.data(), claim.weighted ? observed.weight.data() : nullptr,
                                               claim.observed.entries())) {
    trouble = "the values are not those that the certificate was made for";
  }
  if (!step("data", trouble.empty(), trouble.empty() ? describe(observed, claim) : trouble)) return;

  out.trace_norm = trace_norm_above(answer.factors, claim.constraint);
  if (!step("radius", out.trace_norm <= claim.constraint.radius,
            fmt::format("trace norm of the answer at most {:.17g}; the radius is {:.17g}", out.trace_norm,
                        claim.constraint.radius))) {
    return;
  }
  const bool cone = claim.constraint.symmetry == Symmetry::semidefinite;
  if (cone && !step("cone", is_semidefinite(answer.factors), "the answer is a sum of terms w u u' with w >= 0")) return;
  const double objective = objective_above(claim, observed, answer.factors, execution);
  out.objective = objective;
  if (!step("objective", objective <= claim.objective,
            fmt::format("at most {:.17g}; claimed {:.17g}", objective, claim.objective))) {
    return;
  }
  const FeasibleSlopes slopes = feasible_slopes(claim, observed, execution);
  const bool feasible = slopes.problem.empty() && std::isfinite(slopes.conjugates);
  if (!step("slopes", feasible, slopes.problem.empty() ? describe(slopes) : slopes.problem)) return;

  const double wanted = norm_wanted(claim, slopes.conjugates);
  const NormBound norm = bound_norm(claim, slopes, wanted, options, execution);
  out.norm = norm.value;
  out.failure_probability = norm.failure_probability;
  const bool shown = norm.value <= wanted || norm.value == 0;
  const char* what = cone ? "largest eigenvalue of minus the slopes" : "largest singular value of the slopes";
  if (!step("norm", shown,
            shown ? fmt::format("{} at most {:.17g}: {}", what, norm.value, norm.how)
                  : fmt::format("the {} must be at most {:.17g} for the claimed bound, and that could not be shown",
                                what, wanted))) {
    return;
  }
  out.lower_bound = -tight_sum_above(slopes.conjugates, product_above(claim.constraint.radius, norm.value));
  if (!step("bound", out.lower_bound >= claim.lower_bound,
            fmt::format("every matrix in the {} has an objective of at least {:.17g}; claimed {:.17g}",
                        cone ? "cone" : "ball", out.lower_bound, claim.lower_bound))) {
    return;
  }
  out.verdict = norm.failure_probability > 0 ? Verification::Verdict::probable : Verification::Verdict::proved;
}

}  // namespace

namespace {

/// A model may predict by other singular values and offsets than those of the answer that the claim is about.
Model certified_part(const Model& model) {
  if (!model.certified) return model;
  const Reading& answer = *model.certified;
  Model part = model;
  if (answer.values.size() == static_cast<std::size_t>(model.factors.terms())) {
    Eigen::VectorXd values(model.factors.terms());
    for (std::size_t t = 0; t < answer.values.size(); ++t) values[static_cast<Eigen::Index>(t)] = answer.values[t];
    part.factors = LowRankMatrix(model.factors.left(), values, model.factors.right());
  }
  part.preparation.row_offset = answer.row_offset;
  part.preparation.col_offset = answer.col_offset;
  return part;
}

}  // namespace

std::string_view to_string(Verification::Verdict verdict) {
  switch (verdict) {
    case Verification::Verdict::proved:
      return "proved";
    case Verification::Verdict::probable:
      return "probable";
    default:
      return "refuted";
  }
}

Verification verify(const Claim& claim, const GivenData& data, const Model& answer, const VerifyOptions& options) {
  Verification out;
  take_steps(claim, data, certified_part(answer), options, out);
  if (out.verdict != Verification::Verdict::refuted) {
    out.relative_gap = (Range(out.objective) - out.lower_bound).upper;
    out.relative_gap =
        std::max(0.0, out.relative_gap) / std::max(std::abs(out.lower_bound), std::numeric_limits<double>::min());
  }
  return out;
}

std::string to_text(const Verification& verification) {
  std::string text;
  for (const VerificationStep& step : verification.steps) {
    fmt::format_to(std::back_inserter(text), "{:<10} {:<6}  {}\n", step.name, step.holds ? "ok" : "FAILED", step.says);
  }
  switch (verification.verdict) {
    case Verification::Verdict::proved:
      text += "proved";
      break;
    case Verification::Verdict::probable:
      text += fmt::format("proved up to probability {:g}", verification.failure_probability);
      break;
    default:
      return text + fmt::format("refuted: {}\n", verification.steps.empty() ? "" : verification.steps.back().name);
  }
  return text + fmt::format(
                    ": the objective of the answer is at most {:.17g}, the optimum at least {:.17g}; relative gap "
                    "{:.3g}\n",
                    verification.objective, verification.lower_bound, verification.relative_gap);
}

}  // namespace tracenorm
