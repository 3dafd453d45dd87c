// Every option of a run as names and values: the JSON and the page list them alike.
#include "report/method_fields.hpp"
#include "report/run_report.hpp"

namespace tracenorm::report {

namespace {

using Value = decltype(NamedValue::value);

Value maybe(const std::optional<double>& value) { return value ? Value(*value) : Value(); }

}  // namespace

std::vector<NamedValue> all_options(const RunReport& report) {
  std::vector<NamedValue> all;
  const auto put = [&](std::string_view name, Value value) { all.push_back({std::string(name), std::move(value)}); };
  const auto put_word = [&](std::string_view name, std::string_view word) {
    if (!word.empty()) put(name, std::string(word));
  };
  put("command", report.command);
  put("data", report.data);
  put("columns", report.columns);
  put_word("method", method_name(report.method));
  put_word("width", width_name(report.method));
  put_word("step", step_name(report.method));
  visit_fields(report.method, [&](const FieldInfo& field, double value) {
    put(field.name, field.whole ? Value(static_cast<std::int64_t>(value)) : Value(value));
  });
  put("loss", to_string(report.problem->loss));
  put("penalty", to_string(report.problem->penalty));
  put("radius", report.path.empty() ? maybe(radius(report)) : Value(std::string("auto")));
  put("norm_power", report.norm_weights.power);
  put("norm_smoothing", report.norm_weights.smoothing);
  put_word("prepare", to_string(report.preparation.kind));
  put("iterations", std::int64_t{report.run.iterations});
  put("gap", maybe(report.run.gap));
  put("time", maybe(report.run.seconds));
  put("patience", std::int64_t{report.run.patience});
  put("certificate_share", report.run.certificate_share);
  put("seed", report.run.seed);
  put("threads", std::int64_t{report.run.threads});
  all.insert(all.end(), report.options.begin(), report.options.end());
  return all;
}

std::vector<NamedValue> environment(const RunReport& report) {
  const Environment& environment = report.result.environment;
  return {{"version", environment.version},
          {"compiler", environment.compiler},
          {"instruction_set", environment.instruction_set},
          {"threads", std::int64_t{environment.threads}},
          {"seed", environment.seed}};
}

}  // namespace tracenorm::report
