// A run: the solver works without the interpreter's lock and takes it for callbacks, for a loss written in Python, and
// to see whether Ctrl-C was pressed.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "bindings.hpp"
#include "report/run_report.hpp"
#include "tracenorm/checkpoint.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::python {

namespace {

/// The first exception that Python code threw during a run. It waits here until the library's frames are left.
class Failure {
 public:
  /// Called inside a catch block, with the interpreter's lock held.
  void capture() {
    const std::lock_guard lock(mutex_);
    if (!exception_) exception_ = std::current_exception();
    happened_.store(true);
  }
  [[nodiscard]] const std::atomic<bool>& happened() const { return happened_; }
  void rethrow() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
  std::atomic<bool> happened_{false};
};

/// A loss written in Python, asked about whole blocks. After a failure it answers NaN, and the run ends.
class PythonLoss {
 public:
  PythonLoss(nb::object function, Failure& failure) : function_(std::move(function)), failure_(failure) {}

  void operator()(const double* x, const double* y, double* out, std::size_t count) const {
    std::fill_n(out, count, std::numeric_limits<double>::quiet_NaN());
    if (failure_.happened().load()) return;
    const nb::gil_scoped_acquire lock;
    try {
      const nb::object answer = function_(array(x, count), array(y, count));
      const auto values = nb::cast<Vector<double>>(answer);
      std::copy_n(values.data(), std::min(count, values.size()), out);
    } catch (...) {
      failure_.capture();
    }
  }

 private:
  /// A copy: Python code may keep what it was given.
  static nb::object array(const double* elements, std::size_t count) {
    return nb::cast(nb::ndarray<nb::numpy, const double>(elements, {count}), nb::rv_policy::copy);
  }

  nb::object function_;
  Failure& failure_;
};

/// Tells Python about iterations, and the run about Ctrl-C.
class PythonObserver : public Observer {
 public:
  PythonObserver(nb::object callback, Failure& failure) : callback_(std::move(callback)), failure_(failure) {}

  bool on_iteration(const Iteration& iteration, const RunOptions&) override {
    if (failure_.happened().load()) return false;
    const auto now = std::chrono::steady_clock::now();
    if (callback_.is_none() && now - last_look_ < kBetweenLooks) return true;
    last_look_ = now;
    const nb::gil_scoped_acquire lock;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      return callback_.is_none() || proceed(iteration);
    } catch (...) {
      failure_.capture();
      return false;
    }
  }

 private:
  static constexpr std::chrono::milliseconds kBetweenLooks{50};

  [[nodiscard]] bool proceed(const Iteration& iteration) const {
    try {
      return !nb::cast<bool>(nb::bool_(callback_(nb::cast(iteration, nb::rv_policy::copy))));
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_StopIteration)) throw;
      return false;
    }
  }

  nb::object callback_;
  Failure& failure_;
  std::chrono::steady_clock::time_point last_look_{};
};

/// One array per number that an iteration records; Python makes a structured array of them.
nb::dict trace_columns(const std::vector<Iteration>& trace) {
  nb::dict columns;
  const auto add = [&]<class T>(const char* name, T (*get)(const Iteration&)) {
    std::vector<T> column(trace.size());
    std::transform(trace.begin(), trace.end(), column.begin(), get);
    columns[name] = give(std::move(column));
  };
  using It = const Iteration&;
  add(
      "k", +[](It it) { return std::int64_t{it.k}; });
  add(
      "seconds", +[](It it) { return it.seconds; });
  add(
      "objective", +[](It it) { return it.objective; });
  add(
      "lower_bound", +[](It it) { return it.lower_bound; });
  add(
      "relative_gap", +[](It it) { return it.relative_gap; });
  add(
      "width", +[](It it) { return it.width; });
  add(
      "step", +[](It it) { return it.step; });
  add(
      "rank", +[](It it) { return std::int64_t{it.rank}; });
  add(
      "sigma", +[](It it) { return it.sigma; });
  add(
      "validation_rmse", +[](It it) { return it.validation_rmse; });
  add(
      "passes", +[](It it) { return it.counters.passes; });
  add(
      "products", +[](It it) { return std::int64_t{it.counters.products}; });
  return columns;
}

