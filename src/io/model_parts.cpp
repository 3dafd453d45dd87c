// Models as folders: parts of the rows side by side, what belongs to no row in a file of its own, and a manifest. Each
// of the files is a model itself, of some rows and no column or of all columns and no row. Their names are never those
// of an older model in the folder, so that the manifest, written last, changes one whole model for another.
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/among_ranks.hpp"
#include "io/files.hpp"
#include "io/messages.hpp"
#include "io/model_file.hpp"
#include "io/source.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* manifest_name = "manifest.json";
constexpr const char* manifest_kind = "tracenorm model in parts";
constexpr std::int64_t manifest_schema = 1;

/// A file, so that one of another model cannot take its place unseen.
struct Fingerprint {
  std::uint64_t bytes = 0;
  std::uint64_t crc32 = 0;

  void add(std::string_view more) {
    bytes += more.size();
    crc32 = crc32_z(static_cast<uLong>(crc32), reinterpret_cast<const Bytef*>(more.data()), more.size());
  }
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

Fingerprint fingerprint_of(const std::string& path) {
  Fingerprint print;
  ByteSource bytes = open_source(path);
  std::string room(std::size_t{1} << 18U, '\0');
  for (std::size_t count = 0; (count = bytes.read(room.data(), room.size())) > 0;) print.add({room.data(), count});
  return print;
}

struct Part {
  Index first = 0;
  Index rows = 0;
  Fingerprint print;
};

Index part_begin(Index rows, int parts, int part) {
  return static_cast<Index>(std::int64_t{rows} * part / parts);  // fits: a part is no number of the size of rows
}

// ---- what a file of the folder holds

template <class List>
List some_of(const List& list, Index first, Index rows) {
  if (list.empty()) return {};
  if (list.size() < static_cast<std::size_t>(first) + static_cast<std::size_t>(rows))
    fail("a model has names or offsets of {} rows, and more rows than that", list.size());
  return List(list.begin() + first, list.begin() + first + rows);
}

Model rows_of(const Model& model, Index first, Index rows) {
  Model part;
  const LowRankMatrix& x = model.factors;
  part.factors = {x.left().middleRows(first, rows), x.values(), Eigen::MatrixXd(0, x.terms())};
  part.rows = {some_of(model.rows.names, first, rows), model.rows.base};
  part.cols.base = model.cols.base;
  part.preparation = model.preparation;
  part.preparation.row_offset = some_of(model.preparation.row_offset, first, rows);
  part.preparation.col_offset.clear();
  if (model.certified) {
    part.certified = Reading{model.certified->values, some_of(model.certified->row_offset, first, rows), {}};
  }
  if (model.spread) part.spread = Spread{some_of(model.spread->row, first, rows), {}, model.spread->unknown, {}};
  return part;
}

Model without_rows(const Model& model) {
  Model rest;
  const LowRankMatrix& x = model.factors;
  rest.factors = {Eigen::MatrixXd(0, x.terms()), x.values(), x.right()};
  rest.rows.base = model.rows.base;
  rest.cols = model.cols;
  rest.preparation = model.preparation;
  rest.preparation.row_offset.clear();
  rest.metadata = model.metadata;
  rest.row_price = model.row_price;
  if (model.certified) rest.certified = Reading{model.certified->values, {}, model.certified->col_offset};
  if (model.spread) rest.spread = Spread{{}, model.spread->col, model.spread->unknown, model.spread->scores};
  return rest;
}

/// All rows that are wanted, into which parts are put.
class Joined {
 public:
  Joined(Model rest, Index rows) : model_(std::move(rest)), rows_(rows), left_(rows, model_.factors.terms()) {}

  void add(Model part, Index first, const std::string& file) {
    const LowRankMatrix& x = part.factors;
    if (x.terms() != model_.factors.terms() || x.values() != model_.factors.values() || x.cols() != 0 ||
        part.certified.has_value() != model_.certified.has_value() ||
        part.spread.has_value() != model_.spread.has_value() || part.rows.base != model_.rows.base) {
      fail("'{}' is no part of this model", file);
    }
    left_.middleRows(first, x.rows()) = x.left();
    put(part.rows.names, model_.rows.names, first, file);
    put(part.preparation.row_offset, model_.preparation.row_offset, first, file);
    if (part.certified) put(part.certified->row_offset, model_.certified->row_offset, first, file);
    if (part.spread) put(part.spread->row, model_.spread->row, first, file);
  }
  Model finish() {
    const LowRankMatrix& x = model_.factors;
    model_.factors =
        x.terms() == 0 ? LowRankMatrix(rows_, x.cols()) : LowRankMatrix(std::move(left_), x.values(), x.right());
    return std::move(model_);
  }

