#include "generate_parts.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <iterator>
#include <vector>

#include "base/among_ranks.hpp"
#include "base/execution.hpp"
#include "base/random.hpp"
#include "base/topic.hpp"
#include "io/files.hpp"
#include "linalg/symmetric_eigen.hpp"
#include "process_ranks.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

namespace fs = std::filesystem;

using Factor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Random numbers of a row, or of a column.
class Streams {
 public:
  enum class Of : std::uint64_t { rows, cols, changes };
  Streams(std::uint64_t seed, Of of)
      : base_(Random(seed + 0x632be59bd9b4e019ULL * static_cast<std::uint64_t>(of)).next()) {}
  [[nodiscard]] Random at(Index index) const {
    return Random(base_ ^ (0xd1342543de82ef95ULL * (static_cast<std::uint64_t>(index) + 1)));
  }

 private:
  std::uint64_t base_;
};

void make_folder(const std::string& folder) {
  std::error_code failure;
  if (fs::exists(folder, failure) && !(fs::is_directory(folder, failure) && fs::is_empty(folder, failure))) {
    throw TopicError(ErrorCode::input, Topic::writing,
                     fmt::format("cannot write '{}': it is there already; give the name of a new folder", folder));
  }
  fs::create_directory(folder, failure);
  if (failure) {
    throw TopicError(ErrorCode::input, Topic::writing, fmt::format("cannot write '{}': {}", folder, failure.message()));
  }
}

class Maker {
 public:
  Maker(const PartsProblem& problem, const Execution& execution)
      : problem_(problem), right_(problem.cols, problem.rank) {
    const Streams streams(problem.seed, Streams::Of::cols);
    constexpr Offset block = 4096;
    execution.for_each_block(problem.cols, block, [&](Offset first, Offset count) {
      for (Offset j = first; j < first + count; ++j) {
        Random random = streams.at(static_cast<Index>(j));
        for (double& entry : right_.row(j)) entry = random.normal();
      }
    });
  }

  struct Made {
    Offset observed = 0;
    Offset outliers = 0;
    Eigen::MatrixXd gram;  // of the left factor's rows
  };
  [[nodiscard]] Made write(const std::string& path, Index first, Index last) const {
    constexpr std::size_t block = std::size_t{1} << 20U;
    io::AtomicFile file(path);
    std::string text;
    Made made{0, 0, Eigen::MatrixXd::Zero(problem_.rank, problem_.rank)};
    Eigen::RowVectorXd left(problem_.rank);
    for (Index i = first; i < last; ++i) {
      append_row(i, left, made, text);
      if (text.size() < block) continue;
      file.write(text);
      text.clear();
    }
    file.write(text);
    file.commit();
    return made;
  }

  /// Of left right' / sqrt(rank), by their Gram matrices.
  [[nodiscard]] double trace_norm(const Eigen::MatrixXd& left_gram) const {
    const SymmetricEigen left = symmetric_eigen(left_gram);
    const Eigen::MatrixXd root = left.vectors * left.values.cwiseMax(0).cwiseSqrt().asDiagonal();
    const Eigen::MatrixXd right_gram = right_.transpose() * right_;
    const Eigen::VectorXd squares = symmetric_eigenvalues(root.transpose() * right_gram * root);
    return squares.cwiseMax(0).cwiseSqrt().sum() / std::sqrt(problem_.rank);
  }

 private:
  void append_row(Index i, Eigen::RowVectorXd& left, Made& made, std::string& text) const {
    Random random = rows_.at(i);
    Random change = changes_.at(i);
    for (double& entry : left) entry = random.normal();
    made.gram += left.transpose() * left;
    const double scale = 1 / std::sqrt(problem_.rank);
    // From one observed column to the next: how many are not is geometrically distributed.
    const double rate = std::log1p(-problem_.observed);
    double col = -1;
    while (true) {
      col += 1 + std::floor(std::log1p(-random.uniform()) / rate);
      if (!(col < problem_.cols)) return;
      const auto j = static_cast<Index>(col);
      double value = 0;
      for (Index k = 0; k < problem_.rank; ++k) value += left[k] * right_(j, k);
      value = scale * value + problem_.noise * change.normal();
      if (change.uniform() < problem_.outliers) {
        value += (change.uniform() < 0.5 ? -1 : 1) * (5 + 5 * change.uniform());
        ++made.outliers;
      }
      ++made.observed;
      fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\n", i, j, static_cast<Real>(value));
    }
  }

  PartsProblem problem_;
  Factor right_;
  Streams rows_{problem_.seed, Streams::Of::rows};
  Streams changes_{problem_.seed, Streams::Of::changes};
};

}  // namespace

PartsFacts write_parts(const std::string& folder, const PartsProblem& problem, int parts) {
  const int rank = ranks() == nullptr ? 0 : ranks()->rank();
  const int sharing = ranks() == nullptr ? 1 : ranks()->size();
  if (is_spokesman()) make_folder(folder);
  static_cast<void>(gathered(std::vector<char>(), ranks()));  // it is there for all
  const Execution execution(own_threads(0));
  const Maker maker(problem, execution);
  const int own = rank < parts ? (parts - 1 - rank) / sharing + 1 : 0;
  std::vector<Maker::Made> made(static_cast<std::size_t>(own));
  std::vector<std::exception_ptr> failure(made.size());
  const auto begin = [&](int part) { return static_cast<Index>(Offset{problem.rows} * part / parts); };
  execution.for_each_shard(own, [&](int k) {
    const int part = rank + k * sharing;
    const std::string path = (fs::path(folder) / fmt::format("part-{:06}.tsv", part)).string();
    const auto at = static_cast<std::size_t>(k);
    try {
      made[at] = maker.write(path, begin(part), begin(part + 1));
    } catch (...) {  // only this thread may pass it on
      failure[at] = std::current_exception();
    }
  });
  for (const std::exception_ptr& one : failure)
    if (one) std::rethrow_exception(one);

  // Sums in the order of the parts have the same bits on any number of ranks.
  const auto each = 2 + static_cast<std::size_t>(problem.rank) * static_cast<std::size_t>(problem.rank);
  std::vector<double> mine;
  for (const Maker::Made& one : made) {
    mine.push_back(static_cast<double>(one.observed));
    mine.push_back(static_cast<double>(one.outliers));
    mine.insert(mine.end(), one.gram.reshaped().begin(), one.gram.reshaped().end());
  }
  const std::vector<double> all = gathered(mine, ranks());
  std::vector<const double*> of_part(static_cast<std::size_t>(parts));
  const double* at = all.data();
  for (int r = 0; r < sharing; ++r) {
    for (int part = r; part < parts; part += sharing, at += each) of_part[static_cast<std::size_t>(part)] = at;
  }
  PartsFacts facts;
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(problem.rank, problem.rank);
  for (const double* part : of_part) {
    facts.observed += static_cast<Offset>(part[0]);
    facts.outliers += static_cast<Offset>(part[1]);
    gram += Eigen::Map<const Eigen::MatrixXd>(part + 2, problem.rank, problem.rank);
  }
  facts.trace_norm = maker.trace_norm(gram);
  return facts;
}

}  // namespace tracenorm::app
