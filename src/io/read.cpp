// Finds out what a file holds and hands it to the reader of that format.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "io/columns.hpp"
#include "io/doubts.hpp"
#include "io/ids.hpp"
#include "io/keep.hpp"
#include "io/loops.hpp"
#include "io/messages.hpp"
#include "io/parts.hpp"
#include "io/readers.hpp"
#include "io/text.hpp"

namespace tracenorm::io {
namespace {

// What a publisher's archive calls its ratings.
constexpr std::array<std::string_view, 3> ratings_names = {"u.data", "ratings.dat", "ratings.csv"};

/// A file that was opened and looked at: what it holds, and its bytes from the first on.
struct Input {
  Format format;
  ByteSource bytes;
  std::optional<ArchiveReader> archive;  ///< of .npz
};

bool is_zip(const std::string& name, std::string_view head) {
  return name.ends_with(".npz") || name.ends_with(".zip") || head.starts_with("PK\x03\x04") ||
         head.starts_with("PK\x05\x06");
}

bool says_triplets(const std::string& name, const FirstLines& first) {
  return name == "u.data" || name.starts_with("ratings.") || first.separator == Separator::double_colon ||
         names_triplet_columns(first);
}

/// What plain text is taken for: options may tell, or the first lines. `usual` is what the caller hopes for.
Format detect_text(const std::string& name, std::string_view head, const ReadOptions& options, Format usual) {
  if (usual == Format::edges) return usual;
  if (!options.columns.empty()) return Format::triplets;
  if (!options.skip_columns.empty()) return Format::matrix_text;
  const FirstLines first = first_lines(name, head, 3);
  if (says_triplets(name, first)) return Format::triplets;
  return is_wide(first) ? Format::matrix_text : usual;
}

/// The format from the first bytes, then the name. `text` is what plain text is taken for.
Format detect_format(const std::string& name, std::string_view head, const ReadOptions& options, Format text) {
  if (name.ends_with(".npy") || head.starts_with("\x93NUMPY")) return Format::npy;
  if (name.ends_with(".mtx") || is_matrix_market(head)) return Format::matrix_market;
  return detect_text(name, head, options, text);
}

/// Arrays, or the ratings of a publisher's archive.
Input open_archive(ByteSource zip, const ReadOptions& options) {
  ByteSource none("", nullptr);
  ArchiveReader archive(std::move(zip));
  if (options.format == Format::npz) return {Format::npz, std::move(none), std::move(archive)};
  std::vector<std::string> members;
  while (archive.next()) {
    const std::string& member = members.emplace_back(archive.member());
    if (member.ends_with(".npy")) return {Format::npz, std::move(none), std::move(archive)};
    const std::string name = to_lower(std::filesystem::path(member).filename().string());
    if (std::find(ratings_names.begin(), ratings_names.end(), name) == ratings_names.end()) continue;
    return {options.format == Format::automatic ? Format::triplets : options.format, archive.content(), std::nullopt};
  }
  fail("'{}' holds no ratings file: one of u.data, ratings.dat, ratings.csv was expected, it holds {}", archive.path(),
       listing(members));
}

Input open_input(const std::string& path, const ReadOptions& options, Format text) {
  ByteSource bytes = open_source(path);
  const std::string name = plain_name(path);
  const std::string_view head = bytes.peek(std::size_t{1} << 16U);
  if (options.format == Format::npz || is_zip(name, head)) return open_archive(std::move(bytes), options);
  const Format format = options.format == Format::automatic ? detect_format(name, head, options, text) : options.format;
  return {format, std::move(bytes), std::nullopt};
}

ParsedEntries parse_entries(Input input, const ReadOptions& options) {
  const std::string name = input.bytes.name();
  const Execution execution(options.threads);
  switch (input.format) {
    case Format::libmf:
      return read_libmf(std::move(input.bytes), options);
    case Format::matrix_market:
      return read_matrix_market(std::move(input.bytes), execution);
    case Format::npy:
      return entries_of(read_npy(std::move(input.bytes), execution), name, 0, execution);
    case Format::npz:
      return read_sparse_npz(std::move(*input.archive));
    case Format::matrix_text:
      return entries_of(read_matrix_text(std::move(input.bytes), options, execution), name, 0, execution);
    case Format::edges: {
      ParsedEntries parsed;
      parsed.name = name;
      parsed.data = entries_of(read_edges(std::move(input.bytes), GraphKind::undirected, execution));
      parsed.where = [](Offset entry) { return fmt::format("entry {}", entry); };
      return parsed;
    }
    case Format::automatic:
    case Format::triplets:
      break;
  }
  return read_triplets(std::move(input.bytes), options);
}

// The index in the other labels of each own index, kUnknown for names that are not there.
std::vector<Index> match(const Labels& own, Index own_count, const Labels& other, Index other_count) {
  const bool by_position = own.names.empty() && other.names.empty();
  const LabelIndex index(other, other_count);
  std::vector<Index> matched(static_cast<std::size_t>(own_count), Preparation::kUnknown);
  for (Index k = 0; k < own_count; ++k) {
    if (by_position) {
      if (k < other_count) matched[static_cast<std::size_t>(k)] = k;
    } else {
      matched[static_cast<std::size_t>(k)] = index.find(own.name(k)).value_or(Preparation::kUnknown);
    }
  }
  return matched;
}

void require_known(const ParsedEntries& parsed, const char* what, const std::vector<Index>& indices,
                   const std::vector<Index>& matched, const Labels& labels) {
  for (std::size_t k = 0; k < indices.size(); ++k) {
    if (matched[static_cast<std::size_t>(indices[k])] >= 0) continue;
    fail_about(Topic::unknown_names, "'{}', {}: the {} {} is unknown; only {}s of the training data can be used",
               parsed.file_of(static_cast<Offset>(k)), parsed.where(static_cast<Offset>(k)), what,
               excerpt(labels.name(indices[k])), what);
  }
}

// Puts entries into the other numbering.
void adopt(NamedEntries& data, const std::vector<Index>& rows, const std::vector<Index>& cols,
           const Execution& execution) {
  renumber(data.entries.row, rows, execution);
  renumber(data.entries.col, cols, execution);
}

/// Of a file that holds a text of triplets.
TextParts parts_of(const std::string& path, const ReadOptions& options) {
  const std::optional<std::uint64_t> plain = plain_size(path);
  if (plain && !is_zip(path, open_plain(path, 0).peek(4))) return plain_text(path, *plain);
  return packed_text(path, [path, options] { return open_input(path, options, Format::triplets).bytes; });
}

/// Of several, which say that they are texts of triplets when they are opened.
std::vector<TextParts> parts_of(const std::vector<std::string>& paths, const ReadOptions& options) {
  std::vector<TextParts> texts;
  texts.reserve(paths.size());
  for (const std::string& path : paths) {
    TextParts& text = texts.emplace_back(parts_of(path, options));
    if (paths.size() == 1) break;
    text.open = [path, options, open = std::move(text.open)](std::uint64_t from) {
      if (from > 0) return open(from);
      const Input input = open_input(path, options, Format::triplets);
      if (input.format != Format::triplets && input.format != Format::libmf) {
        fail(
            "'{}' does not hold lines of row, column and value; several files must all hold such lines, or be read "
            "one by one",
            path);
      }
      return input.bytes;
    };
  }
  return texts;
}

// A choice that nothing looks at would be a silent mistake.
void require_used(const ReadOptions& options, const Input& input, const std::string& path) {
  const bool triplets = input.format == Format::triplets || input.format == Format::libmf;
  if (!options.columns.empty() && !triplets)
    fail_for("columns", "'{}' does not hold lines of row, column and value, so there are no columns to choose", path);
  if (!options.skip_columns.empty() && input.format != Format::matrix_text)
    fail_for("skip_columns", "'{}' is not a matrix as text, so there are no columns to skip", path);
}

// What stands for a missing value. (Texts have looked already, because there it may be a word.)
void leave_out(NamedEntries& data, const std::vector<std::string>& missing) {
  const MissingMarks marks(missing);
  if (marks.empty()) return;
  keep_if(data, [&](std::size_t k) { return !marks.has_number(data.entries.value[k]); });
}

constexpr Offset elements_at_once = Offset{1} << 16U;  // by a thread

void make_holes(Matrix& matrix, const std::vector<std::string>& missing, const Execution& execution) {
  const MissingMarks marks(missing);
  if (marks.empty()) return;
  execution.for_each_block(std::ssize(matrix.value), elements_at_once, [&](Offset first, Offset count) {
    for (Offset k = first; k < first + count; ++k) {
      Real& value = matrix.value[static_cast<std::size_t>(k)];
      if (marks.has_number(value)) value = std::numeric_limits<Real>::quiet_NaN();
    }
  });
}

/// What the program should ask the user about, behind the columns that were taken.
void add_doubts(std::string& columns, const ValueSample& values, const ReadOptions& options) {
  std::string doubt = options.missing.empty() ? mark_among_values(values) : "";
  if (doubt.empty() && options.columns.empty() && !columns.empty()) doubt = ids_for_values(values);
  if (!doubt.empty()) columns += (columns.empty() ? "" : "; ") + doubt;
}

/// No entry is given twice.
Matrix matrix_of(const NamedEntries& data, const std::string& path, const Execution& execution) {
  constexpr double most = 4e9;
  if (static_cast<double>(data.rows) * data.cols > most) {
    fail("'{}' is {} x {}: too large for a full matrix; read it as entries", path, data.rows, data.cols);
  }
  Matrix matrix;
  matrix.rows = data.rows;
  matrix.cols = data.cols;
  matrix.row_labels = data.row_labels;
  matrix.col_labels = data.col_labels;
  matrix.columns = data.columns;
  const auto stride = static_cast<std::size_t>(data.cols);
  matrix.value.assign(static_cast<std::size_t>(data.rows) * stride, std::numeric_limits<Real>::quiet_NaN());
  const Entries& entries = data.entries;
  execution.for_each_block(entries.size(), elements_at_once, [&](Offset first, Offset count) {
    for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(first + count); ++k)
      matrix.value[static_cast<std::size_t>(entries.row[k]) * stride + static_cast<std::size_t>(entries.col[k])] =
          entries.value[k];
  });
  return matrix;
}

}  // namespace

