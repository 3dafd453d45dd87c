// What one pass over the data costs, on one and two threads. Everything is measured in turns, many times, and what is
// reported of two things is the median of their ratios: other work on the machine meets both alike. A pass stands next
// to a plain read of the same number of bytes, the sparse product also next to Eigen's. Prints JSON; bench/report.py
// makes tables of it.
//
// Usage: tracenorm_bench [--repetitions N] [--ratings FILE]
// FILE: ratings, of which half are taken; without it a made-up pattern of the same shape.
#include <fmt/format.h>

#include <Eigen/SparseCore>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/execution.hpp"
#include "base/random.hpp"
#include "cpu/backend.hpp"
#include "kernels/kernels.hpp"
#include "patterns.hpp"
#include "solver/evaluator.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/problem.hpp"

namespace tracenorm::bench {
namespace {

/// What is measured runs on one thread and on two in turn.
const std::array<Execution, 2> executions{Execution(1), Execution(2)};
std::size_t selected = 0;
const Execution& execution() { return executions[selected]; }

/// A problem with evaluators a few iterations into a run, so that slopes and iterate are typical.
struct Case {
  Problem problem;
  std::array<std::unique_ptr<Evaluator>, 2> evaluators;
  double width = 0;

  /// The evaluator looks at `problem`, so a case stays where it was made.
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;
  ~Case() = default;
  explicit Case(Problem made) : problem(std::move(made)) {
    for (std::size_t e = 0; e < executions.size(); ++e) {
      evaluators[e] = std::make_unique<Evaluator>(problem, executions[e], cpu_backend(), 1);
      Evaluator& f = *evaluators[e];
      for (int k = 0; k < 4; ++k) {
        width = 2.0 * problem.radius() / (k + 2) / 100;
        f.linearize(width, false);
        f.aim(f.leading_atom({0.1, 6}).atom);
        f.move(2.0 / (k + 2));
      }
      f.linearize(width, false);
      f.aim(f.leading_atom({0.1, 6}).atom);
      f.linearize(width, false);
    }
  }
  [[nodiscard]] Evaluator& evaluator() const { return *evaluators[selected]; }
};

SparseObservations read_ratings(const std::string& path) {
  const io::NamedEntries table = io::read_entries(path);
  Random random(1);
  Entries half;
  for (std::size_t e = 0; e < table.entries.row.size(); ++e) {
    if (random.uniform() < 0.5) continue;
    half.row.push_back(table.entries.row[e]);
    half.col.push_back(table.entries.col[e]);
    half.value.push_back(table.entries.value[e] - Real(3.6));
  }
  return make_sparse(table.rows, table.cols, half);
}

Problem make_sparse_problem(SparseObservations data) {
  return {std::move(data), losses::Absolute{}, NoPenalty{}, TraceNormBall{6400}};
}

/// A full n x n matrix with the squared loss and an l1 penalty. Links: zeros and ones, half of them missing.
Problem make_dense_problem(Index n, bool links) {
  Random random(1);
  std::vector<Real> data(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  for (Real& value : data) {
    value = links ? (random.uniform() < 0.01 ? Real(1) : Real(0)) : static_cast<Real>(random.normal());
    if (links && random.uniform() < 0.5) value = std::numeric_limits<Real>::quiet_NaN();
  }
  return {DenseObservations{n, n, std::move(data), {}}, losses::Squared{0.5}, L1Penalty{0.01}, TraceNormBall{100}};
}

/// The fused product out = M'Mv on the kernels, sharded as the store does it, with a matrix of its own; for one
/// vector, or sparse for a block of them.
class NormalPass {
 public:
  explicit NormalPass(const Problem& problem, Index width = 1)
      : sparse_(std::get_if<SparseObservations>(&problem.observations)), width_(width) {
    const Offset* begin = sparse_ != nullptr ? sparse_->pattern.begin() : nullptr;
    const Index row_count = rows(problem.observations);
    cols_ = cols(problem.observations);
    const Offset count = sparse_ != nullptr ? sparse_->pattern.entries() : Offset(row_count) * cols_;
    Random random(3);
    value_.resize(static_cast<std::size_t>(count));
    for (Real& value : value_) value = Real(2 * random.uniform() - 1);
    if (sparse_ != nullptr) rank_columns();
    cuts_ = cut_rows(row_count, count, begin, cols_);
    const Eigen::Index size = Eigen::Index(cols_) * width;
    v_.setConstant(size, Real(0.01));
    product_.resize(Eigen::Index(row_count) * width);
    out_.resize(size);
    outputs_.resize(size, static_cast<Eigen::Index>(cuts_.size()) - 1);
  }

  void operator()() {
    const kernels::LinearKernels& kernel = kernels::linear_kernels();
    execution().for_each_shard(static_cast<int>(outputs_.cols()), [&](int s) {
      const Index first = cuts_[static_cast<std::size_t>(s)];
      const Index last = cuts_[static_cast<std::size_t>(s) + 1];
      Real* out = outputs_.col(s).data();
      outputs_.col(s).setZero();
      if (sparse_ != nullptr) {
        const auto normal = width_ == 1 ? kernel.narrow.normal_fast : kernel.narrow.normal_block;
        normal({sparse_->pattern.begin(), col_.data(), value_.data(), first, last}, v_.data(),
               {nullptr, nullptr, product_.data()}, out);
      } else {
        kernel.dense_normal_fast({value_.data(), cols_, first, last}, v_.data(), {nullptr, nullptr, product_.data()},
                                 out);
      }
    });
    out_ = outputs_.col(0).cast<double>();
    for (Eigen::Index s = 1; s < outputs_.cols(); ++s) out_ += outputs_.col(s).cast<double>();
  }

  /// The same matrix for Eigen.
  [[nodiscard]] Eigen::SparseMatrix<float, Eigen::RowMajor> eigen() const {
    const SparsePattern& pattern = sparse_->pattern;
    Eigen::SparseMatrix<float, Eigen::RowMajor> m(pattern.rows(), pattern.cols());
    m.reserve(pattern.entries());
    for (Index i = 0; i < pattern.rows(); ++i) {
      m.startVec(i);
      for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
        m.insertBack(i, pattern.col()[e]) = float(value_[static_cast<std::size_t>(e)]);
      }
    }
    m.finalize();
    return m;
  }

 private:
  void rank_columns() {
    std::vector<Offset> count(static_cast<std::size_t>(cols_), 0);
    const SparsePattern& pattern = sparse_->pattern;
    for (Offset e = 0; e < pattern.entries(); ++e) ++count[static_cast<std::size_t>(pattern.col()[e])];
    std::vector<Index> order(count.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
      return count[static_cast<std::size_t>(a)] > count[static_cast<std::size_t>(b)];
    });
    std::vector<ShortIndex> rank(count.size());
    for (std::size_t k = 0; k < rank.size(); ++k) {
      rank[static_cast<std::size_t>(order[k])] = static_cast<ShortIndex>(k);
    }
    for (Offset e = 0; e < pattern.entries(); ++e) col_.push_back(rank[static_cast<std::size_t>(pattern.col()[e])]);
  }

