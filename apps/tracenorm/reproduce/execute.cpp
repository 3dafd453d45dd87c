#include "reproduce/execute.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <new>

#include "page/thinning.hpp"
#include "program.hpp"
#include "reproduce/machine.hpp"
#include "reproduce/pattern.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

namespace fs = std::filesystem;

/// Enough for a chart; the log of a full reproduction stays at a few megabytes.
constexpr std::size_t kPoints = 120;

/// The trace by columns, thinned out.
Json thin(const Json& trace) {
  Json columns = Json::object();
  for (const std::size_t place : thinned(trace.size(), kPoints)) {
    for (const char* name : {"k", "seconds", "objective", "lower_bound", "width", "rank", "validation_rmse"}) {
      if (trace[place].contains(name)) columns[name].push_back(trace[place][name]);
    }
  }
  return columns;
}

/// With a radius that was chosen: the whole path, and the last solve unless the path already had the answer.
double total_seconds(const Json& report) {
  double seconds = report["seconds"];
  if (!report["radius_path"].is_array()) return seconds;
  if (!report["validation"].is_null() && report["options"]["gap"].is_null()) seconds = 0;
  for (const Json& step : report["radius_path"]) seconds += step["seconds"].get<double>();
  return seconds;
}

/// The first iteration that is better than the start; null when there is none.
Json first_below_start(const Json& trace) {
  for (const Json& iteration : trace) {
    if (iteration["objective"] < trace[0]["objective"]) return iteration["k"];
  }
  return nullptr;
}

Json make_record(const PlannedRun& run, const ResolvedRun& resolved, Json report) {
  const Json below = first_below_start(report["trace"]);
  const double seconds = total_seconds(report);
  report["trace"] = thin(report["trace"]);
  report["options"].erase("data");  // the folder of one person; the command says which data
  return {{"key", resolved.key},
          {"experiment", run.experiment->name},
          {"case", run.instance->name},
          {"method", run.method->name},
          {"seed", run.seed},
          {"command", resolved.command},
          {"prepare", resolved.prepare_commands},
          {"date", fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(std::time(nullptr)))},
          {"machine", describe_machine()},
          {"total_seconds", seconds},
          {"first_below_start", below},
          {"result", std::move(report)}};
}

Json read_report(const std::string& path) {
  std::ifstream file(path);
  return Json::parse(file);
}

}  // namespace

Executor::~Executor() {
  std::error_code ignored;
  fs::remove_all(work_, ignored);
}

void Executor::prepare(const ResolvedRun& resolved) {
  fs::create_directories(work_);
  if (resolved.prepare_commands == prepared_) return;
  prepared_.clear();
  for (const auto& entry : fs::directory_iterator(work_)) fs::remove_all(entry.path());
  for (std::vector<std::string> words : resolved.prepare) {
    words.emplace_back("--quiet");
    run_command(words);
  }
  prepared_ = resolved.prepare_commands;
}

Execution Executor::run(const PlannedRun& run, const ResolvedRun& resolved) {
  Execution execution;
  try {
    prepare(resolved);
    const std::string report = (fs::path(work_) / "run.json").string();
    const std::string model = (fs::path(work_) / "model.npz").string();
    std::vector<std::string> words = resolved.words;
    words.insert(words.end(), {"--threads", std::to_string(threads_), "--json", report, "--quiet"});
    if (!resolved.truth.empty()) words.insert(words.end(), {"--model", model});
    const int code = run_command(words);
    if (code == 130) {
      execution.outcome = Outcome::interrupted;
      return execution;
    }
    // 1: stopped by the limit on iterations before a gap that was asked for; the report says how far it got.
    if (code != 0 && code != 1) {
      execution.message = fmt::format("exit code {}", code);
      return execution;
    }
    execution.record = make_record(run, resolved, read_report(report));
    if (!resolved.truth.empty()) {
      execution.record["pattern"] = describe_pattern(model, resolved.truth);
      if (run.seed != 1) {  // pictures of one seed are enough
        execution.record["pattern"].erase("picture");
        execution.record["pattern"].erase("truth");
      }
    }
    execution.outcome = Outcome::finished;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::usage) {
      throw Error(ErrorCode::input,
                  fmt::format("experiment {}: {}: {}", run.experiment->name, resolved.command, error.what()));
    }
    execution.message = error.what();
  } catch (const std::bad_alloc&) {
    execution.message = "not enough memory";
  }
  return execution;
}

}  // namespace tracenorm::app
