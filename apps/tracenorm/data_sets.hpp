// The data sets of the paper's experiments (experiments/datasets.json): where they lie, where they come from, how they
// are recognised.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tracenorm::app {

struct DataSet {
  std::string name;
  std::string title;
  std::vector<std::string> files;  ///< where it may lie in the data folder, also with .gz or .xz behind
  std::string url;                 ///< empty: it cannot be fetched
  std::string saved_as;            ///< name of the download
  std::string sha256;
  bool of_content = false;  ///< the checksum is of the content, not of the download
  std::string member;       ///< of the download, when it is an archive
  std::string publisher;
};

/// All that the experiments use.
const std::vector<DataSet>& data_sets();
/// Others, from a file of the same form as experiments/datasets.json.
std::vector<DataSet> read_data_sets(const std::string& path);
/// Throws a usage error that lists the names there are.
const DataSet& find_data_set(const std::string& name, const std::vector<DataSet>& all = data_sets());

/// The data folder as a user gave it; empty: none.
class DataFolder {
 public:
  explicit DataFolder(std::string folder) : folder_(std::move(folder)) {}

  /// The file of a data set, relative to the folder; nothing when it is not there.
  [[nodiscard]] std::optional<std::string> find(const DataSet& data) const;
  [[nodiscard]] std::string path(const std::string& relative) const;
  /// SHA-256 of that file, computed once.
  const std::string& fingerprint(const std::string& relative) const;
  [[nodiscard]] const std::string& name() const { return folder_; }

 private:
  std::string folder_;
  mutable std::map<std::string, std::string> fingerprints_;
};

}  // namespace tracenorm::app