Format parse_format(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, Format>, 10> names = {
      {{"auto", Format::automatic},
       {"triplets", Format::triplets},
       {"libmf", Format::libmf},
       {"edges", Format::edges},
       {"matrix-market", Format::matrix_market},
       {"npy", Format::npy},
       {"npz", Format::npz},
       {"matrix", Format::matrix_text},
       {"automatic", Format::automatic},
       {"mtx", Format::matrix_market}}};
  for (const auto& [name, format] : names)
    if (name == text) return format;
  throw Error(ErrorCode::usage,
              fmt::format("unknown format {}: choose auto, triplets, libmf, edges, matrix-market, npy, npz or matrix",
                          excerpt(text)));
}

ParsedEntries entries_of(const Matrix& matrix, const std::string& name, int base, const Execution& execution) {
  ParsedEntries parsed;
  parsed.name = name;
  parsed.where = [](Offset entry) { return fmt::format("entry {}", entry); };
  NamedEntries& data = parsed.data;
  data.rows = matrix.rows;
  data.cols = matrix.cols;
  data.row_labels = matrix.row_labels;
  data.col_labels = matrix.col_labels;
  data.row_labels.base = data.col_labels.base = base;
  data.columns = matrix.columns;
  Entries& entries = data.entries;
  const auto cols = static_cast<std::size_t>(matrix.cols);
  const Real* const value = matrix.value.data();
  put_in_order(
      matrix.value.size(), execution,
      [&](std::size_t first, std::size_t last) {
        return static_cast<std::size_t>(
            std::count_if(value + first, value + last, [](Real one) { return !std::isnan(one); }));
      },
      [&](std::size_t present) {
        if (present == 0) fail("'{}' holds no entries: all are missing", name);
        entries.row.resize(present);
        entries.col.resize(present);
        entries.value.resize(present);
      },
      [&](std::size_t first, std::size_t last, std::size_t at) {
        auto row = static_cast<Index>(first / cols);
        auto col = static_cast<Index>(first % cols);
        for (std::size_t k = first; k < last; ++k) {
          if (!std::isnan(value[k])) {
            entries.row[at] = row;
            entries.col[at] = col;
            entries.value[at++] = value[k];
          }
          if (++col == matrix.cols) {
            col = 0;
            ++row;
          }
        }
      });
  return parsed;
}