 private:
  /// All parts have a list, or none.
  template <class List>
  void put(List& some, List& all, Index first, const std::string& file) const {
    if (first == 0 && !some.empty()) all.resize(static_cast<std::size_t>(rows_));
    if (some.empty() != all.empty()) fail("'{}' is no part of this model: names or offsets are missing", file);
    std::move(some.begin(), some.end(), all.begin() + first);
  }

  Model model_;
  Index rows_;
  Eigen::MatrixXd left_;
};

// ---- writing

/// The file that `name(fingerprint)` calls it; its bytes are made twice, because its name depends on them.
template <class Name>
Fingerprint write_named(const fs::path& folder, const Model& model, const Name& name) {
  Fingerprint print;
  write_model_to([&](std::string_view bytes) { print.add(bytes); }, model);
  AtomicFile file((folder / name(print)).string());
  write_model_to([&](std::string_view bytes) { file.write(bytes); }, model);
  file.commit();
  return print;
}

std::string shared_name(const Fingerprint& print) { return fmt::format("shared-{:08x}.npz", print.crc32); }
std::string rows_name(const Fingerprint& print, Index first) {
  return fmt::format("rows-{}-{:08x}.npz", first, print.crc32);
}

void make_folder(const std::string& folder) {
  std::error_code failure;
  fs::create_directory(folder, failure);
  if (failure || !fs::is_directory(folder, failure))
    fail_about(Topic::writing, "cannot write '{}': {}", folder, failure ? failure.message() : "it is no folder");
}

nlohmann::ordered_json entry_of(const std::string& file, const Fingerprint& print) {
  return {{"file", file}, {"bytes", print.bytes}, {"crc32", fmt::format("{:08x}", print.crc32)}};
}

/// The manifest; then what older models have left is removed.
void write_manifest(const std::string& folder, const Model& model, const Fingerprint& shared, std::vector<Part> parts) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.first < b.first; });
  std::set<std::string> kept{shared_name(shared), manifest_name};
  nlohmann::ordered_json json{{"kind", manifest_kind},          {"schema", manifest_schema},
                              {"rows", model.factors.rows()},   {"cols", model.factors.cols()},
                              {"terms", model.factors.terms()}, {"shared", entry_of(shared_name(shared), shared)}};
  json["parts"] = nlohmann::ordered_json::array();
  for (const Part& part : parts) {
    nlohmann::ordered_json entry = entry_of(rows_name(part.print, part.first), part.print);
    std::error_code missing;
    if (fs::file_size(fs::path(folder) / rows_name(part.print, part.first), missing) != part.print.bytes) {
      fail_about(Topic::writing,
                 "'{}': a part that a rank wrote is not seen by the first rank; give a folder that all "
                 "machines share",
                 folder);
    }
    entry["first"] = part.first;
    entry["rows"] = part.rows;
    kept.insert(rows_name(part.print, part.first));
    json["parts"].push_back(std::move(entry));
  }
  write_file((fs::path(folder) / manifest_name).string(), json.dump(1) + "\n");
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    const std::string name = file.path().filename().string();
    const bool ours = name.starts_with("rows-") || name.starts_with("shared-") || name.starts_with(".rows-") ||
                      name.starts_with(".shared-");
    if (ours && !kept.contains(name)) fs::remove(file.path(), ignored);
  }
}

/// What went wrong with somebody's work, for all ranks alike; empty: nothing.
template <class Work>
std::string failure_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return std::string(error.what()) + "\n";
  }
  return {};
}

void meet_failures(const std::string& mine, Ranks* ranks) {
  const std::vector<char> all = gathered(std::vector<char>(mine.begin(), mine.end()), ranks);
  if (!all.empty()) fail_about(Topic::writing, "{}", std::string(all.begin(), std::find(all.begin(), all.end(), '\n')));
}

// ---- reading

nlohmann::json read_manifest(const std::string& folder) {
  const std::string path = (fs::path(folder) / manifest_name).string();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    fail_about(Topic::opening, "'{}' is a folder without {}, so it is no model in parts; give one, or a model's file",
               folder, manifest_name);
  }
  ByteSource bytes = open_source(path);
  std::string text(static_cast<std::size_t>(bytes.size().value_or(0)), '\0');
  text.resize(bytes.read(text.data(), text.size()));
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || json.value("kind", "") != manifest_kind)
    fail("'{}' is no manifest of a model in parts, or is damaged", path);
  if (json.value("schema", std::int64_t{0}) != manifest_schema)
    fail("'{}' was made by another version: schema {}, this program reads {}", path,
         json.value("schema", std::int64_t{0}), manifest_schema);
  return json;
}

