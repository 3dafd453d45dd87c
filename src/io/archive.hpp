// Zip archives: data sets as their publishers pack them, and NumPy's .npz.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.hpp"

struct zip;

namespace tracenorm::io {

class Archive {
 public:
  explicit Archive(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<std::string>& members() const { return members_; }  ///< folders left out
  [[nodiscard]] bool contains(std::string_view member) const;
  /// The bytes of one member. The source keeps the archive open by itself.
  [[nodiscard]] ByteSource open(const std::string& member) const;

 private:
  std::string path_;
  std::shared_ptr<zip> handle_;
  std::vector<std::string> members_;
};

/// An archive that is built in memory. The same members give the same bytes: no times of day are stored.
class ArchiveBuilder {
 public:
  void add(std::string member, std::string bytes, bool compress);
  [[nodiscard]] std::string finish();

 private:
  struct Member {
    std::string name;
    std::string bytes;
    bool compress;
  };
  std::vector<Member> members_;
};

}  // namespace tracenorm::io
