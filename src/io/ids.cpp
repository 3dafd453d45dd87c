#include "io/ids.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "io/messages.hpp"
#include "io/text.hpp"
#include "io/utf8.hpp"

namespace tracenorm::io {
namespace {

std::uint64_t draw() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) ^ device();
}

}  // namespace

const std::uint64_t IntegerTable::key[2] = {draw(), draw() | 1U};

void IntegerTable::clear() {
  constexpr unsigned bits = 8;
  bits_ = bits;
  slots_.assign(std::size_t{1} << bits_, Slot());
  used_ = 0;
}

Index IntegerTable::add(std::int64_t integer, Index index) {
  Slot& slot = slots_[slot_of(integer)];
  if (slot.index >= 0) return slot.index;
  slot = {integer, index};
  if (2 * ++used_ <= slots_.size()) return index;
  const std::vector<Slot> old = std::move(slots_);
  ++bits_;
  slots_.assign(std::size_t{1} << bits_, Slot());
  for (const Slot& kept : old)
    if (kept.index >= 0) slots_[slot_of(kept.integer)] = kept;
  return index;
}

IdMap::IdMap(std::string what, std::function<std::string()> where, Index most)
    : what_(std::move(what)), where_(std::move(where)), most_(most) {}

Index IdMap::add(std::int64_t id) {
  if (const Index known = integers_.find(id); known >= 0) return known;
  require_room();
  ids_.push_back({id, nullptr});
  return integers_.add(id, size() - 1);
}

Index IdMap::add_text(std::string_view id) {
  const auto known = texts_.find(id);
  if (known != texts_.end()) return known->second;
  if (id.empty()) fail("{}: the {} is empty; every line needs one", where_(), what_);
  if (!is_utf8(id)) fail("{}: the {} {} is not UTF-8 text; convert the file to UTF-8", where_(), what_, excerpt(id));
  require_room();
  const auto added = texts_.emplace(id, size()).first;
  ids_.push_back({0, &added->first});
  return added->second;
}

void IdMap::add(const IdMap& others, std::vector<Index>& indices) {
  indices.resize(others.ids_.size());
  for (std::size_t k = 0; k < indices.size(); ++k)
    indices[k] = others.ids_[k].text != nullptr ? add_text(*others.ids_[k].text) : add(others.ids_[k].integer);
}

void IdMap::require_room() const {
  if (size() == most_)
    fail("{}: more than {} different {}s; that is the most this program takes", where_(), most_, what_);
}

void IdMap::clear() {
  if (ids_.empty()) return;
  integers_.clear();
  texts_.clear();
  ids_.clear();
}

Labels IdMap::finish(std::vector<Index>& renumbered) const {
  renumbered.clear();
  Labels labels;
  labels.names.resize(ids_.size());
  if (!texts_.empty()) {
    for (std::size_t k = 0; k < ids_.size(); ++k)
      labels.names[k] = ids_[k].text != nullptr ? *ids_[k].text : std::to_string(ids_[k].integer);
    return labels;
  }
  std::vector<Index> order(ids_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto integer = [&](Index index) { return ids_[static_cast<std::size_t>(index)].integer; };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return integer(a) < integer(b); });
  for (std::size_t k = 0; k < order.size(); ++k) labels.names[k] = std::to_string(integer(order[k]));
  if (std::is_sorted(order.begin(), order.end())) return labels;
  renumbered.resize(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) renumbered[static_cast<std::size_t>(order[k])] = static_cast<Index>(k);
  return labels;
}

void renumber(std::vector<Index>& indices, const std::vector<Index>& renumbered, const Execution& execution) {
  if (renumbered.empty()) return;
  constexpr Offset block = 1 << 18;
  execution.for_each_block(static_cast<Offset>(indices.size()), block, [&](Offset first, Offset count) {
    for (Index& index : std::span(indices).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)))
      index = renumbered[static_cast<std::size_t>(index)];
  });
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
