// Reading data and pairs, reading and writing models. Every error names the file, the line or field, the value, and
// what would be right. Outputs are written beside and renamed, so a crash never leaves half a file or destroys an old
// one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracenorm/checkpoint.hpp"
#include "tracenorm/claim.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/model.hpp"
#include "tracenorm/observations.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm::io {

/// A complaint of a reader that one of the `ReadOptions` may settle.
class ReadError : public Error {
 public:
  ReadError(const std::string& message, std::string setting)
      : Error(ErrorCode::input, message), setting_(std::move(setting)) {}
  /// The member of `ReadOptions`: "duplicates", "columns". The message ends where its name may follow.
  [[nodiscard]] const std::string& setting() const { return setting_; }

 private:
  std::string setting_;
};

/// The file is of another kind than the one that was asked for.
class WrongKind : public Error {
 public:
  explicit WrongKind(const std::string& message) : Error(ErrorCode::input, message) {}
};

enum class Format {
  automatic,  ///< from the file's name and first lines
  triplets,   ///< text lines "row col value [more]": tab, blank, comma, semicolon or "::" separated, header optional
  libmf,      ///< text "row col value" with 0-based integer indices
  edges,      ///< SNAP edge list "a b", '#' comments
  matrix_market,  ///< coordinate or array; real, integer or pattern; general or symmetric
  npy,            ///< a full matrix; NaN = missing
  npz,            ///< SciPy sparse (csr, csc, coo): unstored = missing
  matrix_text,    ///< a full matrix as text, one line a row; "nan", "NA" or nothing = missing
};
/// "auto", "triplets", "libmf", "edges", "matrix-market", "npy", "npz", "matrix"; throws a usage error otherwise.
Format parse_format(std::string_view text);

struct ReadOptions {
  Format format = Format::automatic;
  /// What to do with an entry that is given twice.
  enum class Duplicates { error, first, last, mean } duplicates = Duplicates::error;
  /// Which columns of triplets hold row, column, value and, if wanted, weight and time: names of the header, or numbers
  /// from 1; an empty word leaves a place out. Empty: by the usual names, or the first three.
  std::vector<std::string> columns{};
  /// Values that stand for none, such as "99"; in text also words.
  std::vector<std::string> missing{};
  /// Columns of a text of rows that hold no values: names or numbers from 1.
  std::vector<std::string> skip_columns{};
  /// 0: all cores. What is read does not depend on it.
  int threads = 0;
};

/// A data set as entries with names. Ids of text formats are kept as written: in numerical order when all ids of a side
/// are integers, otherwise in the order of their first appearance. Formats that count (Matrix Market from 1; LIBMF,
/// .npy and .npz from 0) have no names: their labels are empty and have that base.
struct NamedEntries {
  Index rows = 0;
  Index cols = 0;
  Entries entries;
  Labels row_labels;
  Labels col_labels;
  std::vector<Real> weight{};  ///< one an entry where the file has a column of weights; empty: none
  std::vector<double> time{};  ///< likewise, if asked for; dates as the number of their digits, 20051231
  std::string columns{};       ///< which columns of a text were taken, in words; empty where there was no choice
};

/// A full matrix; NaN = missing.
struct Matrix {
  Index rows = 0;
  Index cols = 0;
  std::vector<Real> value;  ///< row-major
  Labels row_labels;        ///< those of a text that has them
  Labels col_labels;
  std::string columns;  ///< as in `NamedEntries`
};

/// What an edge "a b" says: that both are linked, that a links to b, or that a of the left side is linked with b of the
/// right side, where the same id names two different nodes.
enum class GraphKind { undirected, directed, bipartite };

/// Each edge once, in ascending order. Of an undirected graph a < b, and loops are dropped; a directed one keeps those
/// that its file has.
struct Graph {
  GraphKind kind = GraphKind::undirected;
  Index nodes = 0;        ///< of the left side of a bipartite graph
  Index right_nodes = 0;  ///< the same but for a bipartite graph
  std::vector<std::pair<Index, Index>> edges;
  Labels labels;
  Labels right_labels;
};

/// Any format that holds entries. Files may be compressed (.gz, .xz), or a MovieLens zip that is read in place. A full
/// matrix (.npy, Matrix Market array) becomes its finite entries.
NamedEntries read_entries(const std::string& path, const ReadOptions& options = {});

/// The files that words of a command line mean: paths as they are, "-" too; folders by their files in the order of
/// their names, without those whose names begin with '.' or '_'; patterns ("part-*.csv", where no file has that name)
/// by what they match; "@list.txt" by the lines of that file, in its folder. Several must be regular files, each given
/// once.
std::vector<std::string> data_files(const std::vector<std::string>& words);

/// Texts of triplets, as one file that has the lines of all in this order. Each may have the header of the first again.
/// One path is read as it is, whatever it holds.
NamedEntries read_entries(const std::vector<std::string>& paths, const ReadOptions& options = {});

/// Whether files are texts of triplets that can be opened several times, so that ranks can read them in parts.
bool reads_in_parts(const std::vector<std::string>& paths, const ReadOptions& options = {});
/// The same data, of which each of `dealt.ranks` reads a part and is given the entries of its rows, in the order of the
/// files, with the numbers that all rows and columns have; `dealt` says which rows, and where the entries stood. What
/// is packed is read whole by one rank, or by every rank where it is the only file. All of them have the names of all
/// rows and columns.
NamedEntries read_entries(const std::vector<std::string>& paths, const ReadOptions& options, DealtEntries& dealt);