namespace {

ParsedEntries parse_several(const std::vector<std::string>& paths, const ReadOptions& options) {
  if (!options.skip_columns.empty())
    fail_for("skip_columns", "several files hold lines of row, column and value, so there are no columns to skip");
  const std::vector<TextParts> texts = parts_of(paths, options);
  return options.format == Format::libmf ? read_libmf(texts, options) : read_triplets(texts, options);
}

/// The entries that count, of those that were read.
NamedEntries settled(ParsedEntries parsed, const ReadOptions& options) {
  resolve_duplicates(parsed, options.duplicates, Execution(options.threads));
  leave_out(parsed.data, options.missing);
  if (parsed.data.entries.row.empty()) fail("'{}' holds no entries: all are missing", parsed.name);
  add_doubts(parsed.data.columns, sample_of(parsed.data.entries.value), options);
  return std::move(parsed.data);
}

}  // namespace

NamedEntries read_entries(const std::string& path, const ReadOptions& options) {
  Input input = open_input(path, options, Format::triplets);
  require_used(options, input, path);
  return settled(parse_entries(std::move(input), options), options);
}

NamedEntries read_entries(const std::vector<std::string>& paths, const ReadOptions& options) {
  if (paths.size() == 1) return read_entries(paths.front(), options);
  return settled(parse_several(paths, options), options);
}