/// A file of the folder, which is the one that the manifest means; row `first` is its first one.
Model read_named(const std::string& folder, const nlohmann::json& entry, std::string& path, RowBlocks& blocks,
                 Index first) {
  const auto name = entry.at("file").get<std::string>();
  if (name.empty() || name.find('/') != std::string::npos) fail("'{}': {} is no file of it", folder, excerpt(name));
  path = (fs::path(folder) / name).string();
  const Fingerprint wanted{entry.at("bytes").get<std::uint64_t>(),
                           std::stoull(entry.at("crc32").get<std::string>(), nullptr, 16)};
  if (fingerprint_of(path) != wanted)
    fail("'{}' is not the file that the manifest beside it means: it is damaged, or of another model", path);
  return read_model_file(path, blocks, first);
}

Model read_parts(const std::string& folder, const nlohmann::json& manifest, RowBlocks& blocks) {
  std::string path;
  const auto rows = manifest.at("rows").get<Index>();
  blocks.settle(std::max<Index>(rows, 0));
  Model rest = read_named(folder, manifest.at("shared"), path, blocks, 0);
  if (rows < 0 || rest.factors.rows() != 0 || rest.factors.cols() != manifest.at("cols").get<Index>())
    fail("'{}' does not fit its manifest", path);
  Joined all(std::move(rest), blocks.count());
  Index first = 0;
  for (const nlohmann::json& entry : manifest.at("parts")) {
    const auto count = entry.at("rows").get<Index>();
    if (entry.at("first").get<Index>() != first || count < 0 || count > rows - first)
      fail("'{}' does not fit its manifest", (fs::path(folder) / entry.at("file").get<std::string>()).string());
    const Index before = blocks.before(first);
    const Index mine = blocks.before(first + count) - before;
    if (mine > 0 || blocks.ranks == 1) {
      Model part = read_named(folder, entry, path, blocks, first);
      if (part.factors.rows() != mine) fail("'{}' does not fit its manifest", path);
      all.add(std::move(part), before, path);
    }
    first += count;
  }
  if (first != rows) fail("'{}': the parts have {} rows of {}", folder, first, rows);
  return all.finish();
}

}  // namespace

void write_model_parts(const std::string& folder, const Model& model, int parts, Ranks* ranks) {
  require_finite(model, folder);
  const Index rows = model.factors.rows();
  parts = static_cast<int>(std::clamp<Index>(parts, 1, std::max<Index>(rows, 1)));
  const int rank = ranks == nullptr ? 0 : ranks->rank();
  const int sharing = ranks == nullptr ? 1 : ranks->size();
  Fingerprint shared;
  std::string failure = failure_of([&] {
    if (rank > 0) return;
    make_folder(folder);
    shared = write_named(folder, without_rows(model), shared_name);
  });
  meet_failures(failure, ranks);
  std::vector<Part> mine;
  failure = failure_of([&] {
    for (int p = rank; p < parts; p += sharing) {
      const Index first = part_begin(rows, parts, p);
      const Index count = part_begin(rows, parts, p + 1) - first;
      const auto name = [&](const Fingerprint& print) { return rows_name(print, first); };
      mine.push_back({first, count, write_named(folder, rows_of(model, first, count), name)});
    }
  });
  meet_failures(failure, ranks);
  const std::vector<Part> all = gathered(mine, ranks);
  meet_failures(failure_of([&] {
                  if (rank == 0) write_manifest(folder, model, shared, all);
                }),
                ranks);
}

bool is_model_in_parts(const std::string& folder) {
  std::error_code ignored;
  return fs::exists(fs::path(folder) / manifest_name, ignored);
}

Model read_model_parts(const std::string& folder, RowBlocks& blocks) {
  const nlohmann::json manifest = read_manifest(folder);
  try {
    return read_parts(folder, manifest, blocks);
  } catch (const nlohmann::json::exception&) {
    fail("'{}': {} is damaged: a number or a name is missing", folder, manifest_name);
  } catch (const std::logic_error&) {  // of the number of a checksum
    fail("'{}': {} is damaged: a checksum is no number", folder, manifest_name);
  }
}

}  // namespace tracenorm::io