Dict describe(const Result& result) {
  nb::dict about;
  about["status"] = to_string(result.status);
  about["message"] = result.message;
  about["method"] = result.method;
  about["objective"] = result.objective;
  about["lower_bound"] = result.lower_bound;
  about["relative_gap"] = result.relative_gap;
  about["trace_norm"] = result.trace_norm;
  about["proof"] = to_string(result.certificate.proof);
  about["failure_probability"] = result.certificate.failure_probability;
  about["iterations"] = result.iterations;
  about["solution_iteration"] = result.solution_iteration;
  about["seconds"] = result.seconds;
  about["passes"] = result.counters.passes;
  about["products"] = result.counters.products;
  nb::dict environment;
  environment["version"] = result.environment.version;
  environment["compiler"] = result.environment.compiler;
  environment["instruction_set"] = result.environment.instruction_set;
  environment["threads"] = result.environment.threads;
  environment["seed"] = result.environment.seed;
  environment["backend"] = result.environment.backend;
  environment["ranks"] = result.environment.ranks;
  about["environment"] = environment;
  about["trace"] = trace_columns(result.trace);
  return Dict(about);
}

nb::list describe_path(const Fit& fit) {
  nb::list path;
  for (const RadiusStep& step : fit.path) {
    nb::dict about;
    about["radius"] = step.radius;
    about["lambda"] = step.lambda;
    about["loss"] = step.loss.empty() ? to_string(fit.problem.loss) : step.loss;
    about["turn"] = step.turn;
    about["gain"] = step.gain;
    about["small_gain"] = step.small_gain;
    about["validation_error"] = step.validation_error;
    about["objective"] = step.objective;
    about["relative_gap"] = step.relative_gap;
    about["rank"] = step.rank;
    about["iterations"] = step.iterations;
    about["seconds"] = step.seconds;
    about["chosen"] = &step == &fit.path[fit.path_best];
    path.append(about);
  }
  return path;
}

/// A name, or a Python function with a name to show.
Loss make_loss(const nb::object& function, const std::string& name, Failure& failure) {
  if (function.is_none()) return parse_loss(name);
  return losses::Custom::on_blocks(
      [ask = std::make_shared<PythonLoss>(function, failure)](const double* x, const double* y, double* out,
                                                              std::size_t count) { (*ask)(x, y, out, count); },
      name);
}

/// Where a run is kept, about how often, and after how much work.
using CheckpointArguments = std::tuple<std::string, double, std::optional<double>>;

/// A run that finds its file goes on from it; one that is done needs it no more. A file that cannot be written is a
/// warning: the run is worth more. Of several ranks the first writes.
class KeptRun {
 public:
  KeptRun(const std::optional<CheckpointArguments>& arguments, Ranks* ranks)
      : writes_(ranks == nullptr || ranks->is_first()) {
    if (!arguments) return;
    const auto& [file, seconds, passes] = *arguments;
    file_ = file;
    Checkpoint from;
    if (std::filesystem::exists(file_)) from = io::read_checkpoint(file_);
    checkpoints_.emplace(
        std::move(from), "checkpoint: '" + file_ + "'", [this](const Checkpoint& checkpoint) { write(checkpoint); },
        CheckpointOptions{seconds, passes});
  }

  [[nodiscard]] Checkpoints* get() { return checkpoints_ ? &*checkpoints_ : nullptr; }

  void end(Status status) {
    if (!checkpoints_) return;
    std::error_code ignored;
    if (!writes_) return;
    if (status != Status::interrupted && status != Status::time_limit) std::filesystem::remove(file_, ignored);
    if (!failure_.empty() && PyErr_WarnEx(PyExc_RuntimeWarning, failure_.c_str(), 1) != 0) throw nb::python_error();
  }

 private:
  void write(const Checkpoint& checkpoint) {
    if (!writes_) return;
    try {
      io::write_checkpoint(file_, checkpoint);
      failure_.clear();
    } catch (const Error& error) {
      failure_ = error.what();
    }
  }

  bool writes_;
  std::string file_;
  std::string failure_;
  std::optional<Checkpoints> checkpoints_;
};

