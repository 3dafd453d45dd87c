#include "io/npz.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "io/messages.hpp"
#include "io/utf8.hpp"

namespace tracenorm::io {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::string read_whole(ByteSource source) {
  // What the archive says about the size is believed up to a point, and no memory is touched before there are bytes for
  // it: a small file must not take all there is.
  constexpr std::uint64_t most = std::uint64_t{1} << 28U;
  constexpr std::size_t step = std::size_t{1} << 16U;
  std::string bytes;
  bytes.reserve(std::min(source.size().value_or(0), most) + step);
  for (std::size_t got = step; got == step;) {
    const std::size_t filled = bytes.size();
    bytes.resize(filled + step);
    got = source.read(bytes.data() + filled, step);
    bytes.resize(filled + got);
  }
  return bytes;
}

/// The rows of an array that are wanted, as an array of its own; and how many there were.
std::string read_some(ByteSource source, const WantedRows& wanted, std::int64_t& all) {
  NpyHeader header = read_npy_header(source);
  const std::string type = fmt::format("{}{}{}", header.swapped ? '>' : '<', header.kind,
                                       header.kind == 'U' ? header.item_bytes / 4 : header.item_bytes);
  const std::int64_t rows = all = header.shape.empty() ? 0 : header.shape.front();
  if (header.fortran_order || rows == 0)
    return npy_header(type, header.fortran_order, header.shape) + read_whole(std::move(source));
  constexpr std::size_t step = std::size_t{1} << 16U;
  const std::size_t row_bytes = static_cast<std::size_t>(header.count() / rows) * header.item_bytes;
  const std::size_t at_once = std::max<std::size_t>(1, step / std::max<std::size_t>(1, row_bytes));
  const std::string whole_header = npy_header(type, false, header.shape);
  std::string bytes = whole_header;
  std::string some;
  const auto take = [&](std::size_t count) {  // no more memory than there are bytes: anybody can write a large shape
    some.clear();
    while (some.size() < count) {
      const std::size_t before = some.size();
      some.resize(before + std::min(step, count - before));
      if (source.read(some.data() + before, some.size() - before) != some.size() - before)
        detail::fail_npy_short(source, header);
    }
  };
  std::int64_t kept = 0;
  for (std::int64_t first = 0; first < rows; first += static_cast<std::int64_t>(at_once)) {
    const std::size_t now = std::min(at_once, static_cast<std::size_t>(rows - first));
    take(now * row_bytes);
    for (std::size_t k = 0; k < now; ++k) {
      if (!wanted.wants(first + static_cast<std::int64_t>(k), rows)) continue;
      bytes.append(some, k * row_bytes, row_bytes);
      ++kept;
    }
  }
  detail::finish_npy(source);
  header.shape.front() = kept;
  return bytes.replace(0, whole_header.size(), npy_header(type, false, header.shape));  // as long, nearly always
}

ByteSource open_archive(const std::string& path, const std::string& purpose) {
  ByteSource bytes = open_source(path);
  const std::string_view head = bytes.peek(2);
  if (!head.empty() && head != "PK")
    throw WrongKind(fmt::format("'{}' is not {} but something else: it is no .npz archive", bytes.name(), purpose));
  return bytes;
}

}  // namespace

bool WantedRows::of(const std::string& array) const {
  return std::find(arrays.begin(), arrays.end(), array) != arrays.end();
}

NpzArrays::NpzArrays(const std::string& path, const std::string& purpose, const WantedRows& wanted)
    : NpzArrays(ArchiveReader(open_archive(path, purpose)), purpose, wanted) {}

NpzArrays::NpzArrays(ArchiveReader archive, std::string purpose, const WantedRows& wanted)
    : path_(archive.path()), purpose_(std::move(purpose)), wanted_(wanted) {
  constexpr std::string_view suffix = ".npy";
  if (archive.member().empty() && !archive.next()) return;
  do {
    const std::string& member = members_.emplace_back(archive.member());
    if (!member.ends_with(suffix)) continue;
    const std::string array = member.substr(0, member.size() - suffix.size());
    bytes_[array] =
        wanted.of(array) ? read_some(archive.content(), wanted, all_rows_[array]) : read_whole(archive.content());
  } while (archive.next());
}

ByteSource NpzArrays::take(const std::string& array) {
  auto found = bytes_.extract(array);
  if (found.empty())
    throw WrongKind(
        fmt::format("'{}' has no array '{}', so it is not {}; it holds {}", path_, array, purpose_, listing(members_)));
  const std::size_t size = found.mapped().size();
  auto read = [bytes = std::move(found.mapped()), at = std::size_t{0}](char* into, std::size_t wanted) mutable {
    const std::size_t now = std::min(wanted, bytes.size() - at);
    std::copy_n(bytes.data() + at, now, into);
    at += now;
    return now;
  };
  return {fmt::format("{}:{}.npy", path_, array), std::move(read), size};
}

NpyHeader NpzArrays::plain_header(ByteSource& source, std::size_t dimensions) const {
  NpyHeader header = read_npy_header(source);
  if (header.shape.size() != dimensions || header.fortran_order) {
    fail("'{}' has the shape {}{}; {} dimension(s) in C order were expected", source.name(), header.shape_text(),
         header.fortran_order ? " in Fortran order" : "", dimensions);
  }
  return header;
}

std::int64_t NpzArrays::in_all(const std::string& array, const NpyHeader& header, std::int64_t element) const {
  const auto rows = all_rows_.find(array);
  if (rows == all_rows_.end() || header.shape.empty() || header.fortran_order || header.count() == 0) return element;
  const std::int64_t of_row = header.count() / header.shape.front();
  std::int64_t row = 0;
  for (std::int64_t before = element / of_row; row < rows->second; ++row) {
    if (wanted_.wants(row, rows->second) && before-- == 0) break;
  }
  return row * of_row + element % of_row;
}

