#include "io/text_rounds.hpp"

#include <algorithm>
#include <utility>

#include "io/messages.hpp"

namespace tracenorm::io {

void LineBlock::fail_line(const std::string& where, std::string_view line) {
  fail("{}: the line cannot be read: {}", where, excerpt(line));
}

bool TextRounds::advance() {
  if (!std::exchange(begun_, true)) fetch();
  if (failure_) std::rethrow_exception(failure_);
  std::swap(now_, next_);
  if (now_.bytes == 0 && !now_.cut_off) return false;
  next_.bytes = 0;
  next_.cut_off = false;
  bytes_ += now_.bytes;
  cut();
  round_bytes_ = std::min(4 * round_bytes_, most_bytes());
  return true;
}

/// More for many threads; what is kept of a round is as much again.
std::size_t TextRounds::most_bytes() const {
  return std::clamp(static_cast<std::size_t>(execution_.threads()) * 4 * block_bytes, std::size_t{1} << 22U,
                    std::size_t{1} << 24U);
}

/// The text of the round into blocks of whole lines.
void TextRounds::cut() {
  std::string_view rest(now_.room.data(), now_.bytes);
  texts_.clear();
  while (!rest.empty()) {
    std::size_t size = rest.size();
    if (size > block_bytes) {
      const std::size_t newline = rest.find('\n', block_bytes);
      if (newline != std::string_view::npos) size = newline + 1;
    }
    texts_.push_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
}

void TextRounds::fetch() {
  try {
    lines_.take(next_, round_bytes_);
    ended_ = next_.bytes == 0 && !next_.cut_off;
  } catch (...) {
    failure_ = std::current_exception();
  }
}

std::optional<double> TextRounds::guess(std::size_t found) const {
  const std::optional<std::uint64_t> size = lines_.size();
  if (!size) return std::nullopt;
  return static_cast<double>(found) * static_cast<double>(*size) / static_cast<double>(bytes_);
}

}  // namespace tracenorm::io