/// Works without the interpreter's lock, then hands over what Python code threw meanwhile, or the model.
template <class Work>
std::pair<Model, Dict> watched(const nb::object& callback, const std::optional<CheckpointArguments>& checkpoint,
                               const ProcessRanks* ranks, Failure& failure, const Work& work) {
  PythonObserver observer(callback, failure);
  RunHooks hooks;
  hooks.ranks = ranks != nullptr ? ranks->ranks() : nullptr;
  KeptRun kept(checkpoint, hooks.ranks);
  hooks.observer = &observer;
  hooks.cancel = &failure.happened();
  hooks.checkpoints = kept.get();
  report::RunReport report;
  try {
    const nb::gil_scoped_release unlocked;
    static_cast<Fit&>(report) = work(hooks);
  } catch (const Error&) {
    failure.rethrow();  // a loss that failed while it was checked: its own words say more
    throw;
  }
  failure.rethrow();
  if (PyErr_CheckSignals() != 0) throw nb::python_error();  // Ctrl-C after the last look
  kept.end(report.result.status);
  Dict about = describe(report.result);
  about["radius_path"] = describe_path(report);
  about["claim"] =
      report.run.keep_dual && report.result.dual && !std::holds_alternative<losses::Custom>(report.problem.loss)
          ? nb::cast(claim_of(report.problem, report.preparation, report.result))
          : nb::none();
  return {report::make_model(report), about};
}

/// By rows, as NumPy has it.
Given<double> flat(const Eigen::MatrixXd& matrix) {
  const Eigen::MatrixXd by_rows = matrix.transpose();
  return give(std::vector<double>(by_rows.data(), by_rows.data() + by_rows.size()));
}

std::pair<Model, Dict> run_solve(const Data& data, const nb::object& loss, const std::string& loss_name,
                                 const std::string& penalty, double radius, const std::string& symmetry, bool sparse,
                                 double norm_power, double norm_smoothing, const Method& method, const Dict& run,
                                 const std::optional<EntryArrays>& validation, const nb::object& callback,
                                 const Model* start, bool keep_dual,
                                 const std::optional<CheckpointArguments>& checkpoint, const ProcessRanks* ranks) {
  Failure failure;
  Fit fit;
  fit.norm_weights = {norm_power, norm_smoothing};
  fit.problem = {data.observations, make_loss(loss, loss_name, failure), parse_penalty(penalty),
                 weighted_ball(radius, fit.norm_weights, data.observations)};
  fit.problem.constraint.symmetry = parse_symmetry(symmetry);
  fit.preparation = data.preparation;
  fit.method = method;
  set_options(fit.run, run);
  if (ranks != nullptr) ranks->expect_same(fingerprint(data.observations));
  fit.run.keep_dual = keep_dual || sparse;
  Entries held_out = validation ? entries_from(*validation) : Entries{};
  prepare(data.preparation, held_out);
  std::pair<Model, Dict> answer = watched(callback, checkpoint, ranks, failure, [&](RunHooks hooks) {
    hooks.validation = validation ? &held_out : nullptr;
    const LowRankMatrix begin = start != nullptr ? start->answer().factors : LowRankMatrix{};
    hooks.start = start != nullptr ? &begin : nullptr;
    fit.result = solve(fit.problem, fit.method, fit.run, hooks);
    return fit;
  });
  answer.second["sparse"] = nb::none();
  if (!sparse) return answer;
  SparseEstimate found;
  {
    const nb::gil_scoped_release unlocked;
    found = sparse_estimate(fit.problem, fit.result);
  }
  nb::dict about;
  about["matrix"] = flat(found.x);
  about["objective"] = found.objective;
  about["zeros"] = found.zeros;
  about["proved"] = found.proved;
  about["raised"] = found.raised;
  answer.second["sparse"] = about;
  return answer;
}

std::pair<Model, Dict> run_fit(std::pair<Index, Index> shape, const EntryArrays& entries,
                               const std::optional<Vector<Real>>& weight, const nb::object& loss,
                               const std::optional<std::string>& loss_name, const std::string& penalty,
                               const std::optional<std::string>& prepare, const Dict& settings,
                               const std::optional<Method>& method, bool refit, const Dict& run,
                               const std::optional<EntryArrays>& validation, const nb::object& callback, bool keep_dual,
                               const std::optional<CheckpointArguments>& checkpoint, const ProcessRanks* ranks) {
  Failure failure;
  FitOptions options;
  set_options(options, settings);
  set_options(options.run, run);
  options.run.keep_dual = keep_dual;
  options.method = method;
  options.refit = refit;
  options.penalty = parse_penalty(penalty);
  if (loss_name) options.loss = make_loss(loss, *loss_name, failure);
  if (prepare) options.prepare = parse_preparation(*prepare);
  FitData data{
      shape.first, shape.second, entries_from(entries), {}, validation ? entries_from(*validation) : Entries{}};
  if (weight) data.weight = copy(*weight);
  if (ranks != nullptr) ranks->expect_same(fingerprint(data.entries));
  return watched(callback, checkpoint, ranks, failure,
                 [&](const RunHooks& hooks) { return fit(std::move(data), options, hooks); });
}

