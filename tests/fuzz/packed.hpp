// Archives of arrays out of fuzzed bytes. Bytes that are changed in an archive itself fail its checksums and come no
// further, so a target makes the archive of members that it is given.
//
// The first byte says how: 0, the rest is the file itself; else members follow, each as the number of its name (one
// byte), its length (two bytes, little endian) and its bytes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "io/archive.hpp"

namespace tracenorm::fuzz {

inline std::string packed(std::string_view bytes, const std::vector<std::string>& names) {
  if (bytes.empty()) return {};
  const bool as_it_is = bytes.front() == 0;
  bytes.remove_prefix(1);
  if (as_it_is) return std::string(bytes);
  std::string zip;
  io::ArchiveWriter archive([&](std::string_view part) { zip += part; });
  while (bytes.size() >= 3) {
    const auto byte = [&](std::size_t k) { return std::size_t{static_cast<unsigned char>(bytes[k])}; };
    const std::string& name = names[byte(0) % names.size()];
    const std::size_t length = std::min(byte(1) | (byte(2) << 8U), bytes.size() - 3);
    archive.add(name + ".npy", bytes.substr(3, length), false);
    bytes.remove_prefix(3 + length);
  }
  archive.finish();
  return zip;
}

}  // namespace tracenorm::fuzz
