// NumPy's .npy format: what .npy files and the members of .npz archives hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.hpp"
#include "io/messages.hpp"
#include "io/source.hpp"

namespace tracenorm::io {

struct NpyHeader {
  char kind = 'f';  ///< f, i, u, b (bool), S (bytes), U (unicode)
  std::size_t item_bytes = 8;
  bool swapped = false;  ///< bytes in the other order than this machine's
  bool fortran_order = false;
  std::vector<std::int64_t> shape;

  [[nodiscard]] std::int64_t count() const;
  [[nodiscard]] std::string shape_text() const;  ///< "(3, 4)"
};

/// Reads up to the data. Refuses data types that hold no numbers or text, and files that are shorter than they claim.
NpyHeader read_npy_header(ByteSource& source);

/// A text array with all its elements, as UTF-8.
/// `number` is what an element is called in messages.
std::vector<std::string> read_npy_texts(
    ByteSource& source, const NpyHeader& header,
    FunctionRef<std::int64_t(std::int64_t)> number = [](std::int64_t element) { return element; });

/// The number of elements to make room for in advance: all of them only where the size of the source vouches for them.
std::size_t npy_room(const ByteSource& source, const NpyHeader& header);

/// Header and padding, ready to be followed by the data.
std::string npy_header(std::string_view type, bool fortran_order, const std::vector<std::int64_t>& shape);

namespace detail {

[[noreturn]] void fail_npy_short(const ByteSource& source, const NpyHeader& header);
[[noreturn]] void fail_npy_number(const ByteSource& source, const NpyHeader& header);
/// Looks for the end behind the data: archives and compressed files compare their checksum only there.
void finish_npy(ByteSource& source);

template <class Number, class Use>
void visit_blocks_as(ByteSource& source, const NpyHeader& header, const Use& use) {
  constexpr std::size_t block = 8192;
  std::vector<Number> numbers(block);
  for (std::int64_t left = header.count(); left > 0;) {
    const auto now = static_cast<std::size_t>(std::min<std::int64_t>(left, block));
    char* const bytes = reinterpret_cast<char*>(numbers.data());
    if (source.read(bytes, now * sizeof(Number)) != now * sizeof(Number)) fail_npy_short(source, header);
    if (header.swapped)
      for (std::size_t k = 0; k < now; ++k) std::reverse(bytes + k * sizeof(Number), bytes + (k + 1) * sizeof(Number));
    use(static_cast<const Number*>(numbers.data()), now);
    left -= static_cast<std::int64_t>(now);
  }
  finish_npy(source);
}

}  // namespace detail

/// Calls use(numbers, count) with some thousand numbers at a time in the order of the file, in the file's own type.
template <class Use>
void visit_blocks(ByteSource& source, const NpyHeader& header, const Use& use) {
  const auto as = [&](auto number) { detail::visit_blocks_as<decltype(number)>(source, header, use); };
  const std::size_t bytes = header.item_bytes;
  switch (header.kind) {
    case 'f':
      if (bytes == 4) return as(float{});
      if (bytes == 8) return as(double{});
      break;
    case 'i':
      if (bytes == 1) return as(std::int8_t{});
      if (bytes == 2) return as(std::int16_t{});
      if (bytes == 4) return as(std::int32_t{});
      if (bytes == 8) return as(std::int64_t{});
      break;
    case 'u':
    case 'b':
      if (bytes == 1) return as(std::uint8_t{});
      if (bytes == 2) return as(std::uint16_t{});
      if (bytes == 4) return as(std::uint32_t{});
      if (bytes == 8) return as(std::uint64_t{});
      break;
    default:
      break;
  }
  detail::fail_npy_number(source, header);
}

/// Calls `use` with each of them.
template <class Use>
void visit_numbers(ByteSource& source, const NpyHeader& header, const Use& use) {
  visit_blocks(source, header, [&](const auto* numbers, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) use(numbers[k]);
  });
}

}  // namespace tracenorm::io
