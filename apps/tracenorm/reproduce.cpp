// tracenorm reproduce: the paper's experiments, run again and held against its numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "commands.hpp"
#include "declarations.hpp"
#include "interruption.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "reproduce/execute.hpp"
#include "reproduce/folder_lock.hpp"
#include "reproduce/overview.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

namespace {

namespace fs = std::filesystem;

struct ReproduceOptions {
  std::string name;
  std::string data;
  std::string out;
  std::optional<int> seeds;
  std::string methods;
  std::string declaration;
  bool quick = false;
  bool resume = false;
  bool page_only = false;
  int threads = 0;
  bool quiet = false;
};

constexpr const char* kFooter = R"(Examples:
  tracenorm reproduce all --data DIR --out results --quick
  tracenorm reproduce all --data DIR --out results --resume
  tracenorm reproduce links --data DIR --out results --methods fwua,genfb --seeds 1

Writes index.html (the page), results.md (its tables) and runs.jsonl (every finished run, one JSON object a line) to the folder
--out. What was interrupted goes on with --resume: finished runs are not done again. The data sets are found in the folder
--data as published, also inside the publisher's zip or compressed (.gz, .xz): ml-100k, ml-1m, ml-10m, ego-facebook; `tracenorm
fetch` gets them. Without them the synthetic experiments are run, and the page says what is missing.

Exit codes: 0 all runs finished, 2 usage, 3 bad input, 4 a run failed (the others are there), 130 interrupted.)";

struct Declaration {
  std::string_view name;
  std::string_view text;
};
std::array<Declaration, 5> declared() {
  return {{{"covariance", declarations::covariance},
           {"links", declarations::links},
           {"movielens", declarations::movielens},
           {"robustness", declarations::robustness},
           {"figures", declarations::figures}}};
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::input, fmt::format("--declaration: cannot read '{}'", path));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Those that are built in; one from a file replaces its namesake or joins them.
std::vector<Experiment> load_experiments(const ReproduceOptions& options) {
  std::vector<Experiment> all;
  for (const Declaration& one : declared()) {
    all.push_back(parse_experiment(one.text, fmt::format("experiments/{}.json", one.name), options.quick));
  }
  if (options.declaration.empty()) return all;
  Experiment own = parse_experiment(read_text(options.declaration), options.declaration, options.quick);
  const auto namesake = std::find_if(all.begin(), all.end(), [&](const Experiment& e) { return e.name == own.name; });
  if (namesake == all.end()) {
    all.push_back(std::move(own));
  } else {
    *namesake = std::move(own);
  }
  return all;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

/// Those that were asked for.
std::vector<const Experiment*> chosen(const std::vector<Experiment>& all, const ReproduceOptions& options) {
  std::vector<const Experiment*> some;
  std::vector<std::string> names;
  for (const Experiment& experiment : all) {
    names.push_back(experiment.name);
    if (options.name == "all" || options.name == experiment.name) some.push_back(&experiment);
  }
  if (some.empty()) {
    reject("NAME", options.name, fmt::format("one of {} or all", fmt::join(names, ", ")));
  }
  for (const std::string& method : split_list(options.methods)) {
    const bool known = std::any_of(some.begin(), some.end(),
                                   [&](const Experiment* experiment) { return experiment->method(method) != nullptr; });
    if (known) continue;
    std::vector<std::string> there;
    for (const Experiment* experiment : some) {
      for (const MethodPlan& one : experiment->methods) {
        if (std::find(there.begin(), there.end(), one.name) == there.end()) there.push_back(one.name);
      }
    }
    reject("--methods", method, fmt::format("some of {}", fmt::join(there, ", ")));
  }
  return some;
}

/// The command line as it should be typed again.
std::string command_line(const ReproduceOptions& options) {
  std::string line = "tracenorm reproduce " + options.name;
  if (!options.data.empty()) line += " --data DATA";
  line += " --out OUT";
  if (options.seeds) line += fmt::format(" --seeds {}", *options.seeds);
  if (!options.methods.empty()) line += " --methods " + options.methods;
  if (options.quick) line += " --quick";
  return line;
}

std::string short_result(const PlannedRun& run, const Results& results) {
  const Measure& measure = run.experiment->measures.front();
  const Json* finished = results.plan().finished(run);
  if (finished == nullptr) return {};
  Statistic all = results.statistic(*run.experiment, *run.instance, *run.method, measure);
  std::string text = fmt::format("{:.3g} s", (*finished)["result"]["seconds"].get<double>());
  if (!all.empty()) text = fmt::format("{} {}, {}", measure.title, to_text(all.values.back(), measure), text);
  return text;
}

class Reproduction {
 public:
  Reproduction(const ReproduceOptions& options, std::vector<const Experiment*> asked)
      : options_(options),
        asked_(std::move(asked)),
        data_(options.data),
        log_((fs::path(options.out) / "runs.jsonl").string()),
        plan_(data_, work_folder(), log_, {options.seeds, split_list(options.methods)}),
        results_(plan_) {
    session_.command = command_line(options);
    session_.quick = options.quick;
    if (log_.size() > 0 && !options.resume && !options.page_only) {
      throw Error(
          ErrorCode::usage,
          fmt::format("--out: '{}' holds {} finished runs; add --resume to go on with them, or give another folder",
                      options.out, log_.size()));
    }
  }

  int run() {
    const Interruption interruption;
    bool interrupted = false;
    for (const Experiment* experiment : asked_) {
      if (options_.page_only) break;
      interrupted = !run_experiment(*experiment, *interruption.flag());
      if (interrupted) break;
      write_page();  // a page after every experiment: the others may take hours
    }
    write_page();
    if (interrupted) {
      note(options_.quiet,
           fmt::format("interrupted; {} finished runs are kept, --resume goes on with the others", log_.size()));
      return 130;
    }
    if (!options_.quiet) {
      write_output(std::string(kStdout),
                   fmt::format("page               {}\ntables             {}\nruns               {}\n",
                               page_file("index.html"), page_file("results.md"), log_.path()));
    }
    return session_.failures.empty() ? 0 : static_cast<int>(ErrorCode::numerical);
  }

 private:
  [[nodiscard]] std::string work_folder() const { return (fs::path(options_.out) / "work").string(); }
  [[nodiscard]] std::string page_file(const char* name) const { return (fs::path(options_.out) / name).string(); }

  /// Returns false when interrupted.
  bool run_experiment(const Experiment& experiment, const std::atomic<bool>& interrupted) {
    for (const DataSet* data : plan_.missing(experiment)) {
      note(options_.quiet,
           fmt::format("{}: {} is not in the data folder and is left out", experiment.name, data->title));
    }
    Executor executor(work_folder(), options_.threads);
    const std::vector<PlannedRun> runs = plan_.runs(experiment);
    for (std::size_t at = 0; at < runs.size(); ++at) {
      if (interrupted.load()) return false;
      const PlannedRun& run = runs[at];
      const std::string name = fmt::format("{} [{}/{}] {}, {}, seed {}", experiment.name, at + 1, runs.size(),
                                           run.instance->title, run.method->title, run.seed);
      const std::optional<ResolvedRun> resolved = plan_.resolve(run);
      if (!resolved) {
        fail(name + ": the run it depends on is not there");
        continue;
      }
      if (log_.find(resolved->key) != nullptr) continue;
      const Execution execution = executor.run(run, *resolved);
      if (execution.outcome == Outcome::interrupted) return false;
      if (execution.outcome == Outcome::failed) {
        fail(fmt::format("{}: {}", name, execution.message));
        continue;
      }
      log_.append(execution.record);
      if (!options_.quiet) fmt::print(stderr, "{}: {}\n", name, short_result(run, results_));
    }
    return true;
  }

  void fail(const std::string& what) {
    session_.failures.push_back(what);
    note(options_.quiet, "failed: " + what);
  }

  void write_page() const {
    const Page page = reproduction_page(asked_, results_, session_);
    io::write_file(page_file("index.html"), to_html(page));
    io::write_file(page_file("results.md"), to_markdown(page));
  }

  const ReproduceOptions& options_;
  std::vector<const Experiment*> asked_;
  DataFolder data_;
  RunLog log_;
  Plan plan_;
  Results results_;
  Session session_;
};

int run(const ReproduceOptions& options) {
  if (!options.data.empty() && !fs::is_directory(options.data)) {
    throw Error(ErrorCode::input, fmt::format("--data: '{}' is not a folder", options.data));
  }
  const std::vector<Experiment> all = load_experiments(options);
  std::vector<const Experiment*> asked = chosen(all, options);
  std::error_code problem;
  fs::create_directories(options.out, problem);
  if (problem) {
    throw Error(ErrorCode::input, fmt::format("--out: cannot make '{}': {}", options.out, problem.message()));
  }
  check_outputs({{"--out", (fs::path(options.out) / "index.html").string()}}, {});
  const FolderLock lock(options.out);
  return Reproduction(options, std::move(asked)).run();
}

}  // namespace

void add_reproduce(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("reproduce", "the paper's experiments, with a page that compares the numbers");
  const auto options = std::make_shared<ReproduceOptions>();
  app->add_option("NAME", options->name, "covariance, links, movielens, robustness, figures or all")
      ->required()
      ->type_name("NAME");
  app->add_option("--data", options->data, "folder with the data sets (default: none, synthetic experiments only)")
      ->type_name("DIR");
  app->add_option("--out", options->out, "folder for the page and the results; is made where it is missing")
      ->required()
      ->type_name("DIR");
  app->add_option_function<std::string>(
         "--seeds",
         [options](const std::string& text) {
           options->seeds = static_cast<int>(to_integer("--seeds", text, 1, 1000));
         },
         "seeds 1 to N for every method (default: as the experiment declares)")
      ->type_name("N");
  app->add_option("--methods", options->methods, "only these, and what they take numbers from (default: all)")
      ->type_name("NAME,...");
  app->add_flag("--quick", options->quick, "small sizes, few iterations, one seed: under two minutes in all");
  app->add_flag("--resume", options->resume, "go on in a folder that holds finished runs; these are not done again");
  app->add_flag("--page-only", options->page_only, "run nothing; make the page of the runs that are finished");
  app->add_option("--declaration", options->declaration,
                  "an experiment of your own, or in place of the built-in one of the same name")
      ->type_name("FILE.json");
  add_integer(*app, "--threads", options->threads, 0, 4096, "0: all cores; the results do not depend on it");
  app->add_flag("--quiet,-q", options->quiet, "no progress, no notes, no summary");
  app->footer(kFooter);
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
