// Sums of doubles without rounding: the same number in any order, on any number of threads and ranks.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/execution.hpp"

namespace tracenorm {

/// A number of 2176 bits in digits of 32, each with room for carries (Kulisch's long accumulator).
class ExactSum {
 public:
  void add(double term) {
    const auto bits = std::bit_cast<std::uint64_t>(term);
    auto exponent = static_cast<unsigned>(bits >> kMantissa) & kLargestExponent;
    std::uint64_t mantissa = bits & ((std::uint64_t{1} << kMantissa) - 1);
    if (exponent == kLargestExponent) {
      not_finite_ += term;
      return;
    }
    if (exponent == 0) {
      exponent = 1;
    } else {
      mantissa |= std::uint64_t{1} << kMantissa;
    }
    const unsigned place = exponent - 1;
    __extension__ using Wide = unsigned __int128;
    const Wide wide = static_cast<Wide>(mantissa) << (place % kDigit);
    const std::int64_t sign = (bits >> 63U) != 0 ? -1 : 1;
    std::int64_t* digit = digits_.data() + place / kDigit;
    digit[0] += sign * static_cast<std::int64_t>(wide & kDigitMask);
    digit[1] += sign * static_cast<std::int64_t>((wide >> kDigit) & kDigitMask);
    digit[2] += sign * static_cast<std::int64_t>(wide >> (2 * kDigit));
    if (++added_ == kMostAdded) carry();
  }
  ExactSum& operator+=(ExactSum other) {
    carry();
    other.carry();
    for (std::size_t k = 0; k < digits_.size(); ++k) digits_[k] += other.digits_[k];
    not_finite_ += other.not_finite_;
    return *this;
  }
  /// The double near it: within a unit in the last place, and always the same one.
  [[nodiscard]] double value() const {
    if (!(not_finite_ == 0)) return not_finite_;
    ExactSum sum = *this;
    sum.carry();
    const bool negative = sum.digits_.back() < 0;
    if (negative) {
      for (std::int64_t& digit : sum.digits_) digit = -digit;
      sum.carry();
    }
    double value = 0;
    for (std::size_t k = sum.digits_.size(); k-- > 0;) {
      if (sum.digits_[k] != 0)
        value += std::ldexp(static_cast<double>(sum.digits_[k]), static_cast<int>(k * kDigit) - kLeastPlace);
    }
    return negative ? -value : value;
  }
  /// Leaves each digit below 2^32 but the last, which has the sign: all there is of it, for who sends it on.
  [[nodiscard]] std::span<std::int64_t> digits() {
    carry();
    return digits_;
  }

 private:
  static constexpr unsigned kMantissa = 52;
  static constexpr unsigned kLargestExponent = 0x7ff;
  static constexpr unsigned kDigit = 32;
  static constexpr std::uint64_t kDigitMask = 0xffffffffU;
  static constexpr int kLeastPlace = 1074;  // of the least double: 2^-1074
  static constexpr std::uint32_t kMostAdded = std::uint32_t{1} << 30U;

  void carry() {
    std::int64_t over = 0;
    for (std::size_t k = 0; k + 1 < digits_.size(); ++k) {
      const std::int64_t digit = digits_[k] + over;
      over = digit >> kDigit;  // rounds down: what stays is not negative
      digits_[k] = digit & static_cast<std::int64_t>(kDigitMask);
    }
    digits_.back() += over;
    added_ = 0;
  }

  std::array<std::int64_t, 68> digits_{};
  std::uint32_t added_ = 0;  // since carries were taken
  double not_finite_ = 0;
};

/// The sum of term(element) for the elements 0..size-1, on all threads.
template <class Term>
ExactSum exact_sum(const Execution& execution, std::size_t size, Term&& term) {
  constexpr Offset block = Offset{1} << 18U;
  const auto count = static_cast<Offset>(size);
  std::vector<ExactSum> parts(static_cast<std::size_t>((count + block - 1) / block));
  execution.for_each_block(count, block, [&](Offset first, Offset elements) {
    ExactSum part;
    for (Offset e = first; e < first + elements; ++e) part.add(term(static_cast<std::size_t>(e)));
    parts[static_cast<std::size_t>(first / block)] = part;
  });
  ExactSum all;
  for (const ExactSum& part : parts) all += part;
  return all;
}

}  // namespace tracenorm
