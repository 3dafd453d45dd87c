// Two reproductions in one folder would take each other's files for their own.
#pragma once

#include <string>

namespace tracenorm::app {

/// Holds a folder while it lives; the system lets go of it when the program ends, however it ends.
class FolderLock {
 public:
  /// Throws an input error when another program holds it.
  explicit FolderLock(const std::string& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int descriptor_;
};

}  // namespace tracenorm::app
