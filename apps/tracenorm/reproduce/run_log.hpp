// The finished runs of a reproduction, one JSON object a line. A line is written whole and synced before the run counts
// as finished; a line that was cut off by a crash is dropped when the log is opened again, and its run is done again.
#pragma once

#include <map>
#include <string>

#include "reproduce/experiment.hpp"

namespace tracenorm::app {

class RunLog {
 public:
  /// Reads what is there; a missing file is an empty log. A damaged line that is not the last is an input error.
  explicit RunLog(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::size_t size() const { return runs_.size(); }
  /// The run that everything in `key` determines; null when it is not finished.
  [[nodiscard]] const Json* find(const std::string& key) const;
  /// Adds a finished run, on disk first. The run must have a member "key".
  void append(const Json& run);

 private:
  std::string path_;
  std::map<std::string, Json> runs_;  // by key
};

}  // namespace tracenorm::app