  const SparseObservations* sparse_;
  Index width_;
  Index cols_;
  std::vector<Real> value_;
  std::vector<ShortIndex> col_;
  std::vector<Index> cuts_;
  Eigen::Matrix<Real, Eigen::Dynamic, 1> v_;
  Eigen::Matrix<Real, Eigen::Dynamic, 1> product_;
  Eigen::VectorXd out_;
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> outputs_;
};

/// A plain read: the sum of all 8-byte words.
__attribute__((target_clones("avx512f", "avx2", "default"))) std::uint64_t read_words(const std::uint64_t* words,
                                                                                      std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += words[i];
  return sum;
}

class PlainRead {
 public:
  explicit PlainRead(double bytes) : words_(static_cast<std::size_t>(bytes / 8), 1) {}
  void operator()() {
    constexpr int shards = 16;
    std::array<std::uint64_t, shards> sums{};
    execution().for_each_shard(shards, [&](int s) {
      const std::size_t from = words_.size() * std::size_t(s) / shards;
      const std::size_t to = words_.size() * std::size_t(s + 1) / shards;
      sums[std::size_t(s)] = read_words(words_.data() + from, to - from);
    });
    total = std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
  }
  std::uint64_t total = 0;

 private:
  std::vector<std::uint64_t> words_;
};

/// Seconds per call of calls that follow each other, as the passes of a run do: threads that slept are awake by then.
double seconds_of(const std::function<void()>& work) {
  constexpr double enough = 0.03;
  work();
  const auto start = std::chrono::steady_clock::now();
  double seconds = 0;
  int calls = 0;
  for (; seconds < enough; ++calls) {
    work();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return seconds / calls;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// One line of the report: a pass, its bytes, and what it is compared with.
struct Measured {
  std::string data;
  std::string pass;
  double entries;
  double bytes;
  std::function<void()> work;
  std::function<void()> read;
  std::function<void()> other = nullptr;  // Eigen's product, on one thread
};

void measure(const Measured& m, int repetitions, bool last) {
  std::array<std::vector<double>, 2> time;  // by threads - 1
  std::array<std::vector<double>, 2> read_time;
  std::vector<double> other_time;
  for (int r = -1; r < repetitions; ++r) {  // the first round warms up
    for (const int threads : {1, 2}) {
      selected = std::size_t(threads) - 1;
      const double work = seconds_of(m.work);
      const double read = seconds_of(m.read);
      if (r < 0) continue;
      time[std::size_t(threads) - 1].push_back(work);
      read_time[std::size_t(threads) - 1].push_back(read);
    }
    if (m.other && r >= 0) other_time.push_back(seconds_of(m.other));
  }
  const auto ratio = [](const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> ratios;
    for (std::size_t k = 0; k < a.size(); ++k) ratios.push_back(a[k] / b[k]);
    return median(ratios);
  };
  const auto least = [](const std::vector<double>& t) { return *std::min_element(t.begin(), t.end()); };
  for (const std::size_t t : {std::size_t(0), std::size_t(1)}) {
    fmt::print(
        "  {{\"data\": \"{}\", \"pass\": \"{}\", \"threads\": {}, \"entries\": {}, \"bytes\": {}, \"seconds\": "
        "{:.6g}, \"read_seconds\": {:.6g}, \"share_of_read\": {:.4f}, \"best_share_of_read\": {:.4f}",
        m.data, m.pass, t + 1, m.entries, m.bytes, least(time[t]), least(read_time[t]), ratio(read_time[t], time[t]),
        least(read_time[t]) / least(time[t]));
    if (t == 1) {
      fmt::print(", \"speedup\": {:.3f}, \"best_speedup\": {:.3f}", ratio(time[0], time[1]),
                 least(time[0]) / least(time[1]));
    }
    if (t == 0 && m.other) {
      fmt::print(", \"eigen_seconds\": {:.6g}, \"times_eigen\": {:.3f}, \"best_times_eigen\": {:.3f}",
                 least(other_time), ratio(other_time, time[0]), least(other_time) / least(time[0]));
    }
    fmt::print("}}{}\n", last && t == 1 ? "" : ",");
  }
  std::fflush(stdout);
}

/// The passes of one iteration. Bytes per entry are what a pass must move at least.
std::vector<Measured> passes(const std::string& name, const std::shared_ptr<Case>& data) {
  const auto entries = static_cast<double>(data->evaluator().entries());
  const bool sparse = std::holds_alternative<SparseObservations>(data->problem.observations);
  const bool coded = name.find("links") != std::string::npos;
  const double real = sizeof(Real);
  const double index = sparse ? sizeof(ShortIndex) : 0.0;
  const double datum = coded ? 1.0 : real;
  const auto line = [&](const std::string& pass, double bytes, std::function<void()> work) {
    const auto read = std::make_shared<PlainRead>(entries * bytes);
    return Measured{name, pass, entries, entries * bytes, std::move(work), [read] { (*read)(); }};
  };
  const auto product = std::make_shared<NormalPass>(data->problem);
  std::vector<Measured> all;
  all.push_back(line("normal", real + index, [product] { (*product)(); }));
  if (sparse) {
    const auto block = std::make_shared<NormalPass>(data->problem, kernels::kBlockColumns);
    all.push_back(line("normal of four", real + index, [block] { (*block)(); }));
    const auto m = std::make_shared<Eigen::SparseMatrix<float, Eigen::RowMajor>>(product->eigen());
    const auto v = std::make_shared<Eigen::VectorXf>(Eigen::VectorXf::Constant(m->cols(), 0.01F));
    const auto out = std::make_shared<Eigen::VectorXf>(m->cols());
    all[0].other = [m, v, out] { *out = m->transpose() * (*m * *v); };
    using Block = Eigen::Matrix<float, Eigen::Dynamic, kernels::kBlockColumns, Eigen::RowMajor>;
    const auto four = std::make_shared<Block>(Block::Constant(m->cols(), kernels::kBlockColumns, 0.01F));
    const auto four_out = std::make_shared<Block>(m->cols(), kernels::kBlockColumns);
    all[1].other = [m, four, four_out] { *four_out = m->transpose() * (*m * *four); };
  }
  all.push_back(line("linearize", 2 * real + datum, [data] { data->evaluator().linearize(data->width, false); }));
  // A step of one replaces the iterate, so the factors do not grow.
  all.push_back(line("move", 2 * real + index, [data] { data->evaluator().move(1.0); }));
  return all;
}

}  // namespace
}  // namespace tracenorm::bench

int main(int argc, char** argv) {
  using namespace tracenorm;
  using namespace tracenorm::bench;
  int repetitions = 15;
  std::string ratings;
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string option = argv[k];
    if (option == "--repetitions") repetitions = std::stoi(argv[k + 1]);
    if (option == "--ratings") ratings = argv[k + 1];
  }
  fmt::print("{{\"instruction_set\": \"{}\", \"repetitions\": {}, \"passes\": [\n",
             kernels::to_string(kernels::selected()), repetitions);
  const auto measure_all = [&](const std::string& name, Problem problem, bool last) {
    const std::vector<Measured> all = passes(name, std::make_shared<Case>(std::move(problem)));
    for (std::size_t k = 0; k < all.size(); ++k) measure(all[k], repetitions, last && k + 1 == all.size());
  };
  measure_all("ratings 6040 x 3706", make_sparse_problem(make_ratings(6040, 3706, 500000)), false);
  if (ratings.empty()) {
    measure_all("ratings 47730 x 17760", make_sparse_problem(make_ratings(47730, 17760, 5000000)), false);
  } else {
    measure_all("half of the ratings", make_sparse_problem(read_ratings(ratings)), false);
  }
  measure_all("dense 4039 x 4039", make_dense_problem(4039, false), false);
  measure_all("links 4039 x 4039", make_dense_problem(4039, true), true);
  fmt::print("]}}\n");
  return 0;
}
