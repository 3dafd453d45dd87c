#include "completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "option_values.hpp"

namespace tracenorm::app {

namespace {

/// Held out to choose a radius on, where no validation part was given.
constexpr double kChoosingShare = 0.1;
constexpr Offset kLeastToChoose = 20;

/// Weights of the trace norm that were best or near best on all data measured (docs/measurements.md).
constexpr double kAutomaticNormPower = 0.5;
/// In deviations. Near zero it is smooth, which predicts better and certifies faster than the absolute loss; an outlier
/// pulls no harder than a deviation of half the noise.
constexpr losses::Huber kAutomaticLoss{0.5};

Penalty make_penalty(const CompletionOptions& options) {
  if (options.common.l1 > 0 && options.complement > 0) {
    throw Error(ErrorCode::usage, "--l1 and --complement: a problem has one penalty; give one of them");
  }
  if (options.complement > 0) return ComplementSquaredPenalty{options.complement};
  return l1_penalty(options.common);
}

/// Labels must stay labels.
Preparation::Kind preparation_kind(const EstimationOptions& options) {
  if (!wants_labels(options.loss)) {
    const auto usual = options.chooses_radius() ? Preparation::Kind::both : Preparation::Kind::zscore;
    return options.prepare.value_or(usual);
  }
  if (options.prepare.value_or(Preparation::Kind::none) != Preparation::Kind::none) {
    throw Error(ErrorCode::usage, fmt::format("--prepare: {} does not fit --loss {}, whose labels must stay -1 and +1; "
                                              "use --prepare none",
                                              to_string(*options.prepare), to_string(options.loss)));
  }
  return Preparation::Kind::none;
}

/// The weights of `entries`, in their order.
std::vector<Real> weights_of(const Entries& entries, const Entries& weights, const CompletionData& data,
                             const std::string& file) {
  const auto before = [](Index row_a, Index col_a, Index row_b, Index col_b) {
    return row_a != row_b ? row_a < row_b : col_a < col_b;
  };
  std::vector<std::size_t> order(weights.row.size());
  for (std::size_t e = 0; e < order.size(); ++e) order[e] = e;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return before(weights.row[a], weights.col[a], weights.row[b], weights.col[b]);
  });
  std::vector<Real> found(entries.row.size());
  for (std::size_t e = 0; e < found.size(); ++e) {
    const auto at = std::lower_bound(order.begin(), order.end(), e, [&](std::size_t w, std::size_t entry) {
      return before(weights.row[w], weights.col[w], entries.row[entry], entries.col[entry]);
    });
    if (at == order.end() || weights.row[*at] != entries.row[e] || weights.col[*at] != entries.col[e]) {
      throw Error(ErrorCode::input,
                  fmt::format("{}: no weight for row {}, column {}; give one for every entry", file,
                              data.table.row_labels.name(entries.row[e]), data.table.col_labels.name(entries.col[e])));
    }
    found[e] = weights.value[*at];
  }
  return found;
}

Problem make_problem(const CompletionOptions& options, const CompletionData& data, Entries train,
                     Preparation& preparation) {
  const EstimationOptions& common = options.common;
  std::vector<Real> weight;
  if (data.weights) weight = weights_of(train, *data.weights, data, options.weights);
  preparation = parse_for("--prepare", [&] {
    return fit_preparation(preparation_kind(common), averaging_for(common.loss), train, data.table.rows,
                           data.table.cols);
  });
  prepare(preparation, train);
  Problem problem{make_sparse(data.table.rows, data.table.cols, train, weight), common.loss, make_penalty(options), {}};
  problem.constraint = constraint(common, problem.observations);
  return problem;
}

}  // namespace

void add_completion_options(CLI::App& app, CompletionOptions& options) {
  add_number(app, "--complement", options.complement, kNotNegative, "penalty on the square of every unobserved entry")
      ->group("Objective");
  app.add_option("--weights", options.weights, "how much each entry counts: row, column, weight above 0")
      ->type_name("FILE")
      ->group("Data");
  app.get_option("--prepare")->default_str("both with --radius auto, else zscore; none for losses of labels");
  app.get_option("--loss")->default_str(
      fmt::format("{} with --radius auto, else {}", to_string(Loss{kAutomaticLoss}), to_string(options.common.loss)));
  app.get_option("--norm-power")->default_str(fmt::format("{:g} with --radius auto, else 0", kAutomaticNormPower));
}

void settle(CompletionOptions& options) {
  EstimationOptions& common = options.common;
  if (common.chooses_radius()) {
    if (!common.loss_given) common.loss = kAutomaticLoss;
    if (!common.norm_power_given && options.complement == 0) common.norm_weights.power = kAutomaticNormPower;
  }
  make_penalty(options);
  preparation_kind(common);
  if (options.complement > 0 && common.norm_weights.power > 0) {
    throw Error(ErrorCode::usage, "--complement and --norm-power do not go together; give one of them");
  }
}

CompletionData read_completion(const CompletionOptions& options, Entries& entries) {
  CompletionData data;
  data.table = io::read_entries(options.common.data, options.common.read);
  entries = std::move(data.table.entries);
  if (options.weights.empty()) {
    if (!data.table.weight.empty()) data.weights = Entries{entries.row, entries.col, std::move(data.table.weight)};
    return data;
  }
  const io::NamedEntries& table = data.table;
  Offset unknown = 0;  // weights of entries that are not there do not matter
  data.weights = io::read_entries_like(options.weights, table.row_labels, table.col_labels, table.rows, table.cols,
                                       false, &unknown, {io::Format::automatic, options.common.read.duplicates})
                     .entries;
  return data;
}

Estimation make_completion(const CompletionOptions& options, const CompletionData& data, Entries train,
                           Entries validation) {
  const EstimationOptions& common = options.common;
  Estimation estimation;
  estimation.rows = data.table.row_labels;
  estimation.cols = data.table.col_labels;
  estimation.columns = data.table.columns;
  if (common.chooses_radius() && validation.size() == 0) {
    if (train.size() < kLeastToChoose) {
      throw Error(ErrorCode::input,
                  fmt::format("--radius auto: {} entries are too few to hold some out; give a radius, "
                              "or at least {} entries",
                              train.size(), kLeastToChoose));
    }
    Split split = split_entries(train, {1 - kChoosingShare, kChoosingShare, 0}, common.run.seed);
    Preparation preparation;
    Problem problem = make_problem(options, data, std::move(split.train), preparation);
    prepare(preparation, split.validation);
    estimation.choosing = Choosing{std::move(problem), std::move(split.validation)};
  }
  estimation.problem = make_problem(options, data, std::move(train), estimation.preparation);
  estimation.validation = std::move(validation);
  return estimation;
}

}  // namespace tracenorm::app
