// Sparse matrices as SciPy's save_npz writes them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "io/messages.hpp"
#include "io/npz.hpp"
#include "io/numpy.hpp"
#include "io/readers.hpp"
#include "io/text.hpp"

namespace tracenorm::io {
namespace {

class Arrays {
 public:
  explicit Arrays(ArchiveReader archive)
      : arrays_(std::move(archive), "a sparse matrix saved by scipy.sparse.save_npz") {}

  [[nodiscard]] std::string format() {
    ByteSource source = arrays_.take("format");
    const std::vector<std::string> texts = read_npy_texts(source, read_npy_header(source));
    return texts.empty() ? "" : texts.front();
  }

  /// Whole numbers: `use(number, position)` gives what is kept of each.
  template <class Number, class Use>
  std::vector<Number> integers(const std::string& name, const Use& use) {
    ByteSource source = arrays_.take(name);
    const NpyHeader header = vector_header(source);
    if (header.kind != 'i' && header.kind != 'u') fail("'{}' must hold whole numbers", source.name());
    std::vector<Number> kept;
    kept.reserve(npy_room(source, header));
    visit_numbers(source, header, [&](auto number) {
      // Larger numbers than these are out of every range anyway.
      constexpr auto most = std::numeric_limits<std::int64_t>::max();
      const bool huge = number > 0 && static_cast<std::uint64_t>(number) > static_cast<std::uint64_t>(most);
      kept.push_back(use(huge ? most : static_cast<std::int64_t>(number), kept.size()));
    });
    return kept;
  }

  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& name) {
    return integers<std::int64_t>(name, [](std::int64_t number, std::size_t /*position*/) { return number; });
  }

  [[nodiscard]] std::vector<Index> indices(const std::string& name, Index count) {
    return integers<Index>(name, [&](std::int64_t number, std::size_t position) {
      if (number < 0 || number >= count)
        fail("'{}': {} at position {} is outside of 0 to {}", member(name), number, position, count - 1);
      return static_cast<Index>(number);
    });
  }

  [[nodiscard]] std::vector<Real> values(const std::string& name) {
    ByteSource source = arrays_.take(name);
    const NpyHeader header = vector_header(source);
    std::vector<Real> numbers;
    numbers.reserve(npy_room(source, header));
    visit_numbers(source, header, [&](auto number) {
      const double wide = number;
      if (!(std::fabs(wide) <= std::numeric_limits<Real>::max())) {
        fail(
            "'{}': the value {} at position {} is not a finite number of single precision; leave missing entries "
            "unstored",
            source.name(), wide, numbers.size());
      }
      const Real value = wide;
      numbers.push_back(value);
    });
    return numbers;
  }

  [[nodiscard]] const std::string& path() const { return arrays_.path(); }
  [[nodiscard]] std::string member(const std::string& name) const { return path() + ":" + name + ".npy"; }

 private:
  static NpyHeader vector_header(ByteSource& source) {
    NpyHeader header = read_npy_header(source);
    if (header.shape.size() != 1)
      fail("'{}' has the shape {}; one dimension was expected", source.name(), header.shape_text());
    return header;
  }

  NpzArrays arrays_;
};

void read_shape(Arrays& arrays, NamedEntries& data) {
  const std::vector<std::int64_t> shape = arrays.integers("shape");
  if (shape.size() != 2) fail("'{}' must hold two numbers, not {}", arrays.member("shape"), shape.size());
  for (const std::int64_t extent : shape) {
    if (extent < 1 || extent > std::numeric_limits<Index>::max()) {
      fail("'{}': a matrix of {} x {} cannot be read; both must be from 1 to {}", arrays.member("shape"), shape[0],
           shape[1], std::numeric_limits<Index>::max());
    }
  }
  data.rows = static_cast<Index>(shape[0]);
  data.cols = static_cast<Index>(shape[1]);
}

// Row (or column) starts as one index per entry.
std::vector<Index> expand(Arrays& arrays, Index lines, std::size_t entries) {
  const std::vector<std::int64_t> begin = arrays.integers("indptr");
  const bool right = begin.size() == static_cast<std::size_t>(lines) + 1 && begin.front() == 0 &&
                     begin.back() == static_cast<std::int64_t>(entries) && std::is_sorted(begin.begin(), begin.end());
  if (!right) {
    fail("'{}' must hold {} ascending numbers from 0 to the number of entries, {}", arrays.member("indptr"),
         std::int64_t{lines} + 1, entries);
  }
  std::vector<Index> major;
  major.reserve(entries);
  for (Index line = 0; line < lines; ++line) {
    const auto at = static_cast<std::size_t>(line);
    major.insert(major.end(), static_cast<std::size_t>(begin[at + 1] - begin[at]), line);
  }
  return major;
}

void require_length(const Arrays& arrays, const char* name, std::size_t length, std::size_t entries) {
  if (length != entries)
    fail("'{}' holds {} indices for {} values; there must be one for each", arrays.member(name), length, entries);
}

}  // namespace

ParsedEntries read_sparse_npz(ArchiveReader archive) {
  Arrays arrays(std::move(archive));
  const std::string format = arrays.format();
  if (format != "csr" && format != "csc" && format != "coo")
    fail("'{}': the sparse format {} is not read; save the matrix as csr, csc or coo", arrays.path(), excerpt(format));
  ParsedEntries parsed;
  parsed.name = arrays.path();
  parsed.where = [](Offset entry) { return fmt::format("stored entry {} (from 0)", entry); };
  NamedEntries& data = parsed.data;
  read_shape(arrays, data);
  Entries& entries = data.entries;
  entries.value = arrays.values("data");
  const std::size_t count = entries.value.size();
  if (format == "csr") {
    entries.col = arrays.indices("indices", data.cols);
    require_length(arrays, "indices", entries.col.size(), count);
    entries.row = expand(arrays, data.rows, count);
  } else if (format == "csc") {
    entries.row = arrays.indices("indices", data.rows);
    require_length(arrays, "indices", entries.row.size(), count);
    entries.col = expand(arrays, data.cols, count);
  } else {
    entries.row = arrays.indices("row", data.rows);
    entries.col = arrays.indices("col", data.cols);
    require_length(arrays, "row", entries.row.size(), count);
    require_length(arrays, "col", entries.col.size(), count);
  }
  if (count == 0) fail("'{}' is a sparse matrix without stored entries", arrays.path());
  return parsed;
}

}  // namespace tracenorm::io
