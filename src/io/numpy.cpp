#include "io/numpy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "io/files.hpp"
#include "io/loops.hpp"
#include "io/readers.hpp"
#include "io/text.hpp"
#include "io/utf8.hpp"

namespace tracenorm::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr bool little_endian = std::endian::native == std::endian::little;

// The text that follows "'key':" in the header's dictionary.
std::string_view after_key(std::string_view dictionary, std::string_view key, const ByteSource& source) {
  std::size_t at = dictionary.find(fmt::format("'{}'", key));
  if (at != std::string_view::npos) at = dictionary.find(':', at);
  if (at == std::string_view::npos)
    fail("'{}': the .npy header has no '{}': {}", source.name(), key, excerpt(dictionary));
  return trim(dictionary.substr(at + 1));
}

void parse_type(std::string_view text, NpyHeader& header, const ByteSource& source) {
  if (!text.starts_with('\''))
    fail("'{}': structured .npy data are not read; save a plain array of numbers", source.name());
  const std::string_view type = text.substr(1, text.find('\'', 1) - 1);
  const std::optional<std::int64_t> bytes = parse_integer(type.size() > 2 ? type.substr(2) : "");
  const bool known_order = !type.empty() && (type[0] == '<' || type[0] == '>' || type[0] == '|' || type[0] == '=');
  if (!known_order || type.size() < 2 || std::string_view("fiubSU").find(type[1]) == std::string_view::npos || !bytes ||
      *bytes < 0 || *bytes > (std::int64_t{1} << 31U)) {
    fail("'{}': the data type {} is not read; save the array as float32, float64, integers or bool", source.name(),
         excerpt(type));
  }
  header.kind = type[1];
  header.item_bytes = static_cast<std::size_t>(*bytes) * (header.kind == 'U' ? 4 : 1);
  header.swapped = (type[0] == '>' && little_endian) || (type[0] == '<' && !little_endian);
}

void parse_shape(std::string_view text, NpyHeader& header, const ByteSource& source) {
  const std::size_t end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos)
    fail("'{}': the .npy header has a bad shape: {}", source.name(), excerpt(text));
  FieldSplitter splitter(Separator::comma);
  double product = static_cast<double>(std::max<std::size_t>(1, header.item_bytes));
  for (const std::string_view field : splitter.split(text.substr(1, end - 1))) {
    if (field.empty()) continue;
    const std::optional<std::int64_t> extent = parse_integer(field);
    if (!extent || *extent < 0) fail("'{}': the .npy header has a bad shape: {}", source.name(), excerpt(text));
    header.shape.push_back(*extent);
    product *= static_cast<double>(*extent);
  }
  if (product > 1e18) fail("'{}': the .npy header has an impossible shape: {}", source.name(), excerpt(text));
}

// The header's dictionary; what stands before it is the magic, the version and the length of the dictionary.
std::string read_dictionary(ByteSource& source) {
  char start[12];
  constexpr std::size_t short_start = 10;
  if (source.peek(1).empty()) fail("'{}' is empty: a .npy array was expected", source.name());
  if (!source.peek(magic.size()).starts_with(magic)) {
    fail("'{}' is not a .npy array: it begins with {}; save it by numpy.save", source.name(),
         excerpt(source.peek(magic.size())));
  }
  const auto get = [&](char* into, std::size_t size) {
    if (source.read(into, size) != size)
      fail("'{}' ends early, within the .npy header: it is truncated", source.name());
  };
  get(start, short_start);
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3)
    fail("'{}': .npy version {} is not read; versions 1 to 3 are", source.name(), version);
  const auto byte = [&](int k) { return std::size_t{static_cast<unsigned char>(start[k])}; };
  std::size_t length = byte(8) | (byte(9) << 8U);
  if (version > 1) {
    get(start + short_start, 2);
    length |= (byte(10) << 16U) | (byte(11) << 24U);
  }
  constexpr std::size_t longest = std::size_t{1} << 24U;
  if (length > longest) fail("'{}': the .npy header claims {} bytes: the file is damaged", source.name(), length);
  std::string dictionary(length, '\0');
  get(dictionary.data(), length);
  return dictionary;
}

