// tracenorm generate covariance: a noisy matrix with a block-diagonal truth, as in the paper's Figures 2 to 4.
#include <Eigen/Core>
#include <algorithm>
#include <memory>

#include "base/random.hpp"
#include "commands.hpp"
#include "generate.hpp"
#include "option_values.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/low_rank_matrix.hpp"

namespace tracenorm::app {

namespace {

struct CovarianceOptions {
  GenerateOptions common;
  Index n = 750;
  Index blocks = 5;
  double noise = 0.2;
  bool literal = false;
};

constexpr const char* kCovarianceExamples = R"(Examples:
  tracenorm generate covariance cov.npy --n 750 --seed 1 --truth
  tracenorm generate covariance cov.npy --n 1000 --noise 0.1 --truth clean.npy

Each block is v v' with v uniform on [-1,1]. The noise is drawn for every entry by itself, so the matrix that is written is not
symmetric, although the truth is (unless --literal).)";

using Truth = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double uniform_sign(Random& random) { return 2 * random.uniform() - 1; }

/// First row of block b: the sizes differ by at most one.
Index block_begin(const CovarianceOptions& options, Index b) {
  return static_cast<Index>(static_cast<Offset>(options.n) * b / options.blocks);
}

void fill_block(Eigen::Ref<Truth> block, Random& random, bool literal) {
  if (literal) {
    for (Eigen::Index i = 0; i < block.rows(); ++i) {
      for (Eigen::Index j = 0; j < block.cols(); ++j) block(i, j) = uniform_sign(random);
    }
    return;
  }
  Eigen::VectorXd v(block.rows());
  for (double& entry : v) entry = uniform_sign(random);
  block = v * v.transpose();
}

Truth make_truth(const CovarianceOptions& options, Random& random) {
  Truth truth = Truth::Zero(options.n, options.n);
  for (Index b = 0; b < options.blocks; ++b) {
    const Index begin = block_begin(options, b);
    const Index size = block_begin(options, b + 1) - begin;
    fill_block(truth.block(begin, begin, size, size), random, options.literal);
  }
  return truth;
}

void write_matrix(const std::string& path, const Truth& matrix) {
  std::vector<Real> values(static_cast<std::size_t>(matrix.size()));
  std::transform(matrix.data(), matrix.data() + matrix.size(), values.begin(),
                 [](double value) { return static_cast<Real>(value); });
  io::write_npy(path, static_cast<Index>(matrix.rows()), static_cast<Index>(matrix.cols()), values.data());
}

int run(const CovarianceOptions& options) {
  if (options.blocks > options.n) {
    throw Error(ErrorCode::usage, "--blocks: more blocks than rows; give at most --n blocks");
  }
  check_outputs(options.common.outputs(), {});
  Random random(options.common.seed);
  Truth matrix = make_truth(options, random);
  const std::string truth_path = options.common.truth_path();
  if (!truth_path.empty()) write_matrix(truth_path, matrix);
  for (double& entry : matrix.reshaped()) entry += options.noise * random.normal();
  write_matrix(options.common.file, matrix);

  std::vector<report::NamedValue> facts{
      {"file", options.common.file},     {"rows", std::int64_t{options.n}},
      {"cols", std::int64_t{options.n}}, {"blocks", std::int64_t{options.blocks}},
      {"noise", options.noise},          {"seed", static_cast<std::int64_t>(options.common.seed)}};
  if (!truth_path.empty()) facts.push_back({"truth", truth_path});
  report_facts(options.common, facts);
  return 0;
}

}  // namespace

void add_generate_covariance(CLI::App& generate, Action& action) {
  CLI::App* app = generate.add_subcommand("covariance", "a noisy matrix with a block-diagonal truth");
  const auto options = std::make_shared<CovarianceOptions>();
  add_generate_options(*app, options->common, "FILE.npy", "also write the matrix without noise (FILE.truth.npy)");
  add_integer(*app, "--n", options->n, 1, 100000, "rows and columns");
  add_integer(*app, "--blocks", options->blocks, 1, 100000, "blocks on the diagonal");
  add_number(*app, "--noise", options->noise, kNotNegative, "standard deviation of the Gaussian noise on every entry");
  app->add_flag("--literal", options->literal, "blocks of independent uniform entries instead of v v'");
  app->footer(kCovarianceExamples);
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
