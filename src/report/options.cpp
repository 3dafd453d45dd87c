// Every option of a run as names and values: the JSON and the page list them alike.
#include "tracenorm/options.hpp"
#include "report/run_report.hpp"

namespace tracenorm::report {

namespace {

using Value = decltype(NamedValue::value);

Value value_or_none(const std::optional<double>& value) { return value ? Value(*value) : Value(); }

}  // namespace

std::vector<NamedValue> all_options(const RunReport& report) {
  std::vector<NamedValue> all;
  const auto put = [&](std::string_view name, Value value) { all.push_back({std::string(name), std::move(value)}); };
  const auto put_all = [&](const std::vector<Option>& options) {
    for (const Option& option : options) {
      std::visit([&](const auto& value) { put(option.field.name, value); }, option.value);
    }
  };
  put("command", report.command);
  put("data", report.data);
  put("columns", report.columns);
  put("method", method_name(report.method));
  put_all(options_of(report.method));
  put("loss", to_string(report.problem.loss));
  put("penalty", to_string(report.problem.penalty));
  put("radius", report.path.empty() ? value_or_none(radius(report)) : Value(std::string("auto")));
  put("norm_power", report.norm_weights.power);
  put("norm_smoothing", report.norm_weights.smoothing);
  if (report.searched) put("search_entries", std::int64_t{report.searched->wanted});
  put("prepare", to_string(report.preparation.kind));
  put("clip", report.preparation.range.bounded());
  put_all(options_of(report.run));
  all.insert(all.end(), report.options.begin(), report.options.end());
  return all;
}

std::vector<NamedValue> environment(const RunReport& report) { return environment(report.result.environment); }

std::vector<NamedValue> environment(const Environment& environment) {
  std::vector<NamedValue> values{{"version", environment.version},
                                 {"compiler", environment.compiler},
                                 {"instruction_set", environment.instruction_set},
                                 {"threads", std::int64_t{environment.threads}},
                                 {"seed", environment.seed},
                                 {"backend", environment.backend},
                                 {"ranks", std::int64_t{environment.ranks}}};
  if (environment.ranks > 1) {
    values.push_back({"messages", environment.messages});
    values.push_back({"bytes_sent", environment.bytes_sent});
  }
  return values;
}

}  // namespace tracenorm::report
