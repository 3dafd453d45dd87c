// The numbers of a full matrix: as they are, or, where few of them differ (links, labels, ratings), in one byte each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "tracenorm/array.hpp"
#include "tracenorm/types.hpp"

namespace tracenorm {

/// Read-only; copies refer to the same elements.
class DenseValues {
 public:
  /// The code of NaN.
  static constexpr std::int8_t kMissing = -128;

  DenseValues() = default;
  DenseValues(Array<Real> plain) : plain_(std::move(plain)) {}                               // implicit
  DenseValues(std::vector<Real> plain) : plain_(std::move(plain)) {}                         // implicit
  DenseValues(std::initializer_list<Real> plain) : DenseValues(std::vector<Real>(plain)) {}  // implicit
  /// offset + scale * code, which must be exact, with codes from 0 to 127 and kMissing.
  DenseValues(Array<std::int8_t> code, Real offset, Real scale)
      : code_(std::move(code)), offset_(offset), scale_(scale) {}

  [[nodiscard]] std::size_t size() const { return plain_.size() + code_.size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] Real operator[](std::size_t i) const {
    if (code_.empty()) return plain_[i];
    return code_[i] == kMissing ? std::numeric_limits<Real>::quiet_NaN() : offset_ + scale_ * Real(code_[i]);
  }

  /// Elements [first, last); of nothing, nothing.
  [[nodiscard]] DenseValues slice(std::ptrdiff_t first, std::ptrdiff_t last) const {
    DenseValues part = *this;
    part.plain_ = plain_.slice(first, last);
    part.code_ = code_.slice(first, last);
    return part;
  }
  /// The same, but NaN at these places.
  [[nodiscard]] DenseValues without(const std::vector<std::size_t>& places) const {
    DenseValues rest = *this;
    if (code_.empty()) {
      rest.plain_ = replaced(plain_, places, std::numeric_limits<Real>::quiet_NaN());
    } else {
      rest.code_ = replaced(code_, places, kMissing);
    }
    return rest;
  }
  /// As they are: shared, or made of the codes.
  [[nodiscard]] Array<Real> plain() const {
    return code_.empty() ? plain_ : Array<Real>(std::vector<Real>(begin(), end()));
  }

  /// How they are kept; without codes these are empty.
  [[nodiscard]] const Array<std::int8_t>& code() const { return code_; }
  [[nodiscard]] Real offset() const { return offset_; }
  [[nodiscard]] Real scale() const { return scale_; }

  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = Real;
    using difference_type = std::ptrdiff_t;
    using pointer = const Real*;
    using reference = Real;

    Iterator() = default;
    Iterator(const DenseValues* values, std::size_t at) : values_(values), at_(at) {}
    Real operator*() const { return (*values_)[at_]; }
    Real operator[](difference_type n) const { return *(*this + n); }
    Iterator& operator+=(difference_type n) {
      at_ += static_cast<std::size_t>(n);
      return *this;
    }
    Iterator& operator-=(difference_type n) { return *this += -n; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) { return std::exchange(*this, *this - 1); }
    friend Iterator operator+(Iterator it, difference_type n) { return it += n; }
    friend Iterator operator+(difference_type n, Iterator it) { return it += n; }
    friend Iterator operator-(Iterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) {
      return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.at_ <=> b.at_; }

   private:
    const DenseValues* values_ = nullptr;
    std::size_t at_ = 0;
  };
  [[nodiscard]] Iterator begin() const { return {this, 0}; }
  [[nodiscard]] Iterator end() const { return {this, size()}; }

 private:
  template <class T>
  static Array<T> replaced(const Array<T>& all, const std::vector<std::size_t>& places, T by) {
    std::vector<T> kept(all.begin(), all.end());
    for (const std::size_t place : places) kept[place] = by;
    return kept;
  }

  Array<Real> plain_;
  Array<std::int8_t> code_;
  Real offset_ = 0;
  Real scale_ = 1;
};

}  // namespace tracenorm
