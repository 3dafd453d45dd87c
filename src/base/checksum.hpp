// CRC-32, as in zlib, which the core library does not link: finds files that do not belong together. It keeps nobody
// from forging them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tracenorm {

class Checksum {
 public:
  void add(const void* bytes, std::size_t count) {
    const auto* byte = static_cast<const unsigned char*>(bytes);
    for (std::size_t i = 0; i < count; ++i) state_ = kTable[(state_ ^ byte[i]) & 0xffU] ^ (state_ >> 8U);
  }
  template <class Number>
  void add_number(Number number) {
    add(&number, sizeof(Number));
  }
  [[nodiscard]] std::uint32_t value() const { return ~state_; }

 private:
  static constexpr std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t word = i;
      for (int bit = 0; bit < 8; ++bit) word = (word & 1U) != 0 ? 0xedb88320U ^ (word >> 1U) : word >> 1U;
      table[i] = word;
    }
    return table;
  }();

  std::uint32_t state_ = 0xffffffffU;
};

}  // namespace tracenorm
