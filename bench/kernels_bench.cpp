// What one pass over the data costs, for both evaluators, on one and two threads. Each pass stands next to a plain read
// of the same number of bytes, measured in the same run: the share of that speed says how far a kernel is from the
// memory's limit. bench/report.py makes a table of it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "evaluators/cpu_evaluator.hpp"
#include "kernels/kernels.hpp"
#include "tracenorm/evaluator.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm {
namespace {

/// A problem with an evaluator a few iterations into a run, so that slopes and iterate are typical.
struct Case {
  Problem problem;
  std::unique_ptr<Evaluator> evaluator;
  double width = 0;

  /// The evaluator looks at `problem`, so a case stays where it was made.
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;
  ~Case() = default;
  explicit Case(Problem made) : problem(std::move(made)), evaluator(make_evaluator(problem)) {
    for (int k = 0; k < 4; ++k) {
      width = 2.0 * problem.radius() / (k + 2) / 100;
      evaluator->linearize(width, false);
      evaluator->aim(evaluator->leading_atom({}).atom);
      evaluator->move(2.0 / (k + 2));
    }
    evaluator->linearize(width, false);
    evaluator->aim(evaluator->leading_atom({}).atom);
  }
};

/// The shape of half of MovieLens 1M: 6040 x 3706, 500,000 entries, few rows and columns with many of them.
Problem make_sparse_problem() {
  constexpr Index rows = 6040;
  constexpr Index cols = 3706;
  constexpr double wanted = 500000;
  Random random(1);
  std::vector<double> activity(rows);
  for (double& a : activity) a = std::exp(random.normal());
  const double total = std::accumulate(activity.begin(), activity.end(), 0.0);
  Entries entries;
  for (Index i = 0; i < rows; ++i) {
    const auto count = static_cast<std::size_t>(std::clamp(activity[std::size_t(i)] / total * wanted, 1.0, cols / 2.0));
    std::set<Index> chosen;
    while (chosen.size() < count) chosen.insert(static_cast<Index>(cols * std::pow(random.uniform(), 2.5)));
    for (const Index j : chosen) {
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(static_cast<Real>(random.normal()));
    }
  }
  return {make_sparse(rows, cols, entries), losses::Absolute{}, NoPenalty{}, TraceNormBall{6400}};
}

/// A full n x n matrix with the squared loss and an l1 penalty.
Problem make_dense_problem(Index n) {
  Random random(1);
  std::vector<Real> data(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  for (Real& value : data) value = static_cast<Real>(random.normal());
  return {DenseObservations{n, n, std::move(data), {}}, losses::Squared{0.5}, L1Penalty{0.4}, TraceNormBall{100}};
}

/// The fused product out = M'Mv on the kernels, sharded as the evaluators do it, with a matrix of its own.
class NormalPass {
 public:
  explicit NormalPass(const Problem& problem) : sparse_(std::get_if<SparseObservations>(&problem.observations)) {
    const Offset* begin = sparse_ != nullptr ? sparse_->pattern.begin() : nullptr;
    const Index row_count = rows(problem.observations);
    cols_ = cols(problem.observations);
    const Offset count = sparse_ != nullptr ? sparse_->pattern.entries() : Offset(row_count) * cols_;
    value_.assign(static_cast<std::size_t>(count), Real(0.5));
    cuts_ = cut_rows(row_count, count, begin);
    v_.setConstant(cols_, 0.01);
    out_.resize(cols_);
    outputs_.resize(cols_, static_cast<Eigen::Index>(cuts_.size()) - 1);
  }

  const Eigen::VectorXd& run() {
    const kernels::LinearKernels& kernel = kernels::linear_kernels();
    for_each_shard(static_cast<int>(outputs_.cols()), [&](int s) {
      const Index first = cuts_[static_cast<std::size_t>(s)];
      const Index last = cuts_[static_cast<std::size_t>(s) + 1];
      double* out = outputs_.col(s).data();
      outputs_.col(s).setZero();
      if (sparse_ != nullptr) {
        kernel.sparse_normal({sparse_->pattern.begin(), sparse_->pattern.col(), value_.data(), first, last}, v_.data(),
                             nullptr, nullptr, out);
      } else {
        kernel.dense_normal({value_.data(), cols_, first, last}, v_.data(), nullptr, nullptr, out);
      }
    });
    out_ = outputs_.rowwise().sum();
    return out_;
  }

 private:
  const SparseObservations* sparse_;
  Index cols_;
  std::vector<Real> value_;
  std::vector<Index> cuts_;
  Eigen::VectorXd v_;
  Eigen::VectorXd out_;
  Eigen::MatrixXd outputs_;
};

/// A plain read: the sum of all 8-byte words.
__attribute__((target_clones("avx512f", "avx2", "default"))) std::uint64_t read_words(const std::uint64_t* words,
                                                                                      std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += words[i];
  return sum;
}

std::uint64_t read_all(const std::vector<std::uint64_t>& words) {
  constexpr int shards = 16;
  std::array<std::uint64_t, shards> sums{};
  for_each_shard(shards, [&](int s) {
    const std::size_t from = words.size() * std::size_t(s) / shards;
    const std::size_t to = words.size() * std::size_t(s + 1) / shards;
    sums[std::size_t(s)] = read_words(words.data() + from, to - from);
  });
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

/// Registers NAME/PASS/threads:T for one and two threads, and next to each the read of the same bytes.
template <class Pass>
void add(const std::string& name, double entries, double bytes_per_entry, Pass pass) {
  const auto words =
      std::make_shared<std::vector<std::uint64_t>>(static_cast<std::size_t>(entries * bytes_per_entry / 8), 1);
  for (const int threads : {1, 2}) {
    const auto describe = [=](benchmark::State& state) {
      state.counters["entries"] = entries;
      state.counters["bytes"] = entries * bytes_per_entry;
      state.counters["threads"] = threads;
    };
    benchmark::RegisterBenchmark(fmt::format("{}/threads:{}", name, threads).c_str(), [=](benchmark::State& state) {
      set_threads(threads);
      for (auto _ : state) pass();
      describe(state);
    })->UseRealTime();
    benchmark::RegisterBenchmark(fmt::format("{}:read/threads:{}", name, threads).c_str(),
                                 [=](benchmark::State& state) {
                                   set_threads(threads);
                                   for (auto _ : state) benchmark::DoNotOptimize(read_all(*words));
                                   describe(state);
                                 })
        ->UseRealTime();
  }
}

/// The passes of one iteration. Bytes per entry are what a pass must move at least: sparse data have a column index (4
/// bytes) beside every value.
void add_case(const std::string& name, const std::shared_ptr<Case>& data) {
  Evaluator& evaluator = *data->evaluator;
  const auto entries = static_cast<double>(evaluator.entries());
  const bool sparse = std::holds_alternative<SparseObservations>(data->problem.observations);
  const double real = sizeof(Real);
  const double index = sparse ? sizeof(Index) : 0.0;
  const auto product = std::make_shared<NormalPass>(data->problem);
  add(name + "/normal", entries, real + index, [product] { benchmark::DoNotOptimize(product->run().data()); });
  add(name + "/linearize", entries, 3 * real, [data] {
    benchmark::DoNotOptimize(data->evaluator->linearize(data->width, data->evaluator->cheap_conjugate()));
  });
  // A step of one replaces the iterate, so the factors do not grow.
  add(name + "/move", entries, 2 * real + index, [data] { benchmark::DoNotOptimize(data->evaluator->move(1.0)); });
}

}  // namespace
}  // namespace tracenorm

int main(int argc, char** argv) {
  using namespace tracenorm;
  add_case("sparse 6040 x 3706", std::make_shared<Case>(make_sparse_problem()));
  add_case("dense 1500 x 1500", std::make_shared<Case>(make_dense_problem(1500)));
  add_case("dense 4039 x 4039", std::make_shared<Case>(make_dense_problem(4039)));
  benchmark::AddCustomContext("instruction_set", std::string(kernels::to_string(kernels::selected())));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
