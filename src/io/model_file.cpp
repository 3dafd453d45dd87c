// Models as .npz files that NumPy opens as well.
#include "io/model_file.hpp"

#include <algorithm>
#include <filesystem>
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

constexpr std::int64_t current_schema = 1;
constexpr std::size_t largest_name_array = std::size_t{64} << 20U;

// ---- writing

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

/// Which rows of a file are wanted; null: all.
using Wants = std::function<bool(std::int64_t row, std::int64_t rows)>;

std::vector<std::string> read_long_names(NpzArrays& arrays, const std::string& path, const std::string& name,
                                         const Wants& wants) {
  const auto bytes = arrays.list<std::uint8_t>(name + "_utf8");
  const auto ends = arrays.list<std::int64_t>(name + "_ends");
  std::vector<std::string> names;
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    if (ends[k] < begin || ends[k] > std::ssize(bytes)) fail("'{}': '{}_ends' is damaged", path, name);
    if (!wants || wants(static_cast<std::int64_t>(k), std::ssize(ends)))
      names.emplace_back(bytes.begin() + begin, bytes.begin() + ends[k]);
    begin = ends[k];
  }
  return names;
}

Labels read_labels(NpzArrays& arrays, const std::string& path, const std::string& side, Index count,
                   const Wants& wants = {}) {
  const std::string array = side + "_names";
  Labels labels;
  const std::int64_t base = arrays.integer(side + "_base");
  if (base != 0 && base != 1) fail("'{}': '{}_base' is {}; it must be 0 or 1", path, side, base);
  labels.base = static_cast<int>(base);
  labels.names = arrays.has(array + "_utf8") ? read_long_names(arrays, path, array, wants) : arrays.texts(array);
  if (!labels.names.empty() && labels.names.size() != static_cast<std::size_t>(count)) {
    fail("'{}': the shapes do not fit together: '{}' holds {} names for {}", path, array, labels.names.size(), count);
  }
  return labels;
}

/// Files of older versions do not have them.
std::vector<double> read_offsets(NpzArrays& arrays, const std::string& path, const std::string& name, Index count) {
  if (!arrays.has(name)) return {};
  std::vector<double> offsets = arrays.list(name);
  if (!offsets.empty() && offsets.size() != static_cast<std::size_t>(count)) {
    fail("'{}': the shapes do not fit together: '{}' holds {} numbers for {}", path, name, offsets.size(), count);
  }
  return offsets;
}

/// As many numbers as this, or none: files of older versions do not have them.
std::vector<double> read_few(NpzArrays& arrays, const std::string& path, const std::string& name, std::size_t count) {
  if (!arrays.has(name)) return {};
  std::vector<std::int64_t> shape;
  std::vector<double> numbers = arrays.numbers(name, 1, shape);
  if (!numbers.empty() && numbers.size() != count)
    fail("'{}': '{}' holds {} numbers; it must hold {}", path, name, numbers.size(), count);
  return numbers;
}

RowPrice read_row_price(NpzArrays& arrays, const std::string& path) {
  const std::vector<double> price = read_few(arrays, path, "row_price", 4);
  if (price.empty()) return {};
  if (!(price[0] >= 0 && price[1] > 0 && price[2] >= 0 && price[3] > 0))
    fail("'{}': 'row_price' is damaged: {}, {}, {}, {}", path, price[0], price[1], price[2], price[3]);
  return {price[0], price[1], price[2], price[3]};
}

Preparation read_preparation(NpzArrays& arrays, const std::string& path, Index rows, Index cols) {
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
  preparation.row_offset = read_offsets(arrays, path, "row_offset", rows);
  preparation.col_offset = read_offsets(arrays, path, "col_offset", cols);
  if (const std::vector<double> range = read_few(arrays, path, "range", 2); !range.empty()) {
    if (!(range[0] <= range[1])) fail("'{}': 'range' is {} to {}; it must ascend", path, range[0], range[1]);
    preparation.range = {range[0], range[1]};
  }
  return preparation;
}

std::optional<Spread> read_spread(NpzArrays& arrays, const std::string& path, Index rows, Index cols) {
  if (!arrays.has("interval_scores")) return std::nullopt;
  Spread spread;
  spread.row = read_offsets(arrays, path, "row_width", rows);
  spread.col = read_offsets(arrays, path, "col_width", cols);
  spread.unknown = arrays.number("unknown_width");
  std::vector<std::int64_t> shape;
  spread.scores = arrays.numbers("interval_scores", 1, shape);
  if ((rows > 0 && spread.row.empty()) || (cols > 0 && spread.col.empty()) ||
      !std::is_sorted(spread.scores.begin(), spread.scores.end())) {
    fail("'{}': widths are missing, or 'interval_scores' are not in order", path);
  }
  return spread;
}

/// Predictions by another reading of the answer than the answer itself.
void read_predictor(NpzArrays& arrays, const std::string& path, Model& model) {
  if (!arrays.has("predictor_values")) return;
  const auto terms = static_cast<std::size_t>(model.factors.terms());
  const std::vector<double> values = read_few(arrays, path, "predictor_values", terms);
  if (values.size() != terms) fail("'{}': 'predictor_values' is empty; it must hold {} numbers", path, terms);
  model.predict_by({values, read_offsets(arrays, path, "predictor_row_offset", model.factors.rows()),
                    read_offsets(arrays, path, "predictor_col_offset", model.factors.cols())});
}

}  // namespace

