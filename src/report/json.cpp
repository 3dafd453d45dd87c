// The JSON of a run is a contract: scripts depend on the names here.
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/run_report.hpp"
#include "tracenorm/fold_in.hpp"
#include "tracenorm/options.hpp"

namespace tracenorm::report {

namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN and no infinity. Adding zero turns -0 into 0.
Json number(double value) { return std::isfinite(value) ? Json(value + 0.0) : Json(nullptr); }

template <class T>
Json maybe(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string dump(const Json& json, int indent) {
  // A file name need not be valid UTF-8; the JSON must be.
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

template <class T>
Json plain(const T& value) {
  if constexpr (std::is_same_v<T, std::monostate>) {
    return nullptr;
  } else if constexpr (std::is_same_v<T, double>) {
    return number(value);
  } else {
    return value;
  }
}

Json value_json(const NamedValue& named) {
  return std::visit([](const auto& value) { return plain(value); }, named.value);
}

Json object(const std::vector<NamedValue>& values) {
  Json json = Json::object();
  for (const NamedValue& named : values) json[named.name] = value_json(named);
  return json;
}

Json held_out_json(const std::optional<HeldOut>& held_out) {
  if (!held_out) return nullptr;
  Json json;
  json["entries"] = held_out->entries;
  json["unknown"] = held_out->unknown;
  const auto put = [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = number(*value);
  };
  put("rmse", held_out->rmse);
  put("mae", held_out->mae);
  put("rmse_prepared", held_out->rmse_prepared);
  put("mae_prepared", held_out->mae_prepared);
  put("auc", held_out->auc);
  put("average_precision", held_out->average_precision);
  return json;
}

Json likely_json(const RunReport& report) {
  Json links = Json::array();
  for (const LikelyLink& link : report.likely) {
    links.push_back({{"nodes", {report.rows.name(link.row), report.cols.name(link.col)}},
                     {"score", number(link.score)},
                     {"share", number(link.share)}});
  }
  return links;
}

Json covariance_json(const CovarianceEstimate& estimate) {
  const Offset variables = estimate.deviation.size();
  return {{"samples", estimate.samples},
          {"variables", variables},
          {"missing_values", estimate.missing},
          {"far_values", estimate.far},
          {"pairs", variables * (variables - 1) / 2},
          {"rare_pairs", estimate.rare},
          {"zero_pairs", estimate.zeros},
          {"raised", number(estimate.raised)}};
}

Json refit_json(const std::optional<Refit>& refit) {
  if (!refit) return nullptr;
  return {{"entries", refit->entries},
          {"gain", number(refit->gain)},
          {"small_gain", number(refit->small_gain)},
          {"score", number(refit->score)},
          {"score_of_1", number(refit->score_of_1)},
          {"taken", refit->taken}};
}

Json iteration_json(const Iteration& iteration) {
  Json json;
  json["k"] = iteration.k;
  json["seconds"] = number(iteration.seconds);
  json["objective"] = number(iteration.objective);
  json["lower_bound"] = number(iteration.lower_bound);
  json["relative_gap"] = number(iteration.relative_gap);
  json["width"] = number(iteration.width);
  json["step"] = number(iteration.step);
  json["rank"] = iteration.rank;
  json["passes"] = number(iteration.counters.passes);
  json["products"] = iteration.counters.products;
  if (!std::isnan(iteration.validation_rmse)) json["validation_rmse"] = number(iteration.validation_rmse);
  return json;
}

Json path_json(const RunReport& report) {
  if (report.path.empty()) return nullptr;
  Json json = Json::array();
  for (const RadiusStep& step : report.path) {
    json.push_back({{"radius", number(step.radius)},
                    {"lambda", number(step.lambda)},
                    {"loss", step.loss.empty() ? to_string(report.problem.loss) : step.loss},
                    {"turn", step.turn},
                    {"gain", number(step.gain)},
                    {"small_gain", number(step.small_gain)},
                    {"validation_error", number(step.validation_error)},
                    {"objective", number(step.objective)},
                    {"relative_gap", number(step.relative_gap)},
                    {"rank", step.rank},
                    {"iterations", step.iterations},
                    {"passes", number(step.passes)},
                    {"seconds", number(step.seconds)},
                    {"chosen", &step == &report.path[report.path_best]}});
  }
  return json;
}

Json profile_json(const std::vector<PhaseCost>& profile) {
  Json json = Json::array();
  for (const PhaseCost& cost : profile) {
    json.push_back({{"phase", cost.phase},
                    {"seconds", number(cost.seconds)},
                    {"passes", number(cost.passes)},
                    {"peak_bytes", number(cost.peak_bytes)}});
  }
  return json;
}

Json trace_json(const std::vector<Iteration>& trace) {
  Json json = Json::array();
  for (const Iteration& iteration : trace) json.push_back(iteration_json(iteration));
  return json;
}

/// The ends that predictions are kept within.
Json range_json(const ValueRange& range) {
  return range.bounded() ? Json::array({number(range.lower), number(range.upper)}) : Json(nullptr);
}

std::string_view name_of(Slopes slopes) {
  switch (slopes) {
    case Slopes::current:
      return "current";
    case Slopes::average:
      return "average";
    case Slopes::zero:
      return "zero";
    case Slopes::dual:
      break;  // what the others are made into, not where a bound comes from
  }
  return "current";
}

/// The answer of a penalised problem also solves the problem whose radius is the answer's trace norm; this is what a
/// bounded method should be given, and what it should reach.
void put_bounded_counterpart(Json& json, const RunReport& report) {
  const std::optional<double> objective = objective_without_trace_penalty(report);
  if (!objective) return;
  json["radius_for_bounded_methods"] = number(report.result.trace_norm);
  json["objective_without_trace_penalty"] = number(*objective);
}

/// Level and slopes are details of a proof, so they are null where there is none; slopes also where the method proved
/// the bound its own way.
void put_certificate(Json& json, const RunReport& report) {
  const Certificate& certificate = report.result.certificate;
  const bool proved = certificate.proof != SpectralBound::Proof::none;
  json["certificate"] = to_string(certificate.proof);
  json["certificate_level"] = proved ? number(certificate.failure_probability) : Json(nullptr);
  json["certificate_slopes"] = proved && is_bounded(report.method) ? Json(name_of(certificate.slopes)) : Json(nullptr);
}

}  // namespace

std::string to_json(const RunReport& report) {
  const Result& result = report.result;
  const Problem& problem = report.problem;
  Json json;
  json["status"] = to_string(result.status);
  json["message"] = result.message;
  json["method"] = result.method;
  json["loss"] = to_string(problem.loss);
  json["penalty"] = to_string(problem.penalty);
  json["rows"] = rows(problem.observations);
  json["cols"] = cols(problem.observations);
  json["observed"] = observed(problem.observations);
  json["radius"] = maybe(radius(report));
  json["radius_path"] = path_json(report);
  json["searched"] = nullptr;
  if (report.searched) {
    json["searched"] = {{"rows", report.searched->rows},
                        {"entries", report.searched->entries},
                        {"settings", report.searched->settings}};
  }
  json["preparation"] = {{"kind", to_string(report.preparation.kind)},
                         {"offset", number(report.preparation.offset)},
                         {"scale", number(report.preparation.scale)},
                         {"range", range_json(report.preparation.range)}};
  json["refit"] = refit_json(report.refit);
  if (report.covariance) json["covariance"] = covariance_json(*report.covariance);
  if (!report.likely.empty()) json["likely_links"] = likely_json(report);
  json["objective"] = number(result.objective);
  json["lower_bound"] = number(result.lower_bound);
  json["relative_gap"] = number(result.relative_gap);
  put_certificate(json, report);
  json["verdict"] = certificate_sentence(report);
  json["iterations"] = result.iterations;
  json["solution_iteration"] = result.solution_iteration;
  json["seconds"] = number(result.seconds);
  json["rank"] = result.solution.terms();
  json["trace_norm"] = number(result.trace_norm);
  put_bounded_counterpart(json, report);
  json["validation"] = held_out_json(report.validation);
  json["test"] = held_out_json(report.test);
  json["counters"] = {{"passes", number(result.counters.passes)},
                      {"products", result.counters.products},
                      {"certificate_passes", number(result.counters.certificate_passes)}};
  json["profile"] = profile_json(report.profile);
  json["trace"] = trace_json(result.trace);
  json["options"] = object(all_options(report));
  json["environment"] = object(environment(report));
  return dump(json, 1) + "\n";
}

std::string to_json(const std::vector<NamedValue>& values) { return dump(object(values), 1) + "\n"; }

Model make_model(const RunReport& report) {
  const Result& result = report.result;
  Json json;
  json["method"] = result.method;
  json["loss"] = to_string(report.problem.loss);
  json["penalty"] = to_string(report.problem.penalty);
  json["radius"] = maybe(radius(report));
  json["objective"] = number(result.objective);
  json["lower_bound"] = number(result.lower_bound);
  json["status"] = to_string(result.status);
  json["seed"] = report.run.seed;
  json["version"] = result.environment.version;
  Model model = report.model();
  model.rows = report.rows;
  model.cols = report.cols;
  model.row_price = row_price(report);
  model.metadata = dump(json, -1);
  return model;
}

}  // namespace tracenorm::report
