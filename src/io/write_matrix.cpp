// The whole matrix of a model as a file, block by block: it is never in memory as a whole.
#include <fmt/format.h>

#include <algorithm>
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

/// visit(row, predictions of its columns), from the first row to the last.
template <class Visit>
void for_each_row(const Model& model, Visit&& visit) {
  std::vector<double> line(static_cast<std::size_t>(model.factors.cols()));
  for (Index first = 0; first < model.factors.rows(); first += kBlock) {
    const Index last = std::min<Index>(first + kBlock, model.factors.rows());
    const Eigen::MatrixXd block = model.factors.dense_rows(first, last);
    for (Index i = first; i < last; ++i) {
      for (Index j = 0; j < model.factors.cols(); ++j) {
        line[static_cast<std::size_t>(j)] = model.preparation.predict(block(i - first, j), i, j);
      }
      visit(i, line);
    }
  }
}

void write_npy(AtomicFile& file, const Model& model) {
  static_assert(sizeof(Real) == 4 || sizeof(Real) == 8);
  file.write(npy_header(sizeof(Real) == 4 ? "<f4" : "<f8", false, {model.factors.rows(), model.factors.cols()}));
  std::vector<Real> narrow;
  for_each_row(model, [&](Index, const std::vector<double>& line) {
    narrow.assign(line.begin(), line.end());
    file.write({reinterpret_cast<const char*>(narrow.data()), narrow.size() * sizeof(Real)});
  });
}

/// Names of columns in the first line and of rows in the first column, where the model has names.
void write_table(AtomicFile& file, const Model& model, char separator) {
  const bool named = !model.rows.names.empty() || !model.cols.names.empty();
  std::string text;
  if (named) {
    for (Index j = 0; j < model.factors.cols(); ++j) (text += separator) += quoted(model.cols.name(j), separator);
    text += '\n';
  }
  for_each_row(model, [&](Index i, const std::vector<double>& line) {
    if (named) (text += quoted(model.rows.name(i), separator)) += separator;
    for (std::size_t j = 0; j < line.size(); ++j) {
      if (j > 0) text += separator;
      fmt::format_to(std::back_inserter(text), "{:.7g}", line[j] + 0.0);
    }
    file.write(text += '\n');
    text.clear();
  });
}

/// Matrix Market's arrays go by columns.
void write_matrix_market(AtomicFile& file, const Model& model) {
  const LowRankMatrix& x = model.factors;
  file.write(fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", x.rows(), x.cols()));
  std::string text;
  for (Index first = 0; first < x.cols(); first += kBlock) {
    const Index count = std::min<Index>(kBlock, x.cols() - first);
    const Eigen::MatrixXd block = x.left() * x.values().asDiagonal() * x.right().middleRows(first, count).transpose();
    for (Index j = 0; j < count; ++j) {
      for (Index i = 0; i < x.rows(); ++i) {
        const double value = model.preparation.predict(block(i, j), i, first + j);
        fmt::format_to(std::back_inserter(text), "{:.7g}\n", value + 0.0);
      }
      file.write(text);
      text.clear();
    }
  }
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
  const MatrixFile format = matrix_file_format(path);
  AtomicFile file(path);
  if (format == MatrixFile::npy) write_npy(file, model);
  if (format == MatrixFile::csv) write_table(file, model, ',');
  if (format == MatrixFile::tsv) write_table(file, model, '\t');
  if (format == MatrixFile::matrix_market) write_matrix_market(file, model);
  file.commit();
}

}  // namespace tracenorm::io