void NpzArrays::fail_not_finite(const std::string& array, const ByteSource& source, const NpyHeader& header,
                                std::int64_t element, double value) const {
  fail("'{}': element {} is {}; all must be finite", source.name(), in_all(array, header, element), value);
}

double NpzArrays::number(const std::string& array) {
  std::vector<std::int64_t> shape;
  return numbers(array, 0, shape).front();
}

std::int64_t NpzArrays::integer(const std::string& array) {
  ByteSource source = take(array);
  const NpyHeader header = read_npy_header(source);
  if ((header.kind != 'i' && header.kind != 'u') || header.count() != 1)
    fail("'{}' must hold one whole number", source.name());
  std::int64_t result = 0;
  visit_numbers(source, header, [&](auto number) { result = static_cast<std::int64_t>(+number); });
  return result;
}

std::vector<std::string> NpzArrays::texts(const std::string& array) {
  ByteSource source = take(array);
  const NpyHeader header = read_npy_header(source);
  return read_npy_texts(source, header, [&](std::int64_t element) { return in_all(array, header, element); });
}

std::string NpzArrays::text(const std::string& array) {
  std::vector<std::string> all = texts(array);
  if (all.size() != 1) fail("'{}:{}.npy' must hold one text, not {}", path_, array, all.size());
  return all.front();
}

Eigen::MatrixXd NpzArrays::factor(const std::string& array, std::int64_t terms) {
  ByteSource source = take(array);
  const NpyHeader header = plain_header(source, 2);
  const std::int64_t rows = header.shape[0];
  if (header.shape[1] != terms) {
    fail("'{}': the shapes do not fit together: '{}' has {} columns for {} values", path_, array, header.shape[1],
         terms);
  }
  if (rows > std::numeric_limits<Index>::max()) fail("'{}': '{}' has too many rows: {}", path_, array, rows);
  Eigen::MatrixXd numbers(rows, terms);
  std::int64_t element = 0;
  visit_numbers(source, header, [&](auto number) {
    const auto value = static_cast<double>(number);
    if (!std::isfinite(value)) fail_not_finite(array, source, header, element, value);
    numbers(element / terms, element % terms) = value;
    ++element;
  });
  return numbers;
}

LowRankMatrix NpzArrays::factors(const std::string& prefix) {
  const std::vector<double> values = list(prefix + "values");
  const auto terms = static_cast<std::int64_t>(values.size());
  Eigen::MatrixXd left = factor(prefix + "left", terms);
  Eigen::MatrixXd right = factor(prefix + "right", terms);
  if (terms == 0) return {static_cast<Index>(left.rows()), static_cast<Index>(right.rows())};
  return {std::move(left), Eigen::Map<const Eigen::VectorXd>(values.data(), terms), std::move(right)};
}

namespace {

template <class Number>
std::string list_bytes(std::string_view type, const std::vector<Number>& numbers) {
  return array_bytes(type, {static_cast<std::int64_t>(numbers.size())}, numbers.data(), numbers.size());
}

}  // namespace

std::string vector_bytes(const std::vector<double>& numbers) { return list_bytes("<f8", numbers); }
std::string vector_bytes(const std::vector<float>& numbers) { return list_bytes("<f4", numbers); }
std::string vector_bytes(const std::vector<Index>& numbers) { return list_bytes("<i4", numbers); }
std::string vector_bytes(const std::vector<Offset>& numbers) { return list_bytes("<i8", numbers); }
std::string number_bytes(double number) { return array_bytes("<f8", {}, &number, 1); }
std::string integer_bytes(std::int64_t number) { return array_bytes("<i8", {}, &number, 1); }

std::string texts_bytes(const std::vector<std::string>& texts, const std::vector<std::int64_t>& shape,
                        std::size_t longest) {
  std::string bytes = npy_header(fmt::format("<U{}", longest), false, shape);
  bytes.reserve(bytes.size() + texts.size() * longest * 4);
  for (const std::string& text : texts) {
    std::optional<std::u32string> decoded = decode_utf8(text);
    if (!decoded) fail("cannot store {} in a file of arrays: it is not UTF-8 text", excerpt(text));
    decoded->resize(longest, U'\0');
    bytes.append(reinterpret_cast<const char*>(decoded->data()), longest * 4);
  }
  return bytes;
}

std::string text_bytes(const std::string& text) {
  return texts_bytes({text}, {}, std::max<std::size_t>(utf8_length(text), 1));
}

void add_factors(ArchiveWriter& archive, const std::string& prefix, const LowRankMatrix& factors) {
  RowMajor left(factors.rows(), factors.terms());
  RowMajor right(factors.cols(), factors.terms());
  std::vector<double> values(static_cast<std::size_t>(factors.terms()));
  if (factors.terms() > 0) {
    left = factors.left();
    right = factors.right();
    Eigen::Map<Eigen::VectorXd>(values.data(), factors.terms()) = factors.values();
  }
  const auto bytes = [](const RowMajor& matrix) {
    return array_bytes("<f8", {matrix.rows(), matrix.cols()}, matrix.data(), static_cast<std::size_t>(matrix.size()));
  };
  archive.add(prefix + "left.npy", bytes(left), false);
  archive.add(prefix + "values.npy", vector_bytes(values), false);
  archive.add(prefix + "right.npy", bytes(right), false);
}

}  // namespace tracenorm::io