void require_finite(const Model& model, const std::string& path) {
  const LowRankMatrix& x = model.factors;
  if (!x.values().allFinite() || !x.left().allFinite() || !x.right().allFinite())
    throw Error(ErrorCode::numerical, fmt::format("'{}': the model holds values that are not finite numbers", path));
}

void write_model(const std::string& path, const Model& model) {
  require_finite(model, path);
  AtomicFile file(path);
  write_model_to([&](std::string_view bytes) { file.write(bytes); }, model);
  file.commit();
}

void write_model_to(const std::function<void(std::string_view bytes)>& sink, const Model& model) {
  const LowRankMatrix& factors = model.factors;
  require_label_count(model.rows, factors.rows(), "row");
  require_label_count(model.cols, factors.cols(), "column");
  ArchiveWriter archive(sink);
  archive.add("schema.npy", integer_bytes(current_schema), false);
  const Model answer = model.answer();
  add_factors(archive, "", answer.factors);
  add_names(archive, "row_names", model.rows.names);
  add_names(archive, "col_names", model.cols.names);
  archive.add("row_base.npy", integer_bytes(model.rows.base), false);
  archive.add("col_base.npy", integer_bytes(model.cols.base), false);
  archive.add("preparation.npy", text_bytes(to_string(model.preparation.kind)), false);
  archive.add("offset.npy", number_bytes(model.preparation.offset), false);
  archive.add("scale.npy", number_bytes(model.preparation.scale), false);
  archive.add("row_offset.npy", vector_bytes(answer.preparation.row_offset), false);
  archive.add("col_offset.npy", vector_bytes(answer.preparation.col_offset), false);
  const ValueRange& range = model.preparation.range;
  archive.add("range.npy",
              vector_bytes(range.bounded() ? std::vector{range.lower, range.upper} : std::vector<double>{}), false);
  const RowPrice& price = model.row_price;
  archive.add("row_price.npy",
              vector_bytes(std::vector{price.multiplier, price.mean_count, price.power, price.smoothing}), false);
  if (model.certified) {
    const std::vector<double> values(factors.values().begin(), factors.values().end());
    archive.add("predictor_values.npy", vector_bytes(values), false);
    archive.add("predictor_row_offset.npy", vector_bytes(model.preparation.row_offset), false);
    archive.add("predictor_col_offset.npy", vector_bytes(model.preparation.col_offset), false);
  }
  if (model.spread) {
    archive.add("row_width.npy", vector_bytes(model.spread->row), false);
    archive.add("col_width.npy", vector_bytes(model.spread->col), false);
    archive.add("unknown_width.npy", number_bytes(model.spread->unknown), false);
    archive.add("interval_scores.npy", vector_bytes(model.spread->scores), false);
  }
  archive.add("metadata.npy", text_bytes(model.metadata), true);
  archive.finish();
}

namespace {

Model model_of(NpzArrays arrays, const Wants& wants) {
  const std::string& path = arrays.path();
  const std::int64_t schema = arrays.integer("schema");
  if (schema != current_schema)
    fail("'{}' was made by another version: schema {}, this program reads {}", path, schema, current_schema);
  Model model;
  model.factors = arrays.factors("");
  const Index rows = model.factors.rows();
  const Index cols = model.factors.cols();
  model.rows = read_labels(arrays, path, "row", rows, wants);
  model.cols = read_labels(arrays, path, "col", cols);
  model.preparation = read_preparation(arrays, path, rows, cols);
  read_predictor(arrays, path, model);
  model.row_price = read_row_price(arrays, path);
  model.spread = read_spread(arrays, path, rows, cols);
  model.metadata = arrays.text("metadata");
  if (!nlohmann::json::accept(model.metadata)) fail("'{}': 'metadata' is not JSON: {}", path, excerpt(model.metadata));
  return model;
}

constexpr const char* model_purpose = "a model of this program";

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

}  // namespace

Model read_model(const std::string& path) {
  RowBlocks all;
  return read_model(path, all);
}

Model read_model(const std::string& path, RowBlocks& blocks) {
  if (is_folder(path)) return read_model_parts(path, blocks);
  blocks.rows = 0;
  Model model = read_model_file(path, blocks, 0);
  if (blocks.rows == 0) blocks.settle(model.factors.rows());
  return model;
}

Model read_model_file(const std::string& path, RowBlocks& blocks, Index first) {
  if (blocks.ranks == 1) return model_of(NpzArrays(path, model_purpose), {});
  const Wants wants = [&](std::int64_t row, std::int64_t rows) {
    if (rows > std::numeric_limits<Index>::max() - first) fail("'{}' has too many rows: {}", path, rows);
    if (blocks.rows == 0) blocks.settle(static_cast<Index>(rows));
    return blocks.has(first + static_cast<Index>(row));
  };
  const WantedRows wanted{{"left", "row_names", "row_offset", "predictor_row_offset", "row_width"}, wants};
  return model_of(NpzArrays(path, model_purpose, wanted), wants);
}

}  // namespace tracenorm::io
