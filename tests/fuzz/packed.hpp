// Archives of arrays out of fuzzed bytes. Bytes that are changed in an archive itself fail its checksums and come no
// further, so a target makes the archive of members that it is given.
//
// The first byte says how: 0, the rest is the file itself; else members follow, each as the number of its name (one
// byte), its length (two bytes, little endian) and its bytes.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace tracenorm::fuzz {

/// A zip archive whose members are stored as they are. By hand, because libarchive takes longer to write an archive
/// than our readers take to read it; it has no directory at its end, which who reads forward does not look at.
class StoredZip {
 public:
  void add(std::string_view member, std::string_view bytes) {
    const unsigned long checksum =
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    bytes_ += "PK\x03\x04";
    put(20, 2);  // the version that can read it
    put(0, 8);   // flags, method (stored), time, date
    put(checksum, 4);
    put(bytes.size(), 4);  // as it lies here
    put(bytes.size(), 4);  // and unpacked
    put(member.size(), 2);
    put(0, 2);  // extra fields
    bytes_ += member;
    bytes_ += bytes;
  }
  std::string finish() {
    bytes_ += "PK\x05\x06";
    put(0, 18);  // an empty directory
    return std::move(bytes_);
  }

 private:
  void put(std::uint64_t number, int count) {
    for (int k = 0; k < count; ++k) bytes_ += static_cast<char>(k < 8 ? (number >> (8 * k)) & 0xffU : 0);
  }
  std::string bytes_;
};

inline std::string packed(std::string_view bytes, const std::vector<std::string>& names) {
  if (bytes.empty()) return {};
  const bool as_it_is = bytes.front() == 0;
  bytes.remove_prefix(1);
  if (as_it_is) return std::string(bytes);
  StoredZip zip;
  while (bytes.size() >= 3) {
    const auto byte = [&](std::size_t k) { return std::size_t{static_cast<unsigned char>(bytes[k])}; };
    const std::string& name = names[byte(0) % names.size()];
    const std::size_t length = std::min(byte(1) | (byte(2) << 8U), bytes.size() - 3);
    zip.add(name + ".npy", bytes.substr(3, length));
    bytes.remove_prefix(3 + length);
  }
  return zip.finish();
}

}  // namespace tracenorm::fuzz
