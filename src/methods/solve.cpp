#include "tracenorm/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/topic.hpp"
#include "cpu/backend.hpp"
#include "cuda/backend.hpp"
#include "distributed/backend.hpp"
#include "linalg/lapack.hpp"
#include "methods/cancelled.hpp"
#include "methods/environment.hpp"
#include "methods/methods.hpp"
#include "model/entry_checks.hpp"
#include "tracenorm/checkpoint.hpp"

namespace tracenorm {

namespace {

struct NamedMethod {
  MethodHelp help;
  Method method;
};

/// Methods of the literature keep their own steps.
template <class Width>
const methods::FrankWolfe kLiterature{.width = Width{}, .step = methods::StepRule::open_loop};

/// Every name a user can say, with what it stands for.
const std::vector<NamedMethod>& named_methods() {
  static const std::vector<NamedMethod> all{
      {{"fwua", "Frank-Wolfe with uniform affine approximations: the width follows the steps"}, methods::FrankWolfe{}},
      {{"rdfw", "fwua with rank-drop steps: the rank stays near that of the solution"}, methods::RankDrop{}},
      {{"corrective", "Frank-Wolfe directions, then descent over the factors: small certified gaps fast"},
       methods::Corrective{}},
      {{"sccg", "smoothed conditional gradient: a fixed width mu"}, kLiterature<ConstantWidth>},
      {{"sccg-sg", "the limit mu = 0 of sccg: a subgradient, need not converge"}, kLiterature<ZeroWidth>},
      {{"hcgs", "hybrid conditional gradient with smoothing: width ~ 1/sqrt(k+1)"}, kLiterature<RootWidth>},
      {{"genfb", "generalized forward-backward for the penalised problem (dense, smooth losses)"}, methods::GenFB{}},
      {{"rlrmc", "Riemannian conjugate gradients at a fixed rank (nonconvex, absolute loss)"}, methods::Rlrmc{}},
      {{"glrl", "greedy low-rank learning, our reading (nonconvex rank cap)"}, methods::Glrl{}},
  };
  return all;
}

void check_frank_wolfe(const methods::FrankWolfe& options) {
  check_fields(options);
  std::visit([](const auto& width) { check_fields(width); }, options.width);
}

void check(const Method& method) {
  std::visit(
      [](const auto& options) {
        using M = std::decay_t<decltype(options)>;
        check_fields(options);
        if constexpr (std::is_same_v<M, methods::FrankWolfe>) check_frank_wolfe(options);
        if constexpr (std::is_same_v<M, methods::RankDrop>) check_frank_wolfe(options.frank_wolfe);
      },
      method);
}

/// Whether it meets the data by the seam alone, so that ranks can share the rows.
bool shares_rows(const Method& method) {
  return !std::holds_alternative<methods::GenFB>(method) && !std::holds_alternative<methods::Rlrmc>(method) &&
         !std::holds_alternative<methods::Glrl>(method);
}

/// Where the entries will live, and its name.
std::pair<const Backend&, std::string> choose_backend(const Problem& problem, const RunOptions& run,
                                                      const RunHooks& hooks) {
  if (hooks.backend != nullptr) return {*hooks.backend, "custom"};
  const bool cuda =
      run.backend == "cuda" || (run.backend == "auto" && hooks.ranks == nullptr && worth_a_device(problem));
  if (!cuda) return {cpu_backend(), "cpu"};
  return {cuda_backend(), "cuda"};
}

/// Lets go of `freed`, which may be the start, as soon as it can.
void begin_at(const LowRankMatrix& start, Evaluator& evaluator, LowRankMatrix* freed) {
  if (start.rows() != evaluator.rows() || start.cols() != evaluator.cols()) {
    throw Error(ErrorCode::usage, fmt::format("the start is {} x {}, the problem is {} x {}; they must agree",
                                              start.rows(), start.cols(), evaluator.rows(), evaluator.cols()));
  }
  if (!start.values().allFinite() || !start.left().allFinite() || !start.right().allFinite()) {
    throw Error(ErrorCode::usage, "the start holds values that are not finite numbers");
  }
  FactoredMatrix z(evaluator.panels(), start);
  if (freed != nullptr) *freed = {};
  z = evaluator.norm().from_data(std::move(z));
  z.compress(evaluator.symmetry());
  const double norm = z.trace_norm_bound();
  if (norm > evaluator.radius()) z.scale(evaluator.radius() / norm);
  evaluator.restart(std::move(z));
}

void begin_at(const SideOffsets& start, Evaluator& evaluator) {
  const bool fits = start.row.size() == static_cast<std::size_t>(evaluator.rows()) &&
                    start.col.size() == static_cast<std::size_t>(evaluator.cols());
  if (!fits || !evaluator.offsets().active()) {
    throw Error(ErrorCode::usage,
                fmt::format("there are offsets of {} rows and {} columns, the problem is {} x {}{}; they must agree",
                            start.row.size(), start.col.size(), evaluator.rows(), evaluator.cols(),
                            evaluator.offsets().active() ? "" : " without offsets"));
  }
  evaluator.restart(ModelPoint{FactoredMatrix(evaluator.panels()), evaluator.offsets().upload(start)});
}

/// The result, or the state that the run goes on from.
struct Leg {
  Result result;
  State state{};
};

Leg run_leg(const Problem& problem, const Method& method, const RunOptions& run, const RunHooks& hooks,
            const State* from) {
  const Execution execution(threads_of(run, hooks));
  const lapack::OneThread blas;  // for what methods do on the host, whatever the backend
  const auto& [local, name] = choose_backend(problem, run, hooks);
  const Ranks::Traffic before = hooks.ranks != nullptr ? hooks.ranks->traffic() : Ranks::Traffic{};
  std::optional<DistributedBackend> shared;
  if (hooks.ranks != nullptr) shared.emplace(local, *hooks.ranks);
  Evaluator evaluator(problem, execution, shared ? *shared : local, run.seed);
  if (from == nullptr && hooks.start_offsets != nullptr) begin_at(*hooks.start_offsets, evaluator);
  if (from == nullptr && hooks.start != nullptr) begin_at(*hooks.start, evaluator, hooks.free_start);
  if (hooks.free_start != nullptr) *hooks.free_start = {};
  Session session(run, hooks, evaluator, from);
  std::visit([&](const auto& chosen) { methods::run(chosen, problem, evaluator, session); }, method);
  if (session.paused()) return {{}, session.take_state()};
  Leg leg{session.finish(method_name(method), is_bounded(method))};
  leg.result.environment.backend = name;
  if (hooks.ranks != nullptr) {
    leg.result.environment.ranks = hooks.ranks->size();
    leg.result.environment.messages = hooks.ranks->traffic().calls - before.calls;
    leg.result.environment.bytes_sent = hooks.ranks->traffic().bytes - before.bytes;
  }
  return leg;
}

}  // namespace

Method parse_method(std::string_view name) {
  std::string known;
  for (const NamedMethod& named : named_methods()) {
    if (named.help.name == name) return named.method;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", named.help.name);
  }
  throw Error(ErrorCode::usage, fmt::format("method: unknown method '{}'; there are: {}", name, known), "method");
}

std::string method_name(const Method& method) {
  return std::visit(
      [](const auto& options) -> std::string {
        using M = std::decay_t<decltype(options)>;
        if constexpr (std::is_same_v<M, methods::FrankWolfe>) {
          if (std::holds_alternative<ConstantWidth>(options.width)) return "sccg";
          if (std::holds_alternative<ZeroWidth>(options.width)) return "sccg-sg";
          if (std::holds_alternative<RootWidth>(options.width)) return "hcgs";
          return "fwua";
        } else {
          return std::string(M::name);
        }
      },
      method);
}

bool is_bounded(const Method& method) {
  return std::visit([](const auto& options) { return std::decay_t<decltype(options)>::bounded; }, method);
}

bool carries_offsets(const Method& method) { return is_bounded(method); }

std::vector<MethodHelp> method_help() {
  std::vector<MethodHelp> help;
  for (const NamedMethod& named : named_methods()) help.push_back(named.help);
  return help;
}

Result solve(const Problem& problem, const Method& method, const RunOptions& options, const RunHooks& hooks) {
  check(problem, options.threads);
  check(method);
  check_fields(options);
  if (!is_bounded(method) && problem.constraint.weighted()) {
    throw Error(ErrorCode::usage, fmt::format("method {} has no bound on the trace norm, so norm weights mean nothing "
                                              "to it; leave them out or take another method",
                                              method_name(method)));
  }
  if (hooks.ranks != nullptr && !shares_rows(method)) {
    throw TopicError(
        ErrorCode::usage, Topic::ranks,
        fmt::format("method {} needs the whole matrix in one process; take fwua, rdfw or corrective, or start "
                    "it without several ranks",
                    method_name(method)),
        "method");
  }
  if (hooks.ranks != nullptr && problem.constraint.symmetric()) {
    throw TopicError(ErrorCode::usage, Topic::ranks,
                     "a symmetric problem, as every covariance is, is for one process: several ranks share rows, not a "
                     "triangle; start it without several ranks");
  }
  if (!is_bounded(method) && problem.constraint.symmetric()) {
    throw Error(ErrorCode::usage,
                fmt::format("method {} does not know of symmetry = {}; take fwua, rdfw or corrective, or leave it out",
                            method_name(method), to_string(problem.constraint.symmetry)));
  }
  if (hooks.validation != nullptr) {
    if (hooks.validation->size() == 0) throw Error(ErrorCode::input, "the validation set is empty");
    check_held_out(*hooks.validation, rows(problem.observations), cols(problem.observations), problem.loss);
  }
  RunOptions run = options;
  if (const auto* corrective = std::get_if<methods::Corrective>(&method)) {
    if (!run.gap) run.gap = corrective->tolerance;
  }
  if (problem.offsets && !carries_offsets(method)) {
    throw Error(
        ErrorCode::usage,
        fmt::format("method {} does not fit offsets together with X; take fwua, rdfw or corrective, or fit them "
                    "beforehand",
                    method_name(method)),
        "method");
  }
  if (hooks.checkpoints == nullptr || !hooks.checkpoints->open() || cancelled(hooks)) {
    return run_leg(problem, method, run, hooks, nullptr).result;
  }
  const SolveIdentity identity = identity_of(problem, method, run, hooks);
  if (std::optional<Result> known = hooks.checkpoints->answer(identity)) return *std::move(known);
  const State* from = hooks.checkpoints->current(identity);
  Leg leg = run_leg(problem, method, run, hooks, from);
  while (!leg.state.empty()) {
    from = hooks.checkpoints->stand(identity, std::move(leg.state));
    leg = run_leg(problem, method, run, hooks, from);
  }
  hooks.checkpoints->finish(identity, leg.result);
  return std::move(leg.result);
}

double objective(const Problem& problem, const LowRankMatrix& x, int threads, const SideOffsets& offsets) {
  check(problem, threads);
  OwnEvaluator evaluator(problem, threads);
  if (problem.offsets || !offsets.row.empty() || !offsets.col.empty()) begin_at(offsets, *evaluator);
  return evaluator->objective_of_data(FactoredMatrix(evaluator->panels(), x));
}

}  // namespace tracenorm
