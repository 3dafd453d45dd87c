#include "tracenorm/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/block_sums.hpp"
#include "base/topic.hpp"
#include "model/coded_data.hpp"
#include "model/custom_check.hpp"
#include "model/shared_rows.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

/// Where an entry stands, for messages.
std::string place(const Observations& observations, std::size_t entry) {
  if (const auto* sparse = std::get_if<SparseObservations>(&observations)) {
    Index row = 0;
    while (sparse->pattern.begin()[row + 1] <= static_cast<Offset>(entry)) ++row;
    return fmt::format("row {}, column {}", first_row(*sparse) + row,
                       sparse->pattern.col()[static_cast<Offset>(entry)]);
  }
  const auto cols = static_cast<std::size_t>(std::get<DenseObservations>(observations).cols);
  return fmt::format("row {}, column {}", entry / cols, entry % cols);
}

const Array<Real>& as_array(const Array<Real>& value) { return value; }
Array<Real> as_array(const DenseValues& value) { return value.plain(); }

/// Throws about an entry if it is wrong.
template <class Loss, class Values>
void check_entry(const Problem& problem, const Loss& loss, const Values& value, const Array<Real>& weight,
                 std::size_t e) {
  if (!loss.accepts(double(value[e]))) {
    throw TopicError(ErrorCode::input, Topic::unfit_values,
                     fmt::format("loss {} wants {}, but {} holds {}", to_string(problem.loss), Loss::wants,
                                 place(problem.observations, e), value[e]));
  }
  if (!weight.empty() && !(weight[e] > 0 && std::isfinite(weight[e]))) {
    throw TopicError(ErrorCode::input, Topic::unfit_values,
                     fmt::format("the weight at {} is {}; weights must be positive and finite",
                                 place(problem.observations, e), weight[e]));
  }
}

template <class Values>
void check_data(const Problem& problem, const Values& value, const Array<Real>& weight, bool holes, int threads) {
  // The function of a custom loss may throw, which only the calling thread can pass on.
  const Execution execution(std::holds_alternative<losses::Custom>(problem.loss) ? 1 : threads);
  std::visit(
      [&](const auto& loss) {
        if constexpr (std::is_same_v<Values, DenseValues>) {
          const auto accepted = [&](const auto& level) { return loss.accepts(double(level.first)); };
          const auto levels = count_levels(value);
          if (weight.empty() && !value.code().empty() && std::all_of(levels.begin(), levels.end(), accepted)) return;
        }
        const auto wrong = sum_over<1>(execution, value.size(), [&](std::size_t e, Sums<1>& count) {
          if (holes && std::isnan(value[e])) return;
          const bool right =
              loss.accepts(double(value[e])) && (weight.empty() || (weight[e] > 0 && std::isfinite(weight[e])));
          if (!right) ++count.of[0];
        });
        for (std::size_t e = 0; wrong.of[0] > 0 && e < value.size(); ++e) {
          if (!(holes && std::isnan(value[e]))) check_entry(problem, loss, value, weight, e);
        }
      },
      problem.loss);
  if (const auto* custom = std::get_if<losses::Custom>(&problem.loss)) {
    const Array<Real> plain = as_array(value);
    check_custom(*custom, {plain.data(), plain.size()}, problem.radius());
  }
}

void check_weights(std::string_view side, const std::vector<double>& weight, Index count) {
  if (weight.size() != static_cast<std::size_t>(count)) {
    throw Error(ErrorCode::usage, fmt::format("norm weights: {} weights for {} {}s; there must be one for each",
                                              weight.size(), count, side));
  }
  constexpr double least = 1e-9;  // products of two weights' inverses must stay far inside the range of Real
  constexpr double most = 1e9;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (weight[i] >= least && weight[i] <= most) continue;
    throw Error(ErrorCode::usage, fmt::format("norm weights: {} {} has weight {}; weights must be from {:g} to {:g}",
                                              side, i, weight[i], least, most));
  }
}

void check_symmetric(const Problem& problem) {
  if (problem.offsets) {
    throw Error(ErrorCode::usage, fmt::format("offsets of rows and columns and symmetry = {} do not go together; leave "
                                              "one of them out",
                                              to_string(problem.constraint.symmetry)));
  }
  if (problem.constraint.row_weight != problem.constraint.col_weight) {
    throw Error(ErrorCode::usage, "norm weights: those of a symmetric problem must be the same for rows and columns");
  }
  const std::string fault = asymmetry(problem.observations);
  if (!fault.empty()) {
    const bool square = rows(problem.observations) == cols(problem.observations);
    throw Error(ErrorCode::input,
                fmt::format("symmetry = {} wants symmetric data, but {}{}", to_string(problem.constraint.symmetry),
                            fault, square ? "; symmetrize takes the mean of the two" : ""));
  }
}

