#include "io/ids.hpp"

#include <algorithm>
#include <cstring>
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

const std::uint64_t hash_key[2] = {draw(), draw() | 1U};

std::uint64_t keyed_hash(std::string_view text) {
  std::uint64_t hash = text.size();
  while (!text.empty()) {
    std::uint64_t letters = 0;
    const std::size_t count = std::min(text.size(), sizeof letters);
    std::memcpy(&letters, text.data(), count);
    hash = keyed_hash(hash ^ letters);
    text.remove_prefix(count);
  }
  return hash;
}

void NumberTable::clear() {
  constexpr unsigned bits = 4;
  bits_ = bits;
  slots_.assign(std::size_t{1} << bits_, Slot());
  used_ = 0;
}

void NumberTable::put(std::uint64_t number, Index index) {
  std::size_t slot = first(number);
  while (slots_[slot].index >= 0) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = {number, index};
}

void NumberTable::add(std::uint64_t number, Index index) {
  put(number, index);
  if (2 * ++used_ <= slots_.size()) return;
  const std::vector<Slot> old = std::move(slots_);
  ++bits_;
  slots_.assign(std::size_t{1} << bits_, Slot());
  for (const Slot& kept : old)
    if (kept.index >= 0) put(kept.number, kept.index);
}

IdMap::IdMap(std::string what, std::function<std::string()> where, Index most)
    : what_(std::move(what)), where_(std::move(where)), most_(most) {}

Index IdMap::add(std::int64_t id) {
  if (const Index known = find(id); known >= 0) return known;
  integers_.add(static_cast<std::uint64_t>(id), append({id, -1}));
  return size() - 1;
}

Index IdMap::add_text(std::string_view id) {
  const std::uint64_t hash = keyed_hash(id);
  if (const Index known = find_text(id, hash); known >= 0) return known;
  if (id.empty()) fail("{}: the {} is empty; every line needs one", where_(), what_);
  if (!is_utf8(id)) fail("{}: the {} {} is not UTF-8 text; convert the file to UTF-8", where_(), what_, excerpt(id));
  texts_.add(hash, append({static_cast<std::int64_t>(letters_.size()), static_cast<std::int32_t>(id.size())}));
  letters_ += id;
  all_integers_ = false;
  return size() - 1;
}

void IdMap::add(const IdMap& others, std::vector<Index>& indices) {
  indices.resize(others.ids_.size());
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Id& id = others.ids_[k];
    indices[k] = id.length < 0 ? add(id.number) : add_text(others.text(id));
  }
}

std::string IdMap::packed() const {
  std::string bytes;
  const auto add = [&](const auto& number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof number); };
  for (const Id& id : ids_) {
    add(id.length);
    if (id.length < 0) {
      add(id.number);
    } else {
      bytes += text(id);
    }
  }
  return bytes;
}

void IdMap::add_packed(std::string_view bytes) {
  const auto take = [&](auto& number) {
    std::memcpy(&number, bytes.data(), sizeof number);
    bytes.remove_prefix(sizeof number);
  };
  while (!bytes.empty()) {
    Id id{0, 0};
    take(id.length);
    if (id.length < 0) {
      take(id.number);
      add(id.number);
    } else {
      add_text(bytes.substr(0, static_cast<std::size_t>(id.length)));
      bytes.remove_prefix(static_cast<std::size_t>(id.length));
    }
  }
}

Index IdMap::append(const Id& id) {
  if (size() == most_)
    fail("{}: more than {} different {}s; that is the most this program takes", where_(), most_, what_);
  ids_.push_back(id);
  return size() - 1;
}

void IdMap::clear() {
  if (ids_.empty()) return;
  integers_.clear();
  texts_.clear();
  letters_.clear();
  ids_.clear();
  all_integers_ = true;
}

Labels IdMap::finish(std::vector<Index>& renumbered) const {
  renumbered.clear();
  Labels labels;
  std::vector<Index> order(ids_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto integer = [&](Index index) { return ids_[static_cast<std::size_t>(index)].number; };
  if (all_integers_) std::sort(order.begin(), order.end(), [&](Index a, Index b) { return integer(a) < integer(b); });
  labels.names.reserve(order.size());
  for (const Index index : order) labels.names.push_back(name(ids_[static_cast<std::size_t>(index)]));
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
