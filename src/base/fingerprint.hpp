// A checksum of much data in little time: tells data from other data, and keeps nobody from forging them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tracenorm {

class Fingerprint {
 public:
  void add(const void* bytes, std::size_t count) {
    const auto* at = static_cast<const unsigned char*>(bytes);
    mix(count);
    for (; count >= sizeof(std::uint64_t); at += sizeof(std::uint64_t), count -= sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, at, sizeof(word));
      mix(word);
    }
    std::uint64_t rest = 0;
    if (count > 0) std::memcpy(&rest, at, count);  // of nothing there may be no place
    mix(rest);
  }
  /// Anything with data() and size() whose elements are numbers.
  template <class Numbers>
  void add_all(const Numbers& numbers) {
    add(numbers.data(), static_cast<std::size_t>(numbers.size()) * sizeof(*numbers.data()));
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  void mix(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15ULL;
    state_ ^= state_ >> 32U;
  }

  std::uint64_t state_ = 0x2545f4914f6cdd1dULL;
};

}  // namespace tracenorm
