#include "reproduce/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

/// Reads members of one object, and complains by file and place.
class Reader {
 public:
  Reader(const Json& json, std::string file, std::string place)
      : json_(json), file_(std::move(file)), place_(std::move(place)) {
    if (!json_.is_object()) fail("an object was expected");
  }

  [[nodiscard]] std::string text(const char* name) const {
    const auto at = json_.find(name);
    if (at == json_.end() || !at->is_string()) fail(fmt::format("\"{}\" must be there and be text", name));
    return *at;
  }
  [[nodiscard]] std::string text_or(const char* name, std::string otherwise) const {
    return json_.contains(name) ? text(name) : std::move(otherwise);
  }
  [[nodiscard]] int count_or(const char* name, int otherwise) const {
    const auto at = json_.find(name);
    if (at == json_.end()) return otherwise;
    if (!at->is_number_integer() || *at < 1 || *at > 1000) {
      fail(fmt::format("\"{}\" is {}; a whole number from 1 to 1000 was expected", name, at->dump()));
    }
    return *at;
  }
  [[nodiscard]] bool flag(const char* name) const {
    const auto at = json_.find(name);
    if (at == json_.end()) return false;
    if (!at->is_boolean()) fail(fmt::format("\"{}\" is {}; true or false was expected", name, at->dump()));
    return *at;
  }
  /// A text, or a list of texts.
  [[nodiscard]] std::vector<std::string> texts(const char* name) const {
    const auto at = json_.find(name);
    if (at == json_.end()) return {};
    if (at->is_string()) return {at->get<std::string>()};
    const bool good =
        at->is_array() && std::all_of(at->begin(), at->end(), [](const Json& one) { return one.is_string(); });
    if (!good) fail(fmt::format("\"{}\" must be text or a list of texts", name));
    return at->get<std::vector<std::string>>();
  }
  [[nodiscard]] Json object(const char* name) const {
    const auto at = json_.find(name);
    if (at == json_.end()) return Json::object();
    if (!at->is_object()) fail(fmt::format("\"{}\" must be an object", name));
    return *at;
  }
  /// One Reader per element of a list.
  [[nodiscard]] std::vector<Reader> list(const char* name, bool required) const {
    const auto at = json_.find(name);
    if (at == json_.end() && !required) return {};
    if (at == json_.end() || !at->is_array() || (required && at->empty())) {
      fail(fmt::format("\"{}\" must be a list that is not empty", name));
    }
    std::vector<Reader> readers;
    for (std::size_t k = 0; k < at->size(); ++k) {
      readers.emplace_back((*at)[k], file_, fmt::format("{}/{}[{}]", place_, name, k));
    }
    return readers;
  }
  [[nodiscard]] const Json& json() const { return json_; }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::input, fmt::format("{}{}: {}", file_, place_.empty() ? "" : " at " + place_, what));
  }

 private:
  const Json& json_;
  std::string file_;
  std::string place_;
};

Measure::Better parse_better(const Reader& reader) {
  const std::string word = reader.text_or("better", "none");
  if (word == "lower") return Measure::Better::lower;
  if (word == "higher") return Measure::Better::higher;
  if (word != "none") reader.fail(fmt::format("\"better\" is '{}'; lower, higher or none was expected", word));
  return Measure::Better::none;
}

Measure parse_measure(const Reader& reader) {
  Measure measure;
  measure.name = reader.text("name");
  measure.title = reader.text("title");
  measure.value = reader.texts("value");
  if (measure.value.empty()) reader.fail("\"value\" must say where the measure stands in the JSON of a run");
  if (reader.json().contains("digits")) measure.digits = reader.json()["digits"];
  measure.better = parse_better(reader);
  measure.percent = reader.flag("percent");
  measure.missing = reader.text_or("missing", "");
  measure.chart = reader.flag("chart");
  measure.difference = !reader.json().contains("difference") || reader.flag("difference");
  return measure;
}

Case parse_case(const Reader& reader) {
  Case one;
  one.name = reader.text("name");
  one.title = reader.text_or("title", one.name);
  one.values = reader.object("values");
  one.methods = reader.texts("methods");
  one.instead_of = reader.text_or("instead_of", "");
  one.seeds = reader.count_or("seeds", 0);
  return one;
}

template <class T>
const T* named(const std::vector<T>& list, std::string_view wanted) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const T& one) { return one.name == wanted; });
  return at == list.end() ? nullptr : &*at;
}

/// A slip in a name would silently leave something out.
void check_names(const Experiment& experiment, const Reader& reader) {
  const auto require_method = [&](const std::string& name) {
    if (experiment.method(name) == nullptr) reader.fail(fmt::format("there is no method '{}'", name));
  };
  for (const Case& one : experiment.cases) {
    for (const std::string& name : one.methods) require_method(name);
  }
  for (const Comparison& comparison : experiment.comparisons) {
    require_method(comparison.method);
    for (const std::string& name : comparison.with) require_method(name);
    for (const std::string& name : comparison.measures) {
      if (experiment.measure(name) == nullptr) reader.fail(fmt::format("there is no measure '{}'", name));
    }
  }
}

}  // namespace

bool Experiment::belongs(const Case& instance, const MethodPlan& method) {
  const std::vector<std::string>& only = instance.methods;
  return only.empty() || std::find(only.begin(), only.end(), method.name) != only.end();
}

const MethodPlan* Experiment::method(std::string_view wanted) const { return named(methods, wanted); }
const Case* Experiment::find_case(std::string_view wanted) const { return named(cases, wanted); }
const Measure* Experiment::measure(std::string_view wanted) const { return named(measures, wanted); }

std::optional<double> Experiment::paper_value(const Case& one, const MethodPlan& method, const Measure& measure) const {
  const Json* at = &paper;
  for (const std::string& key : {one.name, method.name, measure.name}) {
    const auto found = at->find(key);
    if (found == at->end()) return std::nullopt;
    at = &*found;
  }
  return at->get<double>();
}

Experiment parse_experiment(std::string_view text, const std::string& file, bool quick) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw Error(ErrorCode::input, fmt::format("{}: not JSON: {}", file, error.what()));
  }
  if (quick && json.contains("quick")) {
    const Json patch = json["quick"];
    json.merge_patch(patch);
  }
  const Reader reader(json, file, "");
  Experiment experiment;
  experiment.name = reader.text("name");
  experiment.title = reader.text("title");
  experiment.text = reader.texts("text");
  experiment.seeds = reader.count_or("seeds", 1);
  experiment.values = reader.object("values");
  experiment.prepare = reader.texts("prepare");
  for (const Reader& one : reader.list("cases", true)) experiment.cases.push_back(parse_case(one));
  for (const Reader& one : reader.list("methods", true)) {
    experiment.methods.push_back({one.text("name"), one.text("title"), one.text("command"), one.count_or("seeds", 0)});
  }
  for (const Reader& one : reader.list("measures", true)) experiment.measures.push_back(parse_measure(one));
  experiment.paper = reader.object("paper");
  for (const Reader& one : reader.list("comparisons", false)) {
    experiment.comparisons.push_back(
        {one.text("method"), one.texts("with"), one.texts("measures"), one.text_or("expected", "")});
  }
  for (const Reader& one : reader.list("protocol", false)) {
    experiment.protocol.push_back({one.text("point"), one.text("paper"), one.text("chosen")});
  }
  experiment.differences = reader.texts("differences");
  experiment.truth = reader.text_or("truth", "");
  experiment.scaling = reader.text_or("scaling", "");
  if (json.contains("component")) experiment.component = json["component"];
  check_names(experiment, reader);
  return experiment;
}

}  // namespace tracenorm::app
