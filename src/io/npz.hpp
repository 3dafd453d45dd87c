// NumPy's .npz: a zip archive of .npy arrays.
#pragma once

#include <Eigen/Core>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "io/archive.hpp"
#include "io/numpy.hpp"
#include "tracenorm/low_rank_matrix.hpp"

namespace tracenorm::io {

/// Arrays of which some rows alone are wanted: what is left of them has fewer.
struct WantedRows {
  std::vector<std::string> arrays;
  /// Whether this row, of so many, is.
  std::function<bool(std::int64_t row, std::int64_t rows)> wants;
  [[nodiscard]] bool of(const std::string& array) const;
};

/// The arrays of a file, in memory until they are taken: they may come in any order, and the file is read once.
class NpzArrays {
 public:
  /// `purpose` is what the file should be, for messages: "a model of this program". Throws `WrongKind` where it is no
  /// archive at all.
  NpzArrays(const std::string& path, const std::string& purpose, const WantedRows& wanted = {});
  NpzArrays(ArchiveReader archive, std::string purpose, const WantedRows& wanted = {});

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool has(const std::string& array) const { return bytes_.contains(array); }
  /// The bytes of an array, once; an error that lists what is there when it is missing.
  [[nodiscard]] ByteSource take(const std::string& array);

  /// All numbers of an array, which must be finite, with the shape.
  template <class Number = double>
  std::vector<Number> numbers(const std::string& array, std::size_t dimensions, std::vector<std::int64_t>& shape);
  /// The same of an array with one dimension.
  template <class Number = double>
  std::vector<Number> list(const std::string& array) {
    std::vector<std::int64_t> shape;
    return numbers<Number>(array, 1, shape);
  }
  [[nodiscard]] double number(const std::string& array);
  [[nodiscard]] std::int64_t integer(const std::string& array);
  [[nodiscard]] std::vector<std::string> texts(const std::string& array);
  [[nodiscard]] std::string text(const std::string& array);
  /// left, values and right, whose names begin with `prefix`.
  [[nodiscard]] LowRankMatrix factors(const std::string& prefix);

 private:
  [[nodiscard]] NpyHeader plain_header(ByteSource& source, std::size_t dimensions) const;
  [[nodiscard]] Eigen::MatrixXd factor(const std::string& array, std::int64_t terms);
  /// The number that an element has among all, wanted or not.
  [[nodiscard]] std::int64_t in_all(const std::string& array, const NpyHeader& header, std::int64_t element) const;
  [[noreturn]] void fail_not_finite(const std::string& array, const ByteSource& source, const NpyHeader& header,
                                    std::int64_t element, double value) const;

  std::string path_;
  std::string purpose_;
  WantedRows wanted_;
  std::map<std::string, std::int64_t> all_rows_;  // of the arrays of which some are wanted
  std::vector<std::string> members_;
  std::map<std::string, std::string> bytes_;  // by the name of the array, without ".npy"
};

template <class Number>
std::vector<Number> NpzArrays::numbers(const std::string& array, std::size_t dimensions,
                                       std::vector<std::int64_t>& shape) {
  ByteSource source = take(array);
  const NpyHeader header = plain_header(source, dimensions);
  std::vector<Number> values;
  values.reserve(npy_room(source, header));
  visit_numbers(source, header, [&](auto number) {
    const auto value = static_cast<Number>(number);  // NOLINT(bugprone-signed-char-misuse): a small number, no text
    if constexpr (std::is_floating_point_v<Number>) {
      if (!std::isfinite(value))
        fail_not_finite(array, source, header, std::ssize(values), static_cast<double>(number));
    }
    values.push_back(value);
  });
  shape = header.shape;
  return values;
}

// ---- members to write

static_assert(std::endian::native == std::endian::little, "arrays are written as they are in memory");

template <class Number>
std::string array_bytes(std::string_view type, const std::vector<std::int64_t>& shape, const Number* numbers,
                        std::size_t count) {
  std::string bytes = npy_header(type, false, shape);
  bytes.append(reinterpret_cast<const char*>(numbers), count * sizeof(Number));
  return bytes;
}
std::string vector_bytes(const std::vector<double>& numbers);
std::string vector_bytes(const std::vector<float>& numbers);
std::string vector_bytes(const std::vector<Index>& numbers);
std::string vector_bytes(const std::vector<Offset>& numbers);
std::string number_bytes(double number);
std::string integer_bytes(std::int64_t number);
/// All texts have the room of the longest, in characters.
std::string texts_bytes(const std::vector<std::string>& texts, const std::vector<std::int64_t>& shape,
                        std::size_t longest);
std::string text_bytes(const std::string& text);
/// left, values and right, with names that begin with `prefix`.
void add_factors(ArchiveWriter& archive, const std::string& prefix, const LowRankMatrix& factors);

}  // namespace tracenorm::io
