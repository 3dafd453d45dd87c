// Models as .npz files that NumPy opens as well.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "io/files.hpp"
#include "io/messages.hpp"
#include "io/npz.hpp"
#include "io/numpy.hpp"
#include "io/utf8.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they are in memory");

constexpr std::int64_t current_schema = 1;
constexpr std::size_t largest_name_array = std::size_t{64} << 20U;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// ---- writing

template <class Number>
std::string array_bytes(std::string_view type, const std::vector<std::int64_t>& shape, const Number* numbers,
                        std::size_t count) {
  std::string bytes = npy_header(type, false, shape);
  bytes.append(reinterpret_cast<const char*>(numbers), count * sizeof(Number));
  return bytes;
}

std::string matrix_bytes(const RowMajor& matrix) {
  return array_bytes("<f8", {matrix.rows(), matrix.cols()}, matrix.data(), static_cast<std::size_t>(matrix.size()));
}

std::string vector_bytes(const std::vector<double>& numbers) {
  return array_bytes("<f8", {static_cast<std::int64_t>(numbers.size())}, numbers.data(), numbers.size());
}

std::string number_bytes(double number) { return array_bytes("<f8", {}, &number, 1); }
std::string integer_bytes(std::int64_t number) { return array_bytes("<i8", {}, &number, 1); }

std::string texts_bytes(const std::vector<std::string>& texts, const std::vector<std::int64_t>& shape,
                        std::size_t longest) {
  std::string bytes = npy_header(fmt::format("<U{}", longest), false, shape);
  bytes.reserve(bytes.size() + texts.size() * longest * 4);
  for (const std::string& text : texts) {
    std::optional<std::u32string> decoded = decode_utf8(text);
    if (!decoded) fail("cannot store {} in a model: it is not UTF-8 text", excerpt(text));
    decoded->resize(longest, U'\0');
    bytes.append(reinterpret_cast<const char*>(decoded->data()), longest * 4);
  }
  return bytes;
}

std::string text_bytes(const std::string& text) {
  return texts_bytes({text}, {}, std::max<std::size_t>(utf8_length(text), 1));
}

void add_names(ArchiveWriter& archive, const std::string& array, const std::vector<std::string>& names) {
  std::size_t longest = 1;
  for (const std::string& name : names) longest = std::max(longest, utf8_length(name));
  const auto count = static_cast<std::int64_t>(names.size());
  if (names.size() * longest * 4 <= largest_name_array) {
    archive.add(array + ".npy", texts_bytes(names, {count}, longest), true);
    return;
  }
  // A unicode array gives every name the room of the longest: one very long name would make it huge.
  std::string text;
  std::vector<std::int64_t> ends;
  ends.reserve(names.size());
  for (const std::string& name : names) {
    text += name;
    ends.push_back(static_cast<std::int64_t>(text.size()));
  }
  archive.add(array + "_utf8.npy",
              array_bytes("|u1", {static_cast<std::int64_t>(text.size())}, text.data(), text.size()), true);
  archive.add(array + "_ends.npy", array_bytes("<i8", {count}, ends.data(), ends.size()), true);
}

void require_label_count(const Labels& labels, Index count, const char* what) {
  if (!labels.names.empty() && labels.names.size() != static_cast<std::size_t>(count))
    throw Error(ErrorCode::input,
                fmt::format("a model of {} {}s has {} {} names", count, what, labels.names.size(), what));
}

// ---- reading

class ModelArrays {
 public:
  explicit ModelArrays(const std::string& path)
      : arrays_(ArchiveReader(open_source(path)), "a model of this program") {}

  [[nodiscard]] bool has(const std::string& name) const { return arrays_.has(name); }

  /// All numbers of an array as doubles, which must be finite, with the shape.
  std::vector<double> numbers(const std::string& name, std::size_t dimensions, std::vector<std::int64_t>& shape) {
    ByteSource source = arrays_.take(name);
    const NpyHeader header = read_npy_header(source);
    if (header.shape.size() != dimensions || header.fortran_order) {
      fail("'{}' has the shape {}{}; {} dimension(s) in C order were expected", source.name(), header.shape_text(),
           header.fortran_order ? " in Fortran order" : "", dimensions);
    }
    std::vector<double> values;
    values.reserve(npy_room(source, header));
    visit_numbers(source, header, [&](auto number) {
      const double value = number;
      if (!std::isfinite(value))
        fail("'{}': element {} is {}; a model must be finite", source.name(), values.size(), value);
      values.push_back(value);
    });
    shape = header.shape;
    return values;
  }

