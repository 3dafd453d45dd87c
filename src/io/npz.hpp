// NumPy's .npz: a zip archive of .npy arrays.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/archive.hpp"

namespace tracenorm::io {

/// The arrays of a file, in memory until they are taken: they may come in any order, and the file is read once.
class NpzArrays {
 public:
  /// `purpose` is what the file should be, for messages: "a model of this program".
  NpzArrays(ArchiveReader archive, std::string purpose);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool has(const std::string& array) const { return bytes_.contains(array); }
  /// The bytes of an array, once; an error that lists what is there when it is missing.
  [[nodiscard]] ByteSource take(const std::string& array);

 private:
  std::string path_;
  std::string purpose_;
  std::vector<std::string> members_;
  std::map<std::string, std::string> bytes_;  // by the name of the array, without ".npy"
};

}  // namespace tracenorm::io