Index parse_extent(std::int64_t extent, const char* what, const ByteSource& source) {
  if (extent > std::numeric_limits<Index>::max())
    fail("'{}' has {} {}; at most {} are possible", source.name(), extent, what, std::numeric_limits<Index>::max());
  return static_cast<Index>(extent);
}

std::string entry_name(const std::pair<std::size_t, std::size_t>& place) {
  return fmt::format("the entry in row {}, column {} (from 0)", place.first, place.second);
}

/// Appends them to the values. Returns how many of them may be: up to the first that is infinite or too large.
template <class Number>
std::size_t append(const Number* numbers, std::size_t count, std::vector<Real>& values) {
  const std::size_t before = values.size();
  values.resize(before + count);
  Real* const value = values.data() + before;
  const auto too_large = [](Number number) {
    if constexpr (std::is_floating_point_v<Number>) {
      return std::fabs(number) > Number{std::numeric_limits<Real>::max()};
    } else {
      return false;
    }
  };
  bool bad = false;  // no way out of the loop: the compiler turns it into vectors
  for (std::size_t k = 0; k < count; ++k) {
    bad |= too_large(numbers[k]);
    value[k] = static_cast<Real>(numbers[k]);
  }
  return bad ? static_cast<std::size_t>(std::find_if(numbers, numbers + count, too_large) - numbers) : count;
}

[[noreturn]] void fail_large(double number, const std::string& where) {
  if (std::isinf(number)) fail("{} is infinite; NaN marks a missing entry, all others must be finite", where);
  fail("{} is too large, {}; values are kept in single precision", where, number);
}

template <class Number>
void write_numbers(const std::string& path, Index rows, Index cols, const Number* numbers, bool fortran_order) {
  static_assert(little_endian, "bytes are written as they are in memory");
  AtomicFile file(path);
  file.write(npy_header(sizeof(Number) == 4 ? "<f4" : "<f8", fortran_order, {rows, cols}));
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  file.write({reinterpret_cast<const char*>(numbers), count * sizeof(Number)});
  file.commit();
}

}  // namespace