  [[nodiscard]] double number(const std::string& name) {
    std::vector<std::int64_t> shape;
    return numbers(name, 0, shape).front();
  }

  [[nodiscard]] std::int64_t integer(const std::string& name) {
    ByteSource source = arrays_.take(name);
    const NpyHeader header = read_npy_header(source);
    if ((header.kind != 'i' && header.kind != 'u') || header.count() != 1)
      fail("'{}' must hold one whole number", source.name());
    std::int64_t result = 0;
    visit_numbers(source, header, [&](auto number) { result = static_cast<std::int64_t>(+number); });
    return result;
  }

  [[nodiscard]] std::vector<std::string> texts(const std::string& name) {
    ByteSource source = arrays_.take(name);
    const NpyHeader header = read_npy_header(source);
    return read_npy_texts(source, header);
  }

  [[nodiscard]] std::string text(const std::string& name) {
    std::vector<std::string> all = texts(name);
    if (all.size() != 1) fail("'{}:{}.npy' must hold one text, not {}", arrays_.path(), name, all.size());
    return all.front();
  }

 private:
  NpzArrays arrays_;
};

RowMajor read_factor(ModelArrays& arrays, const std::string& path, const std::string& name, std::int64_t terms) {
  std::vector<std::int64_t> shape;
  const std::vector<double> numbers = arrays.numbers(name, 2, shape);
  if (shape[1] != terms) {
    fail("'{}': the shapes do not fit together: '{}' has {} columns for {} values", path, name, shape[1], terms);
  }
  if (shape[0] > std::numeric_limits<Index>::max()) fail("'{}': '{}' has too many rows: {}", path, name, shape[0]);
  return Eigen::Map<const RowMajor>(numbers.data(), shape[0], shape[1]);
}

std::vector<std::string> read_long_names(ModelArrays& arrays, const std::string& path, const std::string& name) {
  std::vector<std::int64_t> shape;
  const std::vector<double> bytes = arrays.numbers(name + "_utf8", 1, shape);
  const std::vector<double> ends = arrays.numbers(name + "_ends", 1, shape);
  std::vector<std::string> names;
  double begin = 0;
  for (const double end : ends) {
    if (end < begin || end > static_cast<double>(bytes.size())) fail("'{}': '{}_ends' is damaged", path, name);
    std::string& text = names.emplace_back();
    for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k)
      text.push_back(static_cast<char>(static_cast<unsigned char>(bytes[k])));
    begin = end;
  }
  return names;
}

Labels read_labels(ModelArrays& arrays, const std::string& path, const std::string& side, Index count) {
  const std::string array = side + "_names";
  Labels labels;
  const std::int64_t base = arrays.integer(side + "_base");
  if (base != 0 && base != 1) fail("'{}': '{}_base' is {}; it must be 0 or 1", path, side, base);
  labels.base = static_cast<int>(base);
  labels.names = arrays.has(array + "_utf8") ? read_long_names(arrays, path, array) : arrays.texts(array);
  if (!labels.names.empty() && labels.names.size() != static_cast<std::size_t>(count)) {
    fail("'{}': the shapes do not fit together: '{}' holds {} names for {}", path, array, labels.names.size(), count);
  }
  return labels;
}

/// Files of older versions do not have them.
std::vector<double> read_offsets(ModelArrays& arrays, const std::string& path, const std::string& name, Index count) {
  if (!arrays.has(name)) return {};
  std::vector<std::int64_t> shape;
  std::vector<double> offsets = arrays.numbers(name, 1, shape);
  if (!offsets.empty() && offsets.size() != static_cast<std::size_t>(count)) {
    fail("'{}': the shapes do not fit together: '{}' holds {} numbers for {}", path, name, offsets.size(), count);
  }
  return offsets;
}

Preparation read_preparation(ModelArrays& arrays, const std::string& path, Index rows, Index cols) {
  Preparation preparation;
  const std::string kind = arrays.text("preparation");
  try {
    preparation.kind = parse_preparation(kind);
  } catch (const Error&) {
    fail("'{}': the preparation {} is unknown; this file may be made by another version", path, excerpt(kind));
  }
  preparation.offset = arrays.number("offset");
  preparation.scale = arrays.number("scale");
  if (preparation.scale == 0) fail("'{}': 'scale' is 0; it must not be", path);
  if (arrays.has("gain")) preparation.gain = arrays.number("gain");
  preparation.row_offset = read_offsets(arrays, path, "row_offset", rows);
  preparation.col_offset = read_offsets(arrays, path, "col_offset", cols);
  return preparation;
}

