// Checkpoints as .npz files: one array for each name of a state, and a text that says which there are, so that a file
// that has lost some is found out. The archive's own checksums find out the rest.
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "io/files.hpp"
#include "io/messages.hpp"
#include "io/npz.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {
namespace {

constexpr std::int64_t checkpoint_schema = 1;
constexpr const char* real_type = sizeof(Real) == sizeof(float) ? "<f4" : "<f8";

/// visit(name of the state, state) for each of them.
template <class Visit>
void for_each_state(Checkpoint& checkpoint, Visit&& visit) {
  visit("run", checkpoint.run);
  for (std::size_t k = 0; k < checkpoint.answers.size(); ++k) visit(fmt::format("answer{}", k), checkpoint.answers[k]);
  visit("current", checkpoint.current);
}

std::string numbers_name(const std::string& state, const std::string& name) { return state + "/" + name; }
std::string entries_name(const std::string& state, const std::string& name) { return state + "/entries/" + name; }

nlohmann::json contents(Checkpoint& checkpoint) {
  nlohmann::json all;
  all["answers"] = checkpoint.answers.size();
  for_each_state(checkpoint, [&](const std::string& name, const State& state) {
    nlohmann::json& one = all["states"][name];
    one["texts"] = state.texts;
    one["numbers"] = nlohmann::json::array();
    one["entries"] = nlohmann::json::array();
    for (const auto& [key, matrix] : state.numbers) one["numbers"].push_back(key);
    for (const auto& [key, entries] : state.entries) one["entries"].push_back(key);
  });
  return all;
}

Eigen::MatrixXd read_matrix(NpzArrays& arrays, const std::string& name) {
  ByteSource source = arrays.take(name);
  const NpyHeader header = read_npy_header(source);
  if (header.shape.size() != 2 || !header.fortran_order || header.kind != 'f' || header.item_bytes != sizeof(double))
    fail("'{}' is not a matrix of a checkpoint", source.name());
  for (const std::int64_t extent : header.shape) {
    if (extent > std::numeric_limits<Index>::max())
      fail("'{}' has the impossible shape {}", source.name(), header.shape_text());
  }
  Eigen::MatrixXd matrix(header.shape[0], header.shape[1]);
  Eigen::Index k = 0;
  visit_numbers(source, header, [&](auto number) { matrix.data()[k++] = static_cast<double>(number); });
  return matrix;
}

std::vector<Real> read_entries_of(NpzArrays& arrays, const std::string& name) {
  ByteSource source = arrays.take(name);
  const NpyHeader header = read_npy_header(source);
  if (header.shape.size() != 1 || header.kind != 'f') fail("'{}' is not a list of a checkpoint", source.name());
  std::vector<Real> values;
  values.reserve(npy_room(source, header));
  visit_numbers(source, header, [&](auto number) { values.push_back(static_cast<Real>(number)); });
  return values;
}

Checkpoint read_contents(NpzArrays& arrays) {
  const nlohmann::json all = nlohmann::json::parse(arrays.text("contents"));
  Checkpoint checkpoint;
  const auto answers = all.at("answers").get<std::size_t>();
  if (answers > all.at("states").size()) fail("'{}': {} answers are missing", arrays.path(), answers);
  checkpoint.answers.resize(answers);
  for_each_state(checkpoint, [&](const std::string& name, State& state) {
    const nlohmann::json& one = all.at("states").at(name);
    state.texts = one.at("texts").get<std::map<std::string, std::string>>();
    for (const auto& key : one.at("numbers").get<std::set<std::string>>())
      state.numbers[key] = read_matrix(arrays, numbers_name(name, key));
    for (const auto& key : one.at("entries").get<std::set<std::string>>())
      state.entries[key] = read_entries_of(arrays, entries_name(name, key));
  });
  return checkpoint;
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  auto& states = const_cast<Checkpoint&>(checkpoint);  // which nobody changes here
  AtomicFile file(path);
  ArchiveWriter archive([&](std::string_view bytes) { file.write(bytes); });
  archive.add("checkpoint_schema.npy", integer_bytes(checkpoint_schema), false);
  archive.add("contents.npy", text_bytes(contents(states).dump()), true);
  for_each_state(states, [&](const std::string& name, const State& state) {
    for (const auto& [key, matrix] : state.numbers) {
      std::string bytes = npy_header("<f8", true, {matrix.rows(), matrix.cols()});
      bytes.append(reinterpret_cast<const char*>(matrix.data()),
                   static_cast<std::size_t>(matrix.size()) * sizeof(double));
      archive.add(numbers_name(name, key) + ".npy", bytes, false);
    }
    for (const auto& [key, entries] : state.entries) {
      archive.add(entries_name(name, key) + ".npy",
                  array_bytes(real_type, {static_cast<std::int64_t>(entries.size())}, entries.data(), entries.size()),
                  false);
    }
  });
  archive.finish();
  file.commit();
  remove_abandoned(path);  // a run that needs checkpoints may well have been killed while it wrote one
}

Checkpoint read_checkpoint(const std::string& path) {
  NpzArrays arrays(path, "a checkpoint of this program");
  const std::int64_t schema = arrays.integer("checkpoint_schema");
  if (schema != checkpoint_schema) {
    fail(
        "'{}' is a checkpoint of another version: schema {}, this program reads {}; go on with the version that wrote "
        "it",
        path, schema, checkpoint_schema);
  }
  try {
    return read_contents(arrays);
  } catch (const nlohmann::json::exception&) {
    fail("'{}': 'contents' is not what a checkpoint holds: it is damaged", path);
  }
}

}  // namespace tracenorm::io
