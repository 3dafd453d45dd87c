// Files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace tracenorm::io {

/// A file that is written beside its destination and renamed by `commit`. Without a commit nothing is left behind and
/// an old file at the destination stays as it was. Devices and pipes are written directly: a rename would replace them.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail_writing(int error) const;

  std::string path_;       // as the user wrote it: for messages
  std::string target_;     // what is replaced: links followed
  std::string temporary_;  // empty when written directly
  int descriptor_ = -1;
};

/// Removes what processes that were killed while they wrote this file have left beside it.
void remove_abandoned(const std::string& path);

}  // namespace tracenorm::io