/// What becomes of an entry whose row or column the existing data do not have: an input error, nothing, or an entry
/// with `Preparation::kUnknown` for an index.
enum class Strangers { refuse, leave_out, keep };

/// The same reading, with the names of existing data or of a model. Where neither side has names, rows and columns are
/// matched by position; otherwise by name.
NamedEntries read_entries_like(const std::string& path, const Labels& rows, const Labels& cols, Index row_count,
                               Index col_count, Strangers strangers, const ReadOptions& options = {});
NamedEntries read_entries_like(const std::vector<std::string>& paths, const Labels& rows, const Labels& cols,
                               Index row_count, Index col_count, Strangers strangers, const ReadOptions& options = {});

/// A full matrix from .npy, Matrix Market or a text of rows; tables of entries become a matrix with NaN holes. Text is
/// taken as rows of numbers, unless its name (u.data, ratings.*), its header or "::" says that it holds triplets.
Matrix read_matrix(const std::string& path, const ReadOptions& options = {});

/// An edge list, or a matrix (Matrix Market, .npz, .npy; square unless the graph is bipartite) whose nonzero entries
/// are edges. An edge that is given several times counts once, and an undirected one in both directions, too.
Graph read_graph(const std::string& path, const ReadOptions& options = {}, GraphKind kind = GraphKind::undirected);

/// Pairs to predict, "row col" per line (a value is ignored), as names: they may be unknown to the model.
struct Pairs {
  std::vector<std::string> row;
  std::vector<std::string> col;
  /// The names that the first line holds, where it was taken for a header.
  std::optional<std::pair<std::string, std::string>> header{};
  /// File and line of a pair, for messages.
  std::function<std::string(std::size_t pair)> where{};
};
/// Of the options only `columns` matters.
Pairs read_pairs(const std::string& path, const ReadOptions& options = {});
/// Several texts as one that has the lines of all in this order. Each of the ranks, where there are some, reads a part
/// of the lines and is given their pairs.
Pairs read_pairs(const std::vector<std::string>& paths, const ReadOptions& options = {}, Ranks* ranks = nullptr);

/// Lets maps from strings be searched by views.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

/// Index of a name, or nothing.
class LabelIndex {
 public:
  LabelIndex(const Labels& labels, Index count);
  [[nodiscard]] std::optional<Index> find(std::string_view name) const;

 private:
  int base_;
  Index count_;
  bool named_;
  std::unordered_map<std::string, Index, TextHash, std::equal_to<>> index_;
};

/// Writes text (or bytes) to `path` by way of a temporary file beside it. Throws an input error naming the path and
/// reason.
void write_file(const std::string& path, std::string_view bytes);

/// "row<TAB>col<TAB>value" lines; with weights a fourth column, and a header that says so.
void write_entries(const std::string& path, const NamedEntries& data);
void write_npy(const std::string& path, Index rows, Index cols, const Real* row_major);
/// Another name, not an overload: `Real` may be double.
void write_npy_columns(const std::string& path, Index rows, Index cols, const double* column_major);

/// How the whole matrix of a model is written, by the end of its name: .npy, .csv, .tsv or .mtx; a usage error
/// otherwise.
enum class MatrixFile { npy, csv, tsv, matrix_market };
MatrixFile matrix_file_format(const std::string& path);
/// About how large the file will be.
double matrix_file_bytes(MatrixFile format, Index rows, Index cols);
/// Every entry as the model predicts it, in raw units. Tables have the names of columns and rows, where the model has
/// names.
void write_matrix(const std::string& path, const Model& model);
/// A matrix that is there, in double.
void write_matrix(const std::string& path, const Eigen::MatrixXd& matrix, const Labels& rows, const Labels& cols);

/// A .npz that NumPy opens without pickle: left (m x r), values (r), right (n x r), row_names, col_names (empty where
/// indices are the names), row_base, col_base, preparation (the kind), offset, scale, row_offset, col_offset (empty:
/// none), range (lower, upper; empty: none), row_price (multiplier, mean count, power, smoothing), metadata (JSON) and
/// schema. Where predictions are made with other singular values and offsets than the answer's: predictor_values,
/// predictor_row_offset, predictor_col_offset. Where it is known how far they are off: row_width, col_width,
/// unknown_width, interval_scores. Names that are very long are kept as row_names_utf8 and row_names_ends instead.
void write_model(const std::string& path, const Model& model);
/// A folder with so many parts of about equally many rows, each a file, what all rows share in another, and a manifest
/// that has their sizes and checksums. Ranks write some parts each; all of them make this call with the same model, of
/// which they need their rows and the first one all that is shared. The bytes do not depend on their number. A model
/// that is there already stays whole until the new one is.
void write_model_parts(const std::string& folder, const Model& model, int parts, Ranks* ranks = nullptr);
bool is_model_in_parts(const std::string& folder);
/// A file, or a folder of parts.
Model read_model(const std::string& path);

/// A .npz of where a run stands; an array for each of its numbers. A file that is not whole, or of another version, is
/// an input error.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
Checkpoint read_checkpoint(const std::string& path);

/// A .npz of what a claim holds; docs/certificates.md lists its arrays.
void write_certificate(const std::string& path, const Claim& claim);
Claim read_certificate(const std::string& path);

}  // namespace tracenorm::io
