// Arithmetic whose rounding is accounted for: what a verification computes is a theorem about real numbers, not about
// doubles. Only this is assumed: + - * / and sqrt of doubles are rounded to nearest (IEEE 754), and exp and log are
// within `kFunctionUnits` units in the last place (glibc's manual lists at most 2).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tracenorm::rigorous {

inline constexpr double kUnit = 0x1p-53;  ///< a rounded result differs from the exact one by at most this share of it
inline constexpr double kFunctionUnits = 8;
inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// At least the next number up: the exact result of an operation that was rounded to v is not above it. (|v| 2^-52 is
/// at least the distance to the next number, and the smallest number of all is added for the sake of tiny v.) A zero is
/// taken for exact, which it is after a sum or a root; after a product only when a factor is zero.
inline double above(double v) {
  return v == 0 ? v : v + (std::abs(v) * 0x1p-52 + std::numeric_limits<double>::denorm_min());
}
inline double below(double v) { return -above(-v); }

/// Bounds of a product.
inline double product_above(double a, double b) {
  const double product = a * b;
  const bool vanished = product == 0 && a != 0 && b != 0;
  return vanished ? std::numeric_limits<double>::denorm_min() : above(product);
}
inline double product_below(double a, double b) { return -product_above(-a, b); }
inline double square_above(double a) { return product_above(a, a); }

/// gamma_k = k u / (1 - k u) of rounding analysis: the relative error of k roundings in a row, and of a sum of products
/// that has k operations, in any order and with or without fused multiply-add, relative to the sum of the absolute
/// values of the products.
inline double gamma(double k) { return above(above(k * kUnit) / below(1 - above(k * kUnit))); }

/// The rounded sum and its error, which together are a + b exactly (Knuth).
struct ExactSum {
  double sum;
  double error;
};
inline ExactSum exact_sum(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

/// The largest double that is not above a + b, or a * b, and the smallest that is not below a + b.
inline double tight_sum_below(double a, double b) {
  const ExactSum exact = exact_sum(a, b);
  return exact.error < 0 ? std::nextafter(exact.sum, -kInfinite) : exact.sum;
}
inline double tight_sum_above(double a, double b) { return -tight_sum_below(-a, -b); }
inline double tight_product_below(double a, double b) {
  const double product = a * b;
  return std::fma(a, b, -product) < 0 ? std::nextafter(product, -kInfinite) : product;
}

/// Numbers between two doubles; operations return a range that holds every exact result.
struct Range {
  double lower;
  double upper;

  Range(double exact) : lower(exact), upper(exact) {}  // implicit: a double is a number
  Range(double from, double to) : lower(from), upper(to) {}
};

inline Range operator-(const Range& a) { return {-a.upper, -a.lower}; }
inline Range operator+(const Range& a, const Range& b) { return {below(a.lower + b.lower), above(a.upper + b.upper)}; }
inline Range operator-(const Range& a, const Range& b) { return {below(a.lower - b.upper), above(a.upper - b.lower)}; }
inline Range operator*(const Range& a, const Range& b) {
  // Written so that a NaN stays: no comparison must hide it.
  const auto worse = [](double x, double y) { return !(x <= y) ? x : y; };
  const auto bound = [&](const Range& x) {
    return worse(worse(product_above(x.lower, b.lower), product_above(x.lower, b.upper)),
                 worse(product_above(x.upper, b.lower), product_above(x.upper, b.upper)));
  };
  return {-bound(-a), bound(a)};
}
/// The divisor must be positive.
inline Range operator/(const Range& a, const Range& b) {
  const auto bound = [](double x, double y) {
    const double quotient = x / y;
    return quotient == 0 && x != 0 ? std::numeric_limits<double>::denorm_min() : above(quotient);
  };
  return {-bound(-a.lower, a.lower < 0 ? b.lower : b.upper), bound(a.upper, a.upper < 0 ? b.upper : b.lower)};
}
inline Range absolute(const Range& a) {
  if (a.lower >= 0) return a;
  if (a.upper <= 0) return -a;
  return {0, std::max(-a.lower, a.upper)};
}
/// The range of natural logarithms; of positive numbers.
inline Range logarithm(const Range& a) {
  const auto margin = [](double v) { return 2 * kFunctionUnits * kUnit * std::abs(v); };
  const double least = std::log(a.lower);
  const double most = std::log(a.upper);
  return {below(least - margin(least)), above(most + margin(most))};
}

/// The range of log(1 - a) for a in [0, 1): exact for small a, where 1 - a would be rounded.
inline Range logarithm_of_rest(const Range& a) {
  const auto margin = [](double v) { return 2 * kFunctionUnits * kUnit * std::abs(v); };
  const double least = std::log1p(-a.upper);
  const double most = std::log1p(-a.lower);
  return {below(least - margin(least)), std::min(0.0, above(most + margin(most)))};
}

/// An upper bound of a sum of many numbers. Rounding errors of the additions are kept and added, so that the bound
/// exceeds the exact sum by some 1e-16 of it however many numbers there are.
class SumAbove {
 public:
  void add(double term) {
    const ExactSum exact = exact_sum(sum_, term);
    sum_ = exact.sum;
    errors_ = above(errors_ + exact.error);
  }
  void add(const SumAbove& other) {
    add(other.sum_);
    errors_ = above(errors_ + other.errors_);
  }
  /// NaN when a term was not finite: no comparison holds with it.
  [[nodiscard]] double value() const { return above(sum_ + errors_); }

 private:
  double sum_ = 0;
  double errors_ = 0;
};

}  // namespace tracenorm::rigorous
