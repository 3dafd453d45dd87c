// A random stream that is the same on every machine and compiler (std distributions are not).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace tracenorm {

/// xoshiro256++ (Blackman and Vigna, public domain algorithm), seeded by splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15ULL;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  /// In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Uniform, with mean 0 and variance 1: for who needs many numbers and no distribution in particular.
  double spread() { return 3.4641016151377544 * (uniform() - 0.5); }

  /// Standard normal, by Marsaglia's polar method.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double a = 0;
    double b = 0;
    double s = 0;
    do {
      a = 2 * uniform() - 1;
      b = 2 * uniform() - 1;
      s = a * a + b * b;
    } while (s >= 1 || s == 0);
    const double factor = std::sqrt(-2 * std::log(s) / s);
    spare_ = b * factor;
    has_spare_ = true;
    return a * factor;
  }

  /// In {0, ..., n-1}, without bias.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t limit = n * (UINT64_MAX / n);
    std::uint64_t draw = next();
    while (draw >= limit) draw = next();
    return draw % n;
  }

  /// Where the stream stands, as numbers that any file of numbers can hold.
  using State = std::array<double, 10>;
  [[nodiscard]] State state() const {
    State state{};
    for (std::size_t w = 0; w < 4; ++w) {
      state[2 * w] = static_cast<double>(state_[w] >> 32);
      state[2 * w + 1] = static_cast<double>(state_[w] & 0xffffffffULL);
    }
    state[8] = spare_;
    state[9] = has_spare_ ? 1 : 0;
    return state;
  }
  void restore(const State& state) {
    for (std::size_t w = 0; w < 4; ++w) {
      state_[w] = (static_cast<std::uint64_t>(state[2 * w]) << 32) | static_cast<std::uint64_t>(state[2 * w + 1]);
    }
    spare_ = state[8];
    has_spare_ = state[9] != 0;
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

  std::uint64_t state_[4];
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace tracenorm
