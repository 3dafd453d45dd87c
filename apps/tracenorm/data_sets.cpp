#include "data_sets.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "checksum.hpp"
#include "declarations.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

std::vector<DataSet> parse_data_sets(std::string_view text, const std::string& file) {
  std::vector<DataSet> all;
  try {
    const auto json = nlohmann::ordered_json::parse(text);
    for (const auto& one : json.at("datasets")) {
      all.push_back({one.at("name"), one.at("title"), one.at("files"), one.value("url", ""), one.value("saved_as", ""),
                     one.at("sha256"), one.value("of", "download") == "content", one.value("member", ""),
                     one.at("publisher")});
    }
  } catch (const nlohmann::ordered_json::exception& error) {
    throw Error(ErrorCode::input, fmt::format("{}: not a list of data sets: {}", file, error.what()));
  }
  return all;
}

}  // namespace

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> all = parse_data_sets(declarations::datasets, "experiments/datasets.json");
  return all;
}

std::vector<DataSet> read_data_sets(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::input, fmt::format("cannot read '{}'", path));
  std::ostringstream text;
  text << file.rdbuf();
  return parse_data_sets(text.str(), path);
}

const DataSet& find_data_set(const std::string& name, const std::vector<DataSet>& all) {
  std::vector<std::string> names;
  for (const DataSet& data : all) {
    if (data.name == name) return data;
    names.push_back(data.name);
  }
  throw Error(ErrorCode::usage, fmt::format("unknown data set '{}'; there are {}", name, fmt::join(names, ", ")));
}

std::optional<std::string> DataFolder::find(const DataSet& data) const {
  if (folder_.empty()) return std::nullopt;
  for (const std::string& file : data.files) {
    for (const char* suffix : {"", ".xz", ".gz"}) {
      std::error_code ignored;
      const std::string relative = file + suffix;
      if (std::filesystem::is_regular_file(path(relative), ignored)) return relative;
    }
  }
  return std::nullopt;
}

std::string DataFolder::path(const std::string& relative) const {
  return (std::filesystem::path(folder_) / relative).string();
}

const std::string& DataFolder::fingerprint(const std::string& relative) const {
  std::string& known = fingerprints_[relative];
  if (known.empty()) known = sha256_of_file(path(relative));
  return known;
}

}  // namespace tracenorm::app
