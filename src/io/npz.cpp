#include "io/npz.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "io/messages.hpp"

namespace tracenorm::io {
namespace {

std::string read_whole(ByteSource source) {
  // What the archive says about the size is believed up to a point: a damaged one must not take all memory.
  constexpr std::uint64_t most = std::uint64_t{1} << 28U;
  std::string bytes(std::min(source.size().value_or(1U << 16U), most) + 1, '\0');
  std::size_t filled = 0;
  while ((filled += source.read(bytes.data() + filled, bytes.size() - filled)) == bytes.size())
    bytes.resize(2 * bytes.size());
  bytes.resize(filled);
  return bytes;
}

}  // namespace

NpzArrays::NpzArrays(ArchiveReader archive, std::string purpose) : path_(archive.path()), purpose_(std::move(purpose)) {
  constexpr std::string_view suffix = ".npy";
  if (archive.member().empty() && !archive.next()) return;
  do {
    const std::string& member = members_.emplace_back(archive.member());
    if (member.ends_with(suffix))
      bytes_[member.substr(0, member.size() - suffix.size())] = read_whole(archive.content());
  } while (archive.next());
}

ByteSource NpzArrays::take(const std::string& array) {
  auto found = bytes_.extract(array);
  if (found.empty())
    fail("'{}' has no array '{}', so it is not {}; it holds {}", path_, array, purpose_, listing(members_));
  const std::size_t size = found.mapped().size();
  auto read = [bytes = std::move(found.mapped()), at = std::size_t{0}](char* into, std::size_t wanted) mutable {
    const std::size_t now = std::min(wanted, bytes.size() - at);
    std::memcpy(into, bytes.data() + at, now);
    at += now;
    return now;
  };
  return {fmt::format("{}:{}.npy", path_, array), std::move(read), size};
}

}  // namespace tracenorm::io
