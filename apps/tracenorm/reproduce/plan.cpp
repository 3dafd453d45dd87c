#include "reproduce/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tracenorm/error.hpp"
#include "tracenorm/version.hpp"

namespace tracenorm::app {

namespace {

/// The {names} of a text, in order.
std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  std::size_t at = 0;
  while ((at = text.find('{', at)) != std::string::npos) {
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos) break;
    names.push_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return names;
}

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  std::size_t at = 0;
  while ((at = text.find(from, at)) != std::string::npos) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while ((begin = text.find_first_not_of(' ', begin)) != std::string::npos) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

/// The method that {genfb.trace_norm} speaks of; empty for other names.
std::string method_of(const std::string& name) {
  const std::size_t dot = name.find('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

std::string data_name(const Experiment& experiment, const Case& instance) {
  if (instance.values.contains("data")) return instance.values["data"];
  if (experiment.values.contains("data")) return experiment.values["data"];
  return {};
}

std::string to_word(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// Folders are put in last, word by word: their names may contain blanks.
constexpr const char* kFile = "{file}";
constexpr const char* kWork = "{work}";

}  // namespace

/// Everything but folders filled in; nothing when a number is not known yet.
struct Plan::Names {
  const Plan& plan;
  const PlannedRun& run;

  [[nodiscard]] std::optional<std::string> value(const std::string& name) const {
    if (name == "seed") return std::to_string(run.seed);
    if (run.instance->values.contains(name)) return to_word(run.instance->values[name]);
    if (run.experiment->values.contains(name)) return to_word(run.experiment->values[name]);
    if (const std::string method = method_of(name); !method.empty()) return from_run(method, name);
    throw Error(
        ErrorCode::input,
        fmt::format("experiment {}: the command of '{}' speaks of {{{}}}, which neither \"values\" nor the case "
                    "'{}' has",
                    run.experiment->name, run.method->name, name, run.instance->name));
  }
  [[nodiscard]] std::optional<std::string> from_run(const std::string& method, const std::string& name) const {
    const MethodPlan* source = run.experiment->method(method);
    if (source == nullptr) {
      throw Error(ErrorCode::input, fmt::format("experiment {}: {{{}}} speaks of a method that is not there",
                                                run.experiment->name, name));
    }
    const Json* finished = plan.finished({run.experiment, run.instance, source, run.seed});
    if (finished == nullptr) return std::nullopt;
    const Json& result = (*finished)["result"];
    const std::string member = name.substr(method.size() + 1);
    if (!result.contains(member) || !result[member].is_number()) {
      throw Error(ErrorCode::input,
                  fmt::format("experiment {}: the run of {} has no number '{}'", run.experiment->name, method, member));
    }
    return result[member].dump();
  }
  [[nodiscard]] std::optional<std::string> fill(std::string text) const {
    for (int depth = 0; depth < 3; ++depth) {  // a value may speak of values
      for (const std::string& name : names_in(text)) {
        const std::string mark = fmt::format("{{{}}}", name);
        if (mark == kFile || mark == kWork) continue;
        const std::optional<std::string> with = value(name);
        if (!with) return std::nullopt;
        text = replace_all(text, mark, *with);
      }
    }
    return text;
  }
};

bool Plan::has_data(const Experiment& experiment, const Case& instance) const {
  const std::string name = data_name(experiment, instance);
  return name.empty() || data_.find(find_data_set(name));
}

std::vector<const Case*> Plan::cases(const Experiment& experiment) const {
  std::vector<const Case*> all;
  for (const Case& one : experiment.cases) {
    if (!has_data(experiment, one)) continue;
    if (!one.instead_of.empty() && data_.find(find_data_set(one.instead_of))) continue;
    all.push_back(&one);
  }
  return all;
}

std::vector<const DataSet*> Plan::missing(const Experiment& experiment) const {
  std::vector<const DataSet*> all;
  for (const Case& one : experiment.cases) {
    const std::string name = data_name(experiment, one);
    if (name.empty() || has_data(experiment, one)) continue;
    const DataSet* data = &find_data_set(name);
    if (std::find(all.begin(), all.end(), data) == all.end()) all.push_back(data);
  }
  return all;
}

bool Plan::wanted(const Experiment& experiment, const MethodPlan& method) const {
  if (options_.methods.empty()) return true;
  const auto asked = [&](const std::string& name) {
    return std::find(options_.methods.begin(), options_.methods.end(), name) != options_.methods.end();
  };
  if (asked(method.name)) return true;
  return std::any_of(experiment.methods.begin(), experiment.methods.end(), [&](const MethodPlan& other) {
    const std::vector<std::string> names = names_in(other.command);
    return asked(other.name) && std::any_of(names.begin(), names.end(),
                                            [&](const std::string& name) { return method_of(name) == method.name; });
  });
}

int Plan::seeds(const Experiment& experiment, const Case& instance, const MethodPlan& method) const {
  if (options_.seeds) return *options_.seeds;
  int count = experiment.seeds;
  if (instance.seeds > 0) count = std::min(count, instance.seeds);
  if (method.seeds > 0) count = std::min(count, method.seeds);
  return count;
}

std::vector<PlannedRun> Plan::runs(const Experiment& experiment) const {
  std::vector<PlannedRun> all;
  const std::vector<const Case*> present = cases(experiment);
  for (int seed = 1; seed <= options_.seeds.value_or(experiment.seeds); ++seed) {
    for (const Case* instance : present) {
      for (const MethodPlan& method : experiment.methods) {
        if (!Experiment::belongs(*instance, method) || !wanted(experiment, method) ||
            seed > seeds(experiment, *instance, method))
          continue;
        all.push_back({&experiment, instance, &method, seed});
      }
    }
  }
  return all;
}

std::optional<ResolvedRun> Plan::resolve(const PlannedRun& run) const {
  const Names names{*this, run};
  const std::string data = data_name(*run.experiment, *run.instance);
  std::string file;
  if (!data.empty()) {
    const std::optional<std::string> found = data_.find(find_data_set(data));
    if (!found) return std::nullopt;
    file = *found;
  }
  const auto place = [&](const std::string& text, const std::string& at_file, const std::string& at_work) {
    return replace_all(replace_all(text, kFile, at_file), kWork, at_work);
  };
  Json key = Json::array({TRACENORM_VERSION});
  ResolvedRun resolved;
  const auto add = [&](const std::string& command, std::vector<std::string>& words, std::string& shown) {
    const std::optional<std::string> filled = names.fill(command);
    if (!filled) return false;
    shown = "tracenorm";
    for (const std::string& word : split_words(*filled)) {
      words.push_back(place(word, file.empty() ? "" : data_.path(file), work_));
      shown += fmt::format(" {}", place(word, fmt::format("DATA/{}", file), "WORK"));
      key.push_back(place(word, file.empty() ? "" : fmt::format("{}:{}", data, data_.fingerprint(file)), "WORK"));
    }
    return true;
  };
  for (const std::string& command : run.experiment->prepare) {
    resolved.prepare.emplace_back();
    resolved.prepare_commands.emplace_back();
    if (!add(command, resolved.prepare.back(), resolved.prepare_commands.back())) return std::nullopt;
  }
  if (!add(run.method->command, resolved.words, resolved.command)) return std::nullopt;
  if (!run.experiment->truth.empty()) {
    resolved.truth = place(names.fill(run.experiment->truth).value_or(""), "", work_);
  }
  resolved.key = key.dump();
  return resolved;
}

const Json* Plan::finished(const PlannedRun& run) const {
  const std::optional<ResolvedRun> resolved = resolve(run);
  return resolved ? log_.find(resolved->key) : nullptr;
}

}  // namespace tracenorm::app
