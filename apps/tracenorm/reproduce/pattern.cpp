#include "reproduce/pattern.hpp"

#include <algorithm>
#include <cmath>

#include "io/png.hpp"
#include "page/encoding.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::app {

namespace {

constexpr double kThreshold = 0.01;
constexpr Index kMostCells = 180;

/// Counts entries per cell of a picture.
class CellCounts {
 public:
  CellCounts(Index rows, Index cols) : rows_(rows), cols_(cols), cells_(std::min({rows, cols, kMostCells})) {
    const auto all = static_cast<std::size_t>(cells_) * static_cast<std::size_t>(cells_);
    nonzero_.assign(all, 0);
    total_.assign(all, 0);
  }
  void add(Index i, Index j, bool nonzero) {
    const auto line = static_cast<std::size_t>(static_cast<Offset>(i) * cells_ / rows_);
    const auto column = static_cast<std::size_t>(static_cast<Offset>(j) * cells_ / cols_);
    const std::size_t at = line * static_cast<std::size_t>(cells_) + column;
    total_[at] += 1;
    nonzero_[at] += nonzero ? 1 : 0;
  }
  [[nodiscard]] std::string picture() const {
    io::GrayImage image{static_cast<std::uint32_t>(cells_), static_cast<std::uint32_t>(cells_), {}};
    for (std::size_t k = 0; k < total_.size(); ++k) {
      const double share = total_[k] > 0 ? nonzero_[k] / total_[k] : 0;
      constexpr double kLevels = 15;  // few shades compress well, and nobody sees more
      image.pixel.push_back(static_cast<unsigned char>(255 - 17 * std::lround(kLevels * share)));
    }
    return base64(to_png(image));
  }

 private:
  Index rows_;
  Index cols_;
  Index cells_;
  std::vector<double> nonzero_;
  std::vector<double> total_;
};

}  // namespace

Json describe_pattern(const std::string& model_file, const std::string& truth_file) {
  const Model model = io::read_model(model_file);
  const io::Matrix truth = io::read_matrix(truth_file);
  if (truth.rows != model.factors.rows() || truth.cols != model.factors.cols()) {
    throw Error(ErrorCode::input, "'" + truth_file + "': the truth has another size than the answer");
  }
  const Eigen::MatrixXd x = model.factors.dense();
  const double threshold = kThreshold * x.cwiseAbs().maxCoeff();
  CellCounts answer(truth.rows, truth.cols);
  CellCounts right(truth.rows, truth.cols);
  double both = 0;
  double found = 0;
  double there = 0;
  double error = 0;
  double norm = 0;
  std::size_t at = 0;
  for (Index i = 0; i < truth.rows; ++i) {
    for (Index j = 0; j < truth.cols; ++j, ++at) {
      const double wanted = double(truth.value[at]);
      const bool is_there = wanted != 0;
      const bool is_found = std::abs(x(i, j)) > threshold;
      answer.add(i, j, is_found);
      right.add(i, j, is_there);
      both += is_there && is_found ? 1 : 0;
      found += is_found ? 1 : 0;
      there += is_there ? 1 : 0;
      error += (x(i, j) - wanted) * (x(i, j) - wanted);
      norm += wanted * wanted;
    }
  }
  const double precision = found > 0 ? both / found : 0;
  const double recall = there > 0 ? both / there : 0;
  return {{"nonzero", found / static_cast<double>(truth.value.size())},
          {"precision", precision},
          {"recall", recall},
          {"f1", precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0.0},
          {"relative_error", std::sqrt(error / norm)},
          {"picture", answer.picture()},
          {"truth", right.picture()}};
}

}  // namespace tracenorm::app