bool reads_in_parts(const std::vector<std::string>& paths, const ReadOptions& options) {
  if (paths.size() > 1) return options.skip_columns.empty() && options.format != Format::libmf;
  return paths.front() != standard_input && options.skip_columns.empty() &&
         open_input(paths.front(), options, Format::triplets).format == Format::triplets;
}

NamedEntries read_entries(const std::vector<std::string>& paths, const ReadOptions& options, DealtEntries& dealt) {
  const std::vector<TextParts> texts = parts_of(paths, options);
  Ranks& ranks = *dealt.ranks;
  const Execution execution(options.threads);
  TripletStretch stretch = read_stretch(texts, options, ranks);
  ParsedEntries& parsed = stretch.parsed;
  const Offset mine = parsed.data.entries.size();
  const Offset first = deal_rows(parsed.data, dealt);
  const auto line_at = [&](Offset place) {
    const bool here = place >= first && place < first + mine;
    return here ? stretch.lines_before + stretch.lines.line(place - first) : 0;
  };
  if (dealt.all == 0)
    fail("'{}' holds a header but no entries: lines of \"row column value\" were expected", parsed.name);
  std::vector<Offset> gone;
  resolve_duplicates(parsed, dealt, options.duplicates, execution, line_at, stretch.files, gone);
  leave_places(dealt, gone);
  gone.clear();
  if (const MissingMarks marks(options.missing); !marks.empty()) {
    keep_if(parsed.data, [&](std::size_t k) {
      const bool missing = marks.has_number(parsed.data.entries.value[k]);
      if (missing) gone.push_back(dealt.place[k]);
      return !missing;
    });
    leave_places(dealt, gone);
  }
  if (dealt.all == 0) fail("'{}' holds no entries: all are missing", parsed.name);
  add_doubts(parsed.data.columns, sample_of(parsed.data.entries.value, dealt), options);
  return std::move(parsed.data);
}

NamedEntries read_entries_like(const std::string& path, const Labels& rows, const Labels& cols, Index row_count,
                               Index col_count, Strangers strangers, const ReadOptions& options) {
  return read_entries_like(std::vector{path}, rows, cols, row_count, col_count, strangers, options);
}

NamedEntries read_entries_like(const std::vector<std::string>& paths, const Labels& rows, const Labels& cols,
                               Index row_count, Index col_count, Strangers strangers, const ReadOptions& options) {
  ParsedEntries parsed = paths.size() == 1
                             ? parse_entries(open_input(paths.front(), options, Format::triplets), options)
                             : parse_several(paths, options);
  NamedEntries& data = parsed.data;
  const std::vector<Index> row_of = match(data.row_labels, data.rows, rows, row_count);
  const std::vector<Index> col_of = match(data.col_labels, data.cols, cols, col_count);
  if (strangers == Strangers::refuse) {
    require_known(parsed, "row", data.entries.row, row_of, data.row_labels);
    require_known(parsed, "column", data.entries.col, col_of, data.col_labels);
  }
  resolve_duplicates(parsed, options.duplicates, Execution(options.threads));
  leave_out(data, options.missing);
  adopt(data, row_of, col_of, Execution(options.threads));
  if (strangers == Strangers::leave_out)
    keep_if(data, [&](std::size_t k) { return data.entries.row[k] >= 0 && data.entries.col[k] >= 0; });
  data.rows = row_count;
  data.cols = col_count;
  data.row_labels = rows;
  data.col_labels = cols;
  return std::move(data);
}

Matrix read_matrix(const std::string& path, const ReadOptions& options) {
  Input input = open_input(path, options, Format::matrix_text);
  require_used(options, input, path);
  const Execution execution(options.threads);
  Matrix matrix;
  if (input.format == Format::npy) {
    matrix = read_npy(std::move(input.bytes), execution);
  } else if (input.format == Format::matrix_text) {
    matrix = read_matrix_text(std::move(input.bytes), options, execution);
  } else if (input.format == Format::matrix_market && is_matrix_market_array(input.bytes)) {
    matrix = read_matrix_market_array(std::move(input.bytes), execution);
  } else {
    ParsedEntries parsed = parse_entries(std::move(input), options);
    resolve_duplicates(parsed, options.duplicates, execution);
    matrix = matrix_of(parsed.data, path, execution);
  }
  make_holes(matrix, options.missing, execution);
  add_doubts(matrix.columns, sample_of(matrix.value), options);
  return matrix;
}

Graph read_graph(const std::string& path, const ReadOptions& options, GraphKind kind) {
  Input input = open_input(path, options, Format::edges);
  const Execution execution(options.threads);
  if (input.format == Format::edges) return read_edges(std::move(input.bytes), kind, execution);
  return graph_of(parse_entries(std::move(input), options).data, path, kind, execution);
}

}  // namespace tracenorm::io