std::pair<Model, Dict> run_covariance(const Matrix<double>& samples, const std::string& estimate, int folds,
                                      const std::optional<double>& l1, const nb::object& loss,
                                      const std::string& loss_name, const std::optional<Method>& method,
                                      const Dict& run) {
  Failure failure;
  CovarianceOptions options;
  options.estimate = parse_sample_estimate(estimate);
  options.folds = folds;
  options.fit.choose_l1 = !l1;
  if (l1 && *l1 > 0) options.fit.penalty = L1Penalty{*l1};
  options.fit.loss = make_loss(loss, loss_name, failure);
  options.fit.method = method;
  set_options(options.fit.run, run);
  const Samples data{static_cast<Index>(samples.shape(0)),
                     static_cast<Index>(samples.shape(1)),
                     {samples.data(), samples.data() + samples.size()}};
  CovarianceFit found;
  std::pair<Model, Dict> answer = watched(nb::none(), std::nullopt, nullptr, failure, [&](const RunHooks& hooks) {
    found = fit_covariance(data, options, hooks);
    return found.fit;
  });
  const Precision precision = precision_of(found.estimate);
  const Eigen::VectorXd& mean = found.estimate.mean;
  nb::dict about;
  about["location"] = give(std::vector<double>(mean.data(), mean.data() + mean.size()));
  about["covariance"] = flat(found.estimate.covariance());
  about["precision"] = flat(precision.matrix);
  about["ridge"] = precision.ridge;
  const auto* penalty = std::get_if<L1Penalty>(&found.fit.problem.penalty);
  about["l1"] = penalty != nullptr ? penalty->lambda : 0.0;
  about["far_values"] = found.estimate.far;
  answer.second["covariance"] = about;
  answer.second["sparse"] = nb::none();
  return answer;
}

}  // namespace

void bind_solve(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Iteration>(module, "Iteration", "What one iteration records; given to callbacks.")
      .def_ro("k", &Iteration::k, "Number of steps taken so far.")
      .def_ro("seconds", &Iteration::seconds)
      .def_ro("objective", &Iteration::objective)
      .def_ro("lower_bound", &Iteration::lower_bound, "The best certified so far.")
      .def_ro("relative_gap", &Iteration::relative_gap, "Certified: (objective - lower bound) / |lower bound|.")
      .def_ro("width", &Iteration::width)
      .def_ro("step", &Iteration::step)
      .def_ro("rank", &Iteration::rank, "Number of terms the iterate is stored with.")
      .def_ro("sigma", &Iteration::sigma)
      .def_ro("validation_rmse", &Iteration::validation_rmse)
      .def_prop_ro("passes", [](const Iteration& iteration) { return iteration.counters.passes; })
      .def_prop_ro("products", [](const Iteration& iteration) { return iteration.counters.products; });
  module.def("solve", &run_solve, "data"_a, "loss"_a.none(), "loss_name"_a, "penalty"_a, "radius"_a, "symmetry"_a,
             "sparse"_a, "norm_power"_a, "norm_smoothing"_a, "method"_a, "run"_a, "validation"_a.noconvert().none(),
             "callback"_a.none(), "start"_a.none(), "keep_dual"_a, "checkpoint"_a.none(), "ranks"_a.none());
  module.def("fit", &run_fit, "shape"_a, "entries"_a.noconvert(), "weight"_a.noconvert().none(), "loss"_a.none(),
             "loss_name"_a.none(), "penalty"_a, "prepare"_a.none(), "settings"_a, "method"_a.none(), "refit"_a, "run"_a,
             "validation"_a.noconvert().none(), "callback"_a.none(), "keep_dual"_a, "checkpoint"_a.none(),
             "ranks"_a.none());
  module.def("covariance", &run_covariance, "samples"_a.noconvert(), "estimate"_a, "folds"_a, "l1"_a.none(),
             "loss"_a.none(), "loss_name"_a, "method"_a.none(), "run"_a);
  module.attr("fewest_to_choose") = kFewestToChoose;
}

}  // namespace tracenorm::python