std::optional<Spread> read_spread(ModelArrays& arrays, const std::string& path, Index rows, Index cols) {
  if (!arrays.has("interval_scores")) return std::nullopt;
  Spread spread;
  spread.row = read_offsets(arrays, path, "row_width", rows);
  spread.col = read_offsets(arrays, path, "col_width", cols);
  spread.unknown = arrays.number("unknown_width");
  std::vector<std::int64_t> shape;
  spread.scores = arrays.numbers("interval_scores", 1, shape);
  if (spread.row.empty() || spread.col.empty() || !std::is_sorted(spread.scores.begin(), spread.scores.end())) {
    fail("'{}': widths are missing, or 'interval_scores' are not in order", path);
  }
  return spread;
}

}  // namespace

void write_model(const std::string& path, const Model& model) {
  const LowRankMatrix& factors = model.factors;
  require_label_count(model.rows, factors.rows(), "row");
  require_label_count(model.cols, factors.cols(), "column");
  RowMajor left(factors.rows(), factors.terms());
  RowMajor right(factors.cols(), factors.terms());
  Eigen::VectorXd values(factors.terms());
  if (factors.terms() > 0) {
    left = factors.left();
    right = factors.right();
    values = factors.values();
  }
  AtomicFile file(path);
  ArchiveWriter archive([&](std::string_view bytes) { file.write(bytes); });
  archive.add("schema.npy", integer_bytes(current_schema), false);
  archive.add("left.npy", matrix_bytes(left), false);
  archive.add("values.npy", array_bytes("<f8", {values.size()}, values.data(), static_cast<std::size_t>(values.size())),
              false);
  archive.add("right.npy", matrix_bytes(right), false);
  add_names(archive, "row_names", model.rows.names);
  add_names(archive, "col_names", model.cols.names);
  archive.add("row_base.npy", integer_bytes(model.rows.base), false);
  archive.add("col_base.npy", integer_bytes(model.cols.base), false);
  archive.add("preparation.npy", text_bytes(to_string(model.preparation.kind)), false);
  archive.add("offset.npy", number_bytes(model.preparation.offset), false);
  archive.add("scale.npy", number_bytes(model.preparation.scale), false);
  archive.add("row_offset.npy", vector_bytes(model.preparation.row_offset), false);
  archive.add("col_offset.npy", vector_bytes(model.preparation.col_offset), false);
  archive.add("gain.npy", number_bytes(model.preparation.gain), false);
  if (model.spread) {
    archive.add("row_width.npy", vector_bytes(model.spread->row), false);
    archive.add("col_width.npy", vector_bytes(model.spread->col), false);
    archive.add("unknown_width.npy", number_bytes(model.spread->unknown), false);
    archive.add("interval_scores.npy", vector_bytes(model.spread->scores), false);
  }
  archive.add("metadata.npy", text_bytes(model.metadata), true);
  archive.finish();
  file.commit();
}

Model read_model(const std::string& path) {
  ModelArrays arrays(path);
  const std::int64_t schema = arrays.integer("schema");
  if (schema != current_schema)
    fail("'{}' was made by another version: schema {}, this program reads {}", path, schema, current_schema);
  std::vector<std::int64_t> shape;
  const std::vector<double> values = arrays.numbers("values", 1, shape);
  const auto terms = static_cast<std::int64_t>(values.size());
  const RowMajor left = read_factor(arrays, path, "left", terms);
  const RowMajor right = read_factor(arrays, path, "right", terms);
  Model model;
  const auto rows = static_cast<Index>(left.rows());
  const auto cols = static_cast<Index>(right.rows());
  model.factors = terms == 0 ? LowRankMatrix(rows, cols)
                             : LowRankMatrix(left, Eigen::Map<const Eigen::VectorXd>(values.data(), terms), right);
  model.rows = read_labels(arrays, path, "row", rows);
  model.cols = read_labels(arrays, path, "col", cols);
  model.preparation = read_preparation(arrays, path, rows, cols);
  model.spread = read_spread(arrays, path, rows, cols);
  model.metadata = arrays.text("metadata");
  if (!nlohmann::json::accept(model.metadata)) fail("'{}': 'metadata' is not JSON: {}", path, excerpt(model.metadata));
  return model;
}

}  // namespace tracenorm::io
