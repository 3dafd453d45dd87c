// tracenorm similar: the rows or columns of a model that are most like a given one.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/topic.hpp"
#include "commands.hpp"
#include "model_input.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "report/ranking.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

struct SimilarOptions {
  std::string model;
  std::vector<std::string> rows;
  std::vector<std::string> cols;
  std::int64_t top = 10;
  std::string output{kStdout};
};

constexpr const char* kSimilarExamples = R"(Examples:
  tracenorm similar model.npz --column "Toy Story"
  tracenorm similar model.npz --row alice --row bob --top 20 --output friends.tsv

The output has the name, place, other name and similarity, separated by tabs, most similar first. The similarity of two columns
is the cosine of the angle between them in the fitted matrix, offsets left out: 1 when the same rows like them equally, 0 when
they have nothing to do with each other, -1 when they are opposites. For rows likewise. One that the fit left at zero has none.)";

/// The factors of one side, scaled by the singular values: their inner products are those of the rows (or columns) of
/// X.
Eigen::MatrixXd scaled(const LowRankMatrix& x, bool rows) {
  Eigen::MatrixXd side = rows ? Eigen::MatrixXd(x.left()) : Eigen::MatrixXd(x.right());
  return side * x.values().asDiagonal();
}

void add_lists(const Labels& labels, Index count, const Eigen::MatrixXd& vectors, const std::vector<std::string>& names,
               const char* option, std::int64_t top, fmt::memory_buffer& text) {
  const io::LabelIndex index(labels, count);
  const Eigen::VectorXd norms = vectors.rowwise().norm();
  for (const std::string& name : names) {
    const std::optional<Index> at = index.find(name);
    if (!at) {
      throw TopicError(ErrorCode::input, Topic::unknown_names,
                       fmt::format("{}: the model does not know '{}'; give a name of the training data", option, name));
    }
    if (norms[*at] == 0) {
      throw Error(ErrorCode::input,
                  fmt::format("{}: the fit says nothing about '{}' beyond its offset, so nothing is similar to it",
                              option, name));
    }
    const Eigen::VectorXd product = vectors * vectors.row(*at).transpose();
    std::vector<double> cosine(static_cast<std::size_t>(count));
    std::vector<Index> left_out;
    for (Index i = 0; i < count; ++i) {
      if (i == *at || norms[i] == 0) left_out.push_back(i);
      if (norms[i] > 0) cosine[static_cast<std::size_t>(i)] = std::clamp(product[i] / norms[i] / norms[*at], -1.0, 1.0);
    }
    std::size_t place = 0;
    for (const Index other : report::best_columns(cosine, left_out, static_cast<std::size_t>(top))) {
      fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{:.4f}\n", name, ++place, labels.name(other),
                     cosine[static_cast<std::size_t>(other)]);
    }
  }
}

int run(const SimilarOptions& options) {
  if (options.rows.empty() && options.cols.empty()) {
    throw Error(ErrorCode::usage, "--row or --column: give the name that others should be similar to");
  }
  check_outputs({{"--output", options.output}}, {options.model});
  const Model model = open_model(options.model);
  const LowRankMatrix& x = model.factors;
  fmt::memory_buffer text;
  add_lists(model.rows, x.rows(), scaled(x, true), options.rows, "--row", options.top, text);
  add_lists(model.cols, x.cols(), scaled(x, false), options.cols, "--column", options.top, text);
  write_output(options.output, {text.data(), text.size()});
  return 0;
}

}  // namespace

void add_similar(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("similar", "the rows or columns that are most like a given one");
  const auto options = std::make_shared<SimilarOptions>();
  add_model_argument(*app, options->model);
  app->add_option("--row", options->rows, "name of a row; may be given several times")
      ->type_name("ID")
      ->allow_extra_args(false);
  app->add_option("--column", options->cols, "name of a column; may be given several times")
      ->type_name("ID")
      ->allow_extra_args(false);
  add_integer(*app, "--top", options->top, 1, 1'000'000'000, "how many are listed");
  app->add_option("--output", options->output, "where the lists go; - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  app->footer(kSimilarExamples);
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
