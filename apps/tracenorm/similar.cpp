// tracenorm similar: the rows or columns of a model that are most like a given one.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/execution.hpp"
#include "base/topic.hpp"
#include "commands.hpp"
#include "model_input.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "process_ranks.hpp"
#include "report/ranking.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

struct SimilarOptions {
  std::string model;
  std::vector<std::string> rows;
  std::vector<std::string> cols;
  std::int64_t top = 10;
  int threads = 0;
  std::string output{kStdout};
};

constexpr const char* kSimilarExamples = R"(Examples:
  tracenorm similar model.npz --column "Toy Story"
  tracenorm similar model.npz --row alice --row bob --top 20 --output friends.tsv

The output has the name, place, other name and similarity, separated by tabs, most similar first. The similarity of two columns
is the cosine of the angle between them in the fitted matrix, offsets left out: 1 when the same rows like them equally, 0 when
they have nothing to do with each other, -1 when they are opposites. For rows likewise. One that the fit left at zero has none.)";

/// One side of X, and who is like whom there.
class Side {
 public:
  Side(const LowRankMatrix& x, bool rows, const Labels& labels, const Execution& execution)
      : labels_(labels), execution_(execution), count_(rows ? x.rows() : x.cols()), vectors_(count_, x.terms()) {
    norms_.resize(count_);
    for_each_block([&](Index first, Index some) {
      const auto scale = [&](const auto& factor) {
        vectors_.middleRows(first, some) = factor.middleRows(first, some) * x.values().asDiagonal();
      };
      if (rows) {
        scale(x.left());
      } else {
        scale(x.right());
      }
      norms_.segment(first, some) = vectors_.middleRows(first, some).rowwise().norm();
    });
  }

  void add_lists(const std::vector<std::string>& names, const char* option, std::int64_t top,
                 fmt::memory_buffer& text) const {
    const io::LabelIndex index(labels_, count_);
    for (const std::string& name : names) {
      const std::optional<Index> at = index.find(name);
      if (!at) {
        throw TopicError(
            ErrorCode::input, Topic::unknown_names,
            fmt::format("{}: the model does not know '{}'; give a name of the training data", option, name));
      }
      if (norms_[*at] == 0) {
        throw Error(ErrorCode::input,
                    fmt::format("{}: the fit says nothing about '{}' beyond its offset, so nothing is similar to it",
                                option, name));
      }
      const std::vector<double> cosine = cosines(*at);
      std::vector<Index> left_out;
      for (Index i = 0; i < count_; ++i)
        if (i == *at || norms_[i] == 0) left_out.push_back(i);
      std::size_t place = 0;
      for (const Index other : report::best_columns(cosine, left_out, static_cast<std::size_t>(top))) {
        fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{:.4f}\n", name, ++place, labels_.name(other),
                       cosine[static_cast<std::size_t>(other)]);
      }
    }
  }

 private:
  template <class Work>
  void for_each_block(const Work& work) const {
    constexpr Offset block = 4096;
    execution_.for_each_block(
        count_, block, [&](Offset first, Offset some) { work(static_cast<Index>(first), static_cast<Index>(some)); });
  }

  [[nodiscard]] std::vector<double> cosines(Index at) const {
    std::vector<double> cosine(static_cast<std::size_t>(count_));
    const Eigen::VectorXd one = vectors_.row(at).transpose();
    for_each_block([&](Index first, Index some) {
      const Eigen::VectorXd product = vectors_.middleRows(first, some) * one;
      for (Index i = 0; i < some; ++i) {
        const double norm = norms_[first + i];
        if (norm > 0)
          cosine[static_cast<std::size_t>(first + i)] = std::clamp(product[i] / norm / norms_[at], -1.0, 1.0);
      }
    });
    return cosine;
  }

  const Labels& labels_;
  const Execution& execution_;
  Index count_;
  Eigen::MatrixXd vectors_;  // scaled by the singular values: their inner products are those of the rows of X
  Eigen::VectorXd norms_;
};

int run(const SimilarOptions& options) {
  if (options.rows.empty() && options.cols.empty()) {
    throw Error(ErrorCode::usage, "--row or --column: give the name that others should be similar to");
  }
  check_outputs({{"--output", options.output}}, {options.model});
  const Model model = open_model(options.model);
  const Execution execution(own_threads(options.threads));
  fmt::memory_buffer text;
  if (!options.rows.empty())
    Side(model.factors, true, model.rows, execution).add_lists(options.rows, "--row", options.top, text);
  if (!options.cols.empty())
    Side(model.factors, false, model.cols, execution).add_lists(options.cols, "--column", options.top, text);
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
  add_integer(*app, "--threads", options->threads, 0, 4096, "0: all cores; the result does not depend on it");
  app->add_option("--output", options->output, "where the lists go; - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  app->footer(kSimilarExamples);
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
