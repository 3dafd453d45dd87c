#include "tracenorm/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/exchange.hpp"
#include "base/fingerprint.hpp"
#include "base/topic.hpp"
#include "methods/kept_result.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/options.hpp"

namespace tracenorm {

namespace {

/// A leg meets about so many entries: minutes on a few cores. What begins anew with a leg (the search for the leading
/// pair, the layout of the data) costs less than a hundredth of that.
constexpr double kEntriesOfLeg = 1e11;
constexpr double kShortestLeg = 200;
constexpr double kLongestLeg = 5000;

/// Writing may take this share of the time.
constexpr double kShareOfWriting = 0.01;

using Clock = std::chrono::steady_clock;  // which does not jump

void add(Fingerprint& sum, const LowRankMatrix& x) {
  sum.add_all(Eigen::MatrixXd(x.left()));
  sum.add_all(Eigen::VectorXd(x.values()));
  sum.add_all(Eigen::MatrixXd(x.right()));
}

/// The first option that differs, as "radius = 30, not radius = 40".
std::string difference(const std::string& kept, const std::string& asked) {
  constexpr std::string_view separator = "; ";
  std::size_t begin = 0;
  for (std::size_t at = 0; at < std::min(kept.size(), asked.size()) && kept[at] == asked[at]; ++at) {
    if (kept.compare(at, separator.size(), separator) == 0) begin = at + separator.size();
  }
  const auto word = [&](const std::string& text) { return text.substr(begin, text.find(separator, begin) - begin); };
  return fmt::format("{}, not {}", word(kept), word(asked));
}

std::string text_of(const State& state, const char* name) {
  const auto at = state.texts.find(name);
  return at == state.texts.end() ? std::string() : at->second;
}

/// Of a function that only the caller knows: what tells it from another one of that name.
std::string values_of(const Loss& loss, const Observations& observations) {
  const auto* custom = std::get_if<losses::Custom>(&loss);
  if (custom == nullptr) return {};
  constexpr std::array kErrors{-2.5, -1.0, -0.3, -1e-3, 0.0, 1e-3, 0.3, 1.0, 2.5};
  constexpr std::size_t kData = 4;
  std::vector<double> x;
  std::vector<double> y;
  std::visit(
      [&](const auto& data) {
        for (const Real value : data.value) {
          const auto datum = double(value);
          if (std::isnan(datum)) continue;  // a hole
          for (const double error : kErrors) {
            x.push_back(datum + error * (1 + std::abs(datum)));
            y.push_back(datum);
          }
          if (y.size() == kData * kErrors.size()) break;
        }
      },
      observations);
  std::vector<double> values(x.size());
  custom->values(x.data(), y.data(), values.data(), values.size());
  Fingerprint sum;
  sum.add_all(values);
  return fmt::format(" with values {:016x}", sum.value());
}

/// Whether it was stopped before its end, so that there is more to do.
bool stopped(Status status) { return status == Status::interrupted || status == Status::time_limit; }

}  // namespace

SolveIdentity identity_of(const Problem& problem, const Method& method, const RunOptions& run, const RunHooks& hooks) {
  Fingerprint sum;
  sum.add_all(std::vector<std::uint64_t>{fingerprint(problem.observations)});
  sum.add_all(problem.constraint.row_weight);
  sum.add_all(problem.constraint.col_weight);
  if (hooks.start != nullptr) add(sum, *hooks.start);
  if (hooks.start_offsets != nullptr) {
    sum.add_all(hooks.start_offsets->row);
    sum.add_all(hooks.start_offsets->col);
  }
  if (hooks.validation != nullptr) {
    sum.add_all(hooks.validation->row);
    sum.add_all(hooks.validation->col);
    sum.add_all(hooks.validation->value);
  }
  std::string options = fmt::format("method = '{}'", method_name(method));
  for (const Option& option : options_of(method)) {
    options += fmt::format("; {} = {}", option.field.name, to_string(option.value));
  }
  options += fmt::format("; loss = {}{}; penalty = {}; radius = {}; seed = {}; certificate_share = {}",
                         to_string(problem.loss), values_of(problem.loss, problem.observations),
                         to_string(problem.penalty), problem.radius(), run.seed, run.certificate_share);
  if (problem.constraint.symmetric()) options += fmt::format("; symmetry = {}", to_string(problem.constraint.symmetry));
  options += fmt::format("; validation = {}; keep_dual = {}; offsets = {}",
                         run.validation_measure == ValidationMeasure::rmse ? "rmse" : "loss", run.keep_dual,
                         problem.offsets.has_value());
  return {fmt::format("{:016x}", sum.value()), std::move(options),
          fmt::format("iterations = {}; gap = {}; patience = {}", run.iterations, run.gap.value_or(0), run.patience)};
}

Checkpoints::Checkpoints(Checkpoint from, std::string name, Write write, const CheckpointOptions& options)
    : checkpoint_(std::move(from)), name_(std::move(name)), write_(std::move(write)), options_(options) {}

double Checkpoints::leg_passes(Offset entries) const {
  const double by_size = kEntriesOfLeg / static_cast<double>(std::max<Offset>(entries, 1));
  return options_.leg_passes.value_or(std::clamp(by_size, kShortestLeg, kLongestLeg));
}

void Checkpoints::sign(const SolveIdentity& identity, State& state) const {
  state.texts["data"] = identity.data;
  state.texts["options"] = identity.options;
  state.texts["limits"] = identity.limits;
  state.texts["solve"] = std::to_string(next_);
}

void Checkpoints::check(const SolveIdentity& identity, const State& state) const {
  const std::string options = text_of(state, "options");
  if (options != identity.options) {
    throw TopicError(ErrorCode::input, Topic::checkpoint,
                     fmt::format("{} was made with other options: {}; only limits may change", name_,
                                 difference(options, identity.options)));
  }
  if (text_of(state, "data") != identity.data) {
    throw TopicError(ErrorCode::input, Topic::checkpoint,
                     fmt::format("{} belongs to other data; give those it was made with", name_));
  }
}

std::optional<Result> Checkpoints::answer(const SolveIdentity& identity) {
  if (!open_ || next_ >= checkpoint_.answers.size()) return std::nullopt;
  const State& state = checkpoint_.answers[next_];
  check(identity, state);
  const bool last = next_ + 1 == checkpoint_.answers.size();
  if (last && text_of(state, "limits") != identity.limits) {
    checkpoint_.answers.pop_back();
    return std::nullopt;
  }
  ++next_;
  Result result;
  about(Topic::checkpoint, [&] { exchange(Exchange::restore(state).part("result"), result); });
  return result;
}

const State* Checkpoints::current(const SolveIdentity& identity) {
  if (text_of(checkpoint_.current, "solve") != std::to_string(next_)) return nullptr;  // it is of one before
  check(identity, checkpoint_.current);
  return &checkpoint_.current;
}

const State* Checkpoints::stand(const SolveIdentity& identity, State state) {
  checkpoint_.current = std::move(state);
  sign(identity, checkpoint_.current);
  write_if_due();
  return &checkpoint_.current;
}

void Checkpoints::finish(const SolveIdentity& identity, const Result& result) {
  if (stopped(result.status)) {
    write();
    open_ = false;
    return;
  }
  Result kept = result;
  State& state = checkpoint_.answers.emplace_back();
  exchange(Exchange::keep(state).part("result"), kept);
  sign(identity, state);
  // Who asks for more of the last one goes on from where it stood.
  if (text_of(checkpoint_.current, "solve") != std::to_string(next_)) checkpoint_.current = {};
  ++next_;
  write_if_due();
}

void Checkpoints::write_if_due() {
  const double since = std::chrono::duration<double>(Clock::now() - written_).count();
  if (since >= std::max(options_.seconds, options_.seconds > 0 ? cost_ / kShareOfWriting : 0)) write();
}

void Checkpoints::write() {
  const Clock::time_point begin = Clock::now();
  write_(checkpoint_);
  written_ = Clock::now();
  cost_ = std::chrono::duration<double>(written_ - begin).count();
}

}  // namespace tracenorm
