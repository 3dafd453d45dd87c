// A whole matrix as a file, block by block: that of a model is never in memory as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

#include "io/files.hpp"
#include "io/messages.hpp"
#include "io/numpy.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {
namespace {

constexpr Index kBlock = 64;  // rows or columns at a time

/// A field of a table: in quotes where its letters would mean something else.
std::string quoted(const std::string& name, char separator) {
  const bool plain = name.find(separator) == std::string::npos && name.find_first_of("\"\n\r") == std::string::npos &&
                     !name.starts_with(' ') && !name.ends_with(' ');
  if (plain) return name;
  std::string field = "\"";
  for (const char c : name) field.append(c == '"' ? 2 : 1, c);
  return field + '"';
}

/// A matrix that can be asked for some of its rows or columns.
struct Whole {
  Index rows = 0;
  Index cols = 0;
  std::function<Eigen::MatrixXd(Index first, Index last)> some_rows;
  std::function<Eigen::MatrixXd(Index first, Index last)> some_cols;
};

/// Every entry as the model predicts it.
Whole predictions(const Model& model) {
  const LowRankMatrix& x = model.factors;
  const auto predicted = [&model](Eigen::MatrixXd block, Index row, Index col) {
    for (Index j = 0; j < block.cols(); ++j)
      for (Index i = 0; i < block.rows(); ++i) block(i, j) = model.preparation.predict(block(i, j), row + i, col + j);
    return block;
  };
  return {x.rows(), x.cols(),
          [&x, predicted](Index first, Index last) { return predicted(x.dense_rows(first, last), first, 0); },
          [&x, predicted](Index first, Index last) {
            return predicted(x.left() * x.values().asDiagonal() * x.right().middleRows(first, last - first).transpose(),
                             0, first);
          }};
}

/// visit(row, its values), from the first row to the last.
template <class Visit>
void for_each_row(const Whole& whole, Visit&& visit) {
  for (Index first = 0; first < whole.rows; first += kBlock) {
    const Index last = std::min<Index>(first + kBlock, whole.rows);
    const Eigen::MatrixXd lines = whole.some_rows(first, last).transpose();
    for (Index i = first; i < last; ++i) visit(i, lines.col(i - first));
  }
}

template <class Number>
void write_npy(AtomicFile& file, const Whole& whole) {
  file.write(npy_header(sizeof(Number) == 4 ? "<f4" : "<f8", false, {whole.rows, whole.cols}));
  for_each_row(whole, [&](Index, const auto& line) {
    const Eigen::VectorX<Number> narrow = line.template cast<Number>();
    file.write(
        {reinterpret_cast<const char*>(narrow.data()), static_cast<std::size_t>(narrow.size()) * sizeof(Number)});
  });
}

/// Names of columns in the first line and of rows in the first column, where there are names.
void write_table(AtomicFile& file, const Whole& whole, const Labels& rows, const Labels& cols, char separator) {
  const bool named = !rows.names.empty() || !cols.names.empty();
  std::string text;
  if (named) {
    for (Index j = 0; j < whole.cols; ++j) (text += separator) += quoted(cols.name(j), separator);
    text += '\n';
  }
  for_each_row(whole, [&](Index i, const auto& line) {
    if (named) (text += quoted(rows.name(i), separator)) += separator;
    for (Index j = 0; j < whole.cols; ++j) {
      if (j > 0) text += separator;
      fmt::format_to(std::back_inserter(text), "{:.7g}", line(j) + 0.0);
    }
    file.write(text += '\n');
    text.clear();
  });
}

/// Matrix Market's arrays go by columns.
void write_matrix_market(AtomicFile& file, const Whole& whole) {
  file.write(fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", whole.rows, whole.cols));
  std::string text;
  for (Index first = 0; first < whole.cols; first += kBlock) {
    const Eigen::MatrixXd block = whole.some_cols(first, std::min<Index>(first + kBlock, whole.cols));
    for (Index j = 0; j < block.cols(); ++j) {
      for (Index i = 0; i < whole.rows; ++i) fmt::format_to(std::back_inserter(text), "{:.7g}\n", block(i, j) + 0.0);
      file.write(text);
      text.clear();
    }
  }
}

/// `Number`: of .npy.
template <class Number>
void write_whole(const std::string& path, const Whole& whole, const Labels& rows, const Labels& cols) {
  const MatrixFile format = matrix_file_format(path);
  AtomicFile file(path);
  if (format == MatrixFile::npy) write_npy<Number>(file, whole);
  if (format == MatrixFile::csv) write_table(file, whole, rows, cols, ',');
  if (format == MatrixFile::tsv) write_table(file, whole, rows, cols, '\t');
  if (format == MatrixFile::matrix_market) write_matrix_market(file, whole);
  file.commit();
}

}  // namespace

MatrixFile matrix_file_format(const std::string& path) {
  if (path.ends_with(".npy")) return MatrixFile::npy;
  if (path.ends_with(".csv")) return MatrixFile::csv;
  if (path.ends_with(".tsv")) return MatrixFile::tsv;
  if (path.ends_with(".mtx")) return MatrixFile::matrix_market;
  throw Error(
      ErrorCode::usage,
      fmt::format("'{}' does not say how to write a matrix; give a name that ends in .npy, .csv, .tsv or .mtx", path));
}

double matrix_file_bytes(MatrixFile format, Index rows, Index cols) {
  constexpr double kAsText = 10;  // "3.141593" and what separates
  return static_cast<double>(rows) * static_cast<double>(cols) *
         (format == MatrixFile::npy ? static_cast<double>(sizeof(Real)) : kAsText);
}

void write_matrix(const std::string& path, const Model& model) {
  write_whole<Real>(path, predictions(model), model.rows, model.cols);
}

void write_matrix(const std::string& path, const Eigen::MatrixXd& matrix, const Labels& rows, const Labels& cols) {
  const Whole whole{static_cast<Index>(matrix.rows()), static_cast<Index>(matrix.cols()),
                    [&](Index first, Index last) { return matrix.middleRows(first, last - first); },
                    [&](Index first, Index last) { return matrix.middleCols(first, last - first); }};
  write_whole<double>(path, whole, rows, cols);
}

}  // namespace tracenorm::io
