// Zip archives (data sets as their publishers pack them, NumPy's .npz) and xz streams, by libarchive. They are read
// forward, so that a pipe will do.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "io/source.hpp"

namespace tracenorm::io {

/// The files inside of a zip archive, one after another.
class ArchiveReader {
 public:
  explicit ArchiveReader(ByteSource zip);

  /// Goes on to the next file, past folders; false behind the last.
  bool next();
  [[nodiscard]] const std::string& path() const;    ///< of the archive
  [[nodiscard]] const std::string& member() const;  ///< the file inside; empty before the first
  /// The bytes of the file, to be read before the next call of `next`. Keeps the archive open by itself.
  [[nodiscard]] ByteSource content() const;

 private:
  friend ByteSource unxz(ByteSource xz);
  struct Stream;
  std::shared_ptr<Stream> stream_;
};

ByteSource unxz(ByteSource xz);

/// A zip archive that is handed to `sink` piece by piece. The same files give the same bytes: no times of day are
/// stored.
class ArchiveWriter {
 public:
  explicit ArchiveWriter(std::function<void(std::string_view bytes)> sink);
  void add(const std::string& member, std::string_view bytes, bool compress);
  void finish();  ///< without it the archive is not whole

 private:
  struct Stream;
  std::shared_ptr<Stream> stream_;
};

}  // namespace tracenorm::io
