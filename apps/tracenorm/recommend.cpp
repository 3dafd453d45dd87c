// tracenorm recommend: the columns with the largest predictions of a row.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>

#include "commands.hpp"
#include "option_values.hpp"
#include "outputs.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

namespace {

struct RecommendOptions {
  std::string model;
  std::vector<std::string> rows;
  std::int64_t top = 10;
  std::string seen;
  std::string output{kStdout};
  bool quiet = false;
};

constexpr const char* kFooter = R"(Examples:
  tracenorm recommend model.npz --row 196
  tracenorm recommend model.npz --row alice --row bob --top 20 --seen ratings.csv --output lists.tsv

The output has row, place, column and prediction, separated by tabs, best first. --seen leaves out what a row has already.
A row the model does not know gets the columns with the largest offsets, where the model has offsets.)";

/// Which columns each of the wanted rows has in the data already.
std::vector<std::set<Index>> seen_columns(const RecommendOptions& options, const Model& model,
                                          const std::vector<std::optional<Index>>& rows) {
  std::vector<std::set<Index>> seen(rows.size());
  if (options.seen.empty()) return seen;
  Offset unknown = 0;
  const io::Table table = io::read_table_like(options.seen, model.rows, model.cols, model.factors.rows(),
                                              model.factors.cols(), false, &unknown);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t e = 0; e < table.entries.row.size(); ++e) {
      if (rows[r] && table.entries.row[e] == *rows[r]) seen[r].insert(table.entries.col[e]);
    }
  }
  return seen;
}

std::vector<double> predictions(const Model& model, std::optional<Index> row) {
  std::vector<double> all(static_cast<std::size_t>(model.factors.cols()));
  if (!row) {
    for (Index j = 0; j < model.factors.cols(); ++j) {
      all[static_cast<std::size_t>(j)] = model.preparation.base(Preparation::kUnknown, j);
    }
    return all;
  }
  const Eigen::MatrixXd line = model.factors.dense_rows(*row, *row + 1);
  for (Index j = 0; j < model.factors.cols(); ++j) {
    all[static_cast<std::size_t>(j)] = model.preparation.undo(line(0, j), *row, j);
  }
  return all;
}

/// The best columns, ties by index.
std::vector<Index> best(const std::vector<double>& prediction, const std::set<Index>& left_out, std::size_t top) {
  std::vector<Index> order;
  for (std::size_t j = 0; j < prediction.size(); ++j) {
    if (!left_out.contains(static_cast<Index>(j))) order.push_back(static_cast<Index>(j));
  }
  top = std::min(top, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(),
                    [&](Index a, Index b) {
                      const double pa = prediction[static_cast<std::size_t>(a)];
                      const double pb = prediction[static_cast<std::size_t>(b)];
                      return pa != pb ? pa > pb : a < b;
                    });
  order.resize(top);
  return order;
}

int run(const RecommendOptions& options) {
  check_outputs({{"--output", options.output}}, {options.model, options.seen});
  const Model model = io::read_model(options.model);
  const io::LabelIndex names(model.rows, model.factors.rows());
  std::vector<std::optional<Index>> rows;
  for (const std::string& name : options.rows) {
    rows.push_back(names.find(name));
    if (rows.back()) continue;
    if (model.preparation.col_offset.empty()) {
      throw Error(ErrorCode::input, fmt::format("--row: the model does not know row '{}', and has no column offsets to "
                                                "answer by; give a row of the training data",
                                                name));
    }
    note(options.quiet, fmt::format("the model does not know row '{}': its list is by column offsets alone", name));
  }
  const std::vector<std::set<Index>> seen = seen_columns(options, model, rows);
  fmt::memory_buffer text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::vector<double> prediction = predictions(model, rows[r]);
    std::size_t place = 0;
    for (const Index col : best(prediction, seen[r], static_cast<std::size_t>(options.top))) {
      fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{:.7g}\n", options.rows[r], ++place, model.cols.name(col),
                     prediction[static_cast<std::size_t>(col)]);
    }
  }
  write_output(options.output, {text.data(), text.size()});
  return 0;
}

}  // namespace

void add_recommend(CLI::App& program, Action& action) {
  CLI::App* app = program.add_subcommand("recommend", "the columns with the largest predictions for given rows");
  const auto options = std::make_shared<RecommendOptions>();
  app->add_option("MODEL", options->model, "a file that --model wrote")->required()->type_name("FILE.npz");
  app->add_option("--row", options->rows, "name of a row; may be given several times")
      ->required()
      ->type_name("ID")
      ->allow_extra_args(false);
  add_integer(*app, "--top", options->top, 1, 1'000'000'000, "how many columns a row gets");
  app->add_option("--seen", options->seen, "entries whose columns are left out for their row")->type_name("FILE");
  app->add_option("--output", options->output, "where the lists go; - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  app->add_flag("--quiet,-q", options->quiet, "no notes");
  app->footer(kFooter);
  app->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace tracenorm::app