void check_constraint(const Problem& problem) {
  const auto& ball = problem.constraint;
  if (!(ball.radius >= 0) || std::isinf(ball.radius)) {
    throw Error(ErrorCode::usage, fmt::format("radius = {}; it must be a finite number >= 0", ball.radius));
  }
  if (ball.symmetric()) check_symmetric(problem);
  if (ball.row_weight.empty() && ball.col_weight.empty()) return;
  check_weights("row", ball.row_weight, rows(problem.observations));
  check_weights("column", ball.col_weight, cols(problem.observations));
  if (std::holds_alternative<ComplementSquaredPenalty>(problem.penalty) &&
      std::holds_alternative<SparseObservations>(problem.observations)) {
    throw Error(ErrorCode::usage,
                "norm weights and a complement penalty on sparse observations do not go together; give the plain trace "
                "norm, another penalty, or dense observations");
  }
}

}  // namespace

void check(const Problem& problem, int threads) {
  const auto fail = [](ErrorCode code, const std::string& message) { throw Error(code, message); };
  check_constraint(problem);
  if (problem.offsets) {
    const auto [row, col] = *problem.offsets;
    if (!(row > 0 && col > 0) || std::isinf(row) || std::isinf(col)) {
      fail(ErrorCode::usage, fmt::format("offsets: ridges of {} and {}; both must be finite and above 0", row, col));
    }
    if (problem.radius() == 0)
      fail(ErrorCode::usage, "offsets: the radius must be above 0 where they are fitted together with X");
    if (!std::holds_alternative<NoPenalty>(problem.penalty)) {
      fail(ErrorCode::usage,
           fmt::format("offsets and the penalty {} do not go together: it would act on X alone; leave "
                       "one of them out",
                       to_string(problem.penalty)));
    }
  }
  double lambda = 0;
  if (const auto* l1 = std::get_if<L1Penalty>(&problem.penalty)) lambda = l1->lambda;
  if (const auto* complement = std::get_if<ComplementSquaredPenalty>(&problem.penalty)) lambda = complement->lambda;
  if (!(lambda >= 0) || std::isinf(lambda)) {
    fail(ErrorCode::usage, fmt::format("penalty {}: lambda must be a finite number >= 0", to_string(problem.penalty)));
  }
  const bool has_loss_function = !std::holds_alternative<losses::Custom>(problem.loss) ||
                                 std::get<losses::Custom>(problem.loss).function != nullptr;
  if (!has_loss_function) fail(ErrorCode::usage, "loss custom: no function was given");
  if (rows(problem.observations) < 1 || cols(problem.observations) < 1) {
    fail(ErrorCode::input, fmt::format("the matrix is {} x {}; it must have at least one row and one column",
                                       rows(problem.observations), cols(problem.observations)));
  }
  if (observed(problem.observations) == 0) fail(ErrorCode::input, "no entry is observed; there must be at least one");
  if (const auto* sparse = std::get_if<SparseObservations>(&problem.observations)) {
    const auto entries = static_cast<std::size_t>(sparse->pattern.entries());
    if (sparse->value.size() != entries || (!sparse->weight.empty() && sparse->weight.size() != entries)) {
      fail(ErrorCode::input, fmt::format("{} entries but {} values and {} weights", entries, sparse->value.size(),
                                         sparse->weight.size()));
    }
    check_data(problem, sparse->value, sparse->weight, false, threads);
  } else {
    const auto& dense = std::get<DenseObservations>(problem.observations);
    const auto entries = static_cast<std::size_t>(dense.rows) * static_cast<std::size_t>(dense.cols);
    if (dense.value.size() != entries || (!dense.weight.empty() && dense.weight.size() != entries)) {
      fail(ErrorCode::input, fmt::format("a {} x {} matrix needs {} values, but there are {} values and {} weights",
                                         dense.rows, dense.cols, entries, dense.value.size(), dense.weight.size()));
    }
    check_data(problem, dense.value, dense.weight, true, threads);
  }
}

}  // namespace tracenorm