std::int64_t NpyHeader::count() const {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;  // whatever the others are
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

std::string NpyHeader::shape_text() const {
  return shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", fmt::join(shape, ", "));
}

void detail::fail_npy_short(const ByteSource& source, const NpyHeader& header) {
  fail("'{}' ends early: {} elements of {} bytes were promised, fewer are there; the file is truncated", source.name(),
       header.count(), header.item_bytes);
}

void detail::fail_npy_number(const ByteSource& source, const NpyHeader& header) {
  fail("'{}': data of type {}{} are not read as numbers; save the array as float32, float64, integers or bool",
       source.name(), header.kind, header.item_bytes);
}

void detail::finish_npy(ByteSource& source) { source.peek(1); }

NpyHeader read_npy_header(ByteSource& source) {
  const std::string dictionary = read_dictionary(source);
  NpyHeader header;
  parse_type(after_key(dictionary, "descr", source), header, source);
  header.fortran_order = after_key(dictionary, "fortran_order", source).starts_with("True");
  parse_shape(after_key(dictionary, "shape", source), header, source);
  if (header.item_bytes == 0 && header.count() > 0) {  // no size of a file vouches for their number
    fail("'{}': {} elements of no bytes were promised; the file is damaged", source.name(), header.count());
  }
  const auto data_bytes = static_cast<std::uint64_t>(header.count()) * header.item_bytes;
  if (source.size() && *source.size() < data_bytes) detail::fail_npy_short(source, header);
  return header;
}

std::size_t npy_room(const ByteSource& source, const NpyHeader& header) {
  const auto count = static_cast<std::size_t>(header.count());
  return source.size() ? count : std::min(count, std::size_t{1} << 20U);
}

std::vector<std::string> read_npy_texts(ByteSource& source, const NpyHeader& header,
                                        FunctionRef<std::int64_t(std::int64_t)> number) {
  if (header.kind != 'U' && header.kind != 'S') fail("'{}': text was expected, not numbers", source.name());
  std::vector<std::string> texts;
  std::vector<char> item(header.count() > 0 ? header.item_bytes : 0);  // elsewhere nothing vouches for its size
  for (std::int64_t k = 0; k < header.count(); ++k) {
    if (source.read(item.data(), item.size()) != item.size()) detail::fail_npy_short(source, header);
    std::string& text = texts.emplace_back();
    if (header.kind == 'S') {
      text.assign(item.data(), item.size());
    } else {
      for (std::size_t at = 0; at < item.size(); at += 4) {
        char* unit = item.data() + at;
        if (header.swapped) std::reverse(unit, unit + 4);
        char32_t code_point = 0;
        std::memcpy(&code_point, unit, 4);
        if (code_point > 0x10ffff) fail("'{}': element {} is not text: it is damaged", source.name(), number(k));
        append_utf8(text, code_point);
      }
    }
    text.erase(text.find_last_not_of('\0') + 1);  // NumPy pads with zeros
  }
  detail::finish_npy(source);
  return texts;
}

std::string npy_header(std::string_view type, bool fortran_order, const std::vector<std::int64_t>& shape) {
  NpyHeader header;
  header.shape = shape;
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type,
                                       fortran_order ? "True" : "False", header.shape_text());
  constexpr std::size_t before = 10;
  constexpr std::size_t alignment = 64;  // what NumPy itself keeps, so that data can be mapped
  dictionary.append((alignment - (before + dictionary.size() + 1) % alignment) % alignment, ' ');
  dictionary.push_back('\n');
  std::string bytes(magic);
  bytes.push_back(1);
  bytes.push_back(0);
  bytes.push_back(static_cast<char>(dictionary.size() & 0xffU));
  bytes.push_back(static_cast<char>(dictionary.size() >> 8U));
  return bytes + dictionary;
}

Matrix read_npy(ByteSource source, const Execution& execution) {
  const NpyHeader header = read_npy_header(source);
  if (header.shape.size() != 2) {
    fail("'{}' has {} dimension{}, shape {}; a matrix needs two", source.name(), header.shape.size(),
         header.shape.size() == 1 ? "" : "s", header.shape_text());
  }
  Matrix matrix;
  matrix.rows = parse_extent(header.shape[0], "rows", source);
  matrix.cols = parse_extent(header.shape[1], "columns", source);
  if (header.count() == 0) fail("'{}' is {} x {}: it has no entries", source.name(), matrix.rows, matrix.cols);
  const auto rows = static_cast<std::size_t>(matrix.rows);
  const auto cols = static_cast<std::size_t>(matrix.cols);
  const auto place = [&](std::size_t k) {
    return header.fortran_order ? std::pair(k % rows, k / rows) : std::pair(k / cols, k % cols);
  };
  std::vector<Real>& value = matrix.value;
  value.reserve(npy_room(source, header));
  visit_blocks(source, header, [&](const auto* numbers, std::size_t count) {
    const std::size_t before = value.size();
    const std::size_t fine = append(numbers, count, value);
    if (fine < count)
      fail_large(static_cast<double>(numbers[fine]),
                 fmt::format("'{}': {}", source.name(), entry_name(place(before + fine))));
  });
  if (header.fortran_order)
    value = by_rows(value, rows, cols, execution, [&](std::size_t row, std::size_t col) { return col * rows + row; });
  return matrix;
}

void write_npy_columns(const std::string& path, Index rows, Index cols, const double* column_major) {
  write_numbers(path, rows, cols, column_major, true);
}

void write_npy(const std::string& path, Index rows, Index cols, const Real* row_major) {
  write_numbers(path, rows, cols, row_major, false);
}

}  // namespace tracenorm::io
