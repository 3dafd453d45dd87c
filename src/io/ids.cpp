#include "io/ids.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "io/messages.hpp"
#include "io/text.hpp"
#include "io/utf8.hpp"

namespace tracenorm::io {
IdMap::IdMap(std::string what, std::function<std::string()> where, Index most)
    : what_(std::move(what)), where_(std::move(where)), most_(most), slots_(1024, -1), slot_bits_(10) {}

Index IdMap::add(std::string_view id) {
  const std::optional<std::int64_t> integer = parse_canonical_integer(id);
  return integer ? add_integer(*integer) : add_text(id);
}

Index IdMap::add_integer(std::int64_t id) {
  std::size_t slot = slot_of(id);
  if (slots_[slot] >= 0) return slots_[slot];
  const Index index = next(id);
  slots_[slot] = index;
  if (2 * static_cast<std::size_t>(++integer_count_) > slots_.size()) grow_slots();
  return index;
}

// Where the id is, or the free place where it belongs.
std::size_t IdMap::slot_of(std::int64_t id) const {
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15U;  // spreads ids with a common factor as well
  std::size_t slot = (static_cast<std::uint64_t>(id) * golden_ratio) >> (64U - slot_bits_);
  while (slots_[slot] >= 0 && integers_[static_cast<std::size_t>(slots_[slot])] != id)
    slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

void IdMap::grow_slots() {
  const std::vector<Index> old = std::move(slots_);
  ++slot_bits_;
  slots_.assign(std::size_t{1} << slot_bits_, -1);
  for (const Index index : old)
    if (index >= 0) slots_[slot_of(integers_[static_cast<std::size_t>(index)])] = index;
}

Index IdMap::add_text(std::string_view id) {
  const auto known = texts_.find(id);
  if (known != texts_.end()) return known->second;
  if (id.empty()) fail("{}: the {} is empty; every line needs one", where_(), what_);
  if (!is_utf8(id)) fail("{}: the {} {} is not UTF-8 text; convert the file to UTF-8", where_(), what_, excerpt(id));
  return texts_[std::string(id)] = next(0);
}

Index IdMap::next(std::int64_t id) {
  if (size() == most_)
    fail("{}: more than {} different {}s; that is the most this program takes", where_(), most_, what_);
  integers_.push_back(id);
  return static_cast<Index>(integers_.size()) - 1;
}

Labels IdMap::finish(std::vector<Index>& renumbered) const {
  renumbered.clear();
  Labels labels;
  labels.names.resize(integers_.size());
  if (!texts_.empty()) {
    for (std::size_t k = 0; k < integers_.size(); ++k) labels.names[k] = std::to_string(integers_[k]);
    for (const auto& [text, index] : texts_) labels.names[static_cast<std::size_t>(index)] = text;
    return labels;
  }
  std::vector<Index> order(integers_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto integer = [&](Index index) { return integers_[static_cast<std::size_t>(index)]; };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return integer(a) < integer(b); });
  for (std::size_t k = 0; k < order.size(); ++k) labels.names[k] = std::to_string(integer(order[k]));
  if (std::is_sorted(order.begin(), order.end())) return labels;
  renumbered.resize(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) renumbered[static_cast<std::size_t>(order[k])] = static_cast<Index>(k);
  return labels;
}

void renumber(std::vector<Index>& indices, const std::vector<Index>& renumbered) {
  if (renumbered.empty()) return;
  for (Index& index : indices) index = renumbered[static_cast<std::size_t>(index)];
}

LabelIndex::LabelIndex(const Labels& labels, Index count)
    : base_(labels.base), count_(count), named_(!labels.names.empty()) {
  index_.reserve(labels.names.size());
  for (std::size_t k = 0; k < labels.names.size(); ++k) index_.emplace(labels.names[k], static_cast<Index>(k));
}

std::optional<Index> LabelIndex::find(std::string_view name) const {
  if (named_) {
    const auto known = index_.find(name);
    return known != index_.end() ? std::optional<Index>(known->second) : std::nullopt;
  }
  const std::optional<std::int64_t> number = parse_canonical_integer(name);
  if (!number || *number < base_ || *number - base_ >= count_) return std::nullopt;
  return static_cast<Index>(*number - base_);
}

}  // namespace tracenorm::io
