// A read-only array whose elements are shared: made from a vector, or borrowed from somebody else's memory (a NumPy
// array, a mapped file) that is kept alive as long as needed. Copies are cheap and refer to the same elements.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace tracenorm {

template <class T>
class Array {
 public:
  Array() = default;
  Array(std::vector<T> elements) : Array(std::make_shared<const std::vector<T>>(std::move(elements))) {}  // implicit
  Array(std::initializer_list<T> elements) : Array(std::vector<T>(elements)) {}

  /// Elements that live elsewhere; `owner` keeps them there (null: the caller sees to it).
  static Array borrow(const T* data, std::size_t size, const std::shared_ptr<const void>& owner) {
    return Array(data, size, owner);
  }

  /// Elements [first, last); of nothing, nothing.
  [[nodiscard]] Array slice(std::ptrdiff_t first, std::ptrdiff_t last) const {
    return empty() ? Array() : Array(data_ + first, static_cast<std::size_t>(last - first), owner_);
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] const T* begin() const { return data_; }
  [[nodiscard]] const T* end() const { return data_ + size_; }
  [[nodiscard]] const T& front() const { return data_[0]; }
  [[nodiscard]] const T& back() const { return data_[size_ - 1]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  explicit Array(const std::shared_ptr<const std::vector<T>>& held) : Array(held->data(), held->size(), held) {}
  Array(const T* data, std::size_t size, std::shared_ptr<const void> owner)
      : owner_(std::move(owner)), data_(data), size_(size) {}

  std::shared_ptr<const void> owner_;
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tracenorm
