#include "completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "entry_check.hpp"
#include "io/messages.hpp"
#include "option_values.hpp"

namespace tracenorm::app {

namespace {

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

}  // namespace

void add_completion_options(CLI::App& app, CompletionOptions& options) {
  app.add_option("DATA", options.words,
                 "entries: row, column, value; several files (or a folder, a quoted pattern, @LIST) count as one")
      ->required()
      ->type_name("FILE");
  add_estimation_options(app, options.common);
  add_number(app, "--complement", options.complement, kNotNegative, "penalty on the square of every unobserved entry")
      ->group("Objective");
  app.add_flag_callback(
         "--no-refit", [&options] { options.common.fit.refit = false; },
         "predict with the certified answer itself, offsets fitted together with it; not with its singular values "
         "times "
         "gains that held-out entries choose")
      ->group("Objective");
  add_fields(app, options.common.fit, {"search_entries"}, "Objective");
  app.add_option("--weights", options.weights, "how much each entry counts: row, column, weight above 0")
      ->type_name("FILE")
      ->group("Data");
  add_clip_options(app, options.common.fit, "with --radius auto, where the data have few levels or clear ends");
  // What is chosen depends on whether the radius is.
  const FitOptions chosen = tracenorm::settle({});
  const FitOptions plain = tracenorm::settle({.radius = 1});
  app.get_option("--prepare")
      ->default_str(fmt::format("{} with --radius auto, else {}; none for losses of labels", to_string(*chosen.prepare),
                                to_string(*plain.prepare)));
  app.get_option("--loss")->default_str(
      fmt::format("{} or huber:0.5, whichever predicts better, with --radius auto; else {}", to_string(*chosen.loss),
                  to_string(*plain.loss)));
  app.get_option("--method")
      ->default_str(fmt::format("{} with --radius auto or --gap, else {}", method_name(*chosen.method),
                                method_name(*plain.method)));
  app.get_option("--norm-power")
      ->default_str(fmt::format("{:g} with --radius auto, else {:g}", *chosen.norm_power, *plain.norm_power));
}

void settle(CompletionOptions& options, const std::vector<std::string>& inputs) {
  FitOptions& fit = options.common.fit;
  if (options.complement > 0) {
    if (!std::holds_alternative<NoPenalty>(fit.penalty)) {
      throw Error(ErrorCode::usage, "--l1 and --complement: a problem has one penalty; give one of them");
    }
    if (fit.norm_power.value_or(0) > 0) {
      throw Error(ErrorCode::usage, "--complement and --norm-power do not go together; give one of them");
    }
    fit.penalty = ComplementSquaredPenalty{options.complement};
  }
  options.files = io::data_files(options.words);
  options.common.data = io::listing(options.words, 3);
  std::vector<std::string> words = options.words;
  words.push_back(options.weights);
  words.insert(words.end(), inputs.begin(), inputs.end());
  settle(options.common, words);
}

CompletionData read_completion(const CompletionOptions& options, Entries& entries, bool may_deal) {
  const EstimationOptions& common = options.common;
  CompletionData data;
  if (may_deal && ranks() != nullptr && options.weights.empty() && common.certificate.empty() &&
      common.report.empty() && takes_dealt(common.fit) && io::reads_in_parts(options.files, common.read)) {
    data.dealt = DealtEntries{.ranks = ranks()};
    data.table = io::read_entries(options.files, common.read, *data.dealt);
  } else {
    data.table = io::read_entries(options.files, common.read);
  }
  entries = std::move(data.table.entries);
  const io::NamedEntries& table = data.table;
  check_entries(*common.fit.loss, entries, table.row_labels, table.col_labels, common.data, data.dealt);
  if (options.weights.empty()) {
    if (!data.table.weight.empty()) data.weights = Entries{entries.row, entries.col, std::move(data.table.weight)};
    return data;
  }
  // Weights of entries that are not there do not matter.
  data.weights = io::read_entries_like(io::data_files({options.weights}), table.row_labels, table.col_labels,
                                       table.rows, table.cols, io::Strangers::leave_out,
                                       {.duplicates = common.read.duplicates, .threads = common.read.threads})
                     .entries;
  return data;
}

FitData fit_data(const CompletionOptions& options, const CompletionData& data, Entries train, Entries validation,
                 std::optional<DealtEntries> dealt) {
  std::vector<Real> weight;
  if (data.weights) weight = weights_of(train, *data.weights, data, options.weights);
  return {data.table.rows,   data.table.cols,       std::move(train),
          std::move(weight), std::move(validation), std::move(dealt)};
}

}  // namespace tracenorm::app
