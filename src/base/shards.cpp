#include "base/shards.hpp"

#include <bit>
#include <utility>

namespace tracenorm {

namespace {

/// More shards balance better but cost one output vector each in products with the transpose. Very large data have
/// more of them, one for so many entries, as more processes will share them.
constexpr Offset kManyShards = 64;
constexpr Offset kMostShards = 1024;
constexpr Offset kMostShardEntries = Offset{1} << 22U;
constexpr Offset kLeastShardEntries = 8192;  // cuts cost: rows that kernels take one by one, outputs, sums
constexpr Offset kLeastOutputEntries = 8;    // per number that a shard writes: adding those up must stay a side matter
/// Outputs of products with factors are larger: beyond so many shards, two of them share one.
constexpr int kMostOutputs = 32;

/// Where a branch of so many shards is parted: the largest power of two below.
constexpr int half_of(int shards) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(shards)) / 2); }

void add_whole_branches(Branch tree, int first, int last, std::vector<Branch>& branches) {
  if (tree.last <= first || last <= tree.first) return;
  if (first <= tree.first && tree.last <= last) return branches.push_back(tree);
  const auto [left, right] = halves(tree);
  add_whole_branches(left, first, last, branches);
  add_whole_branches(right, first, last, branches);
}

/// So many neighbours are added at a time, while they are in registers.
constexpr int kAtOnce = 8;

/// Number k of so many arrays, `stride` apart, added up as a branch.
template <int shards, class Number>
Number branch_sum(const Number* parts, Offset stride, Offset k) {
  if constexpr (shards == 1) {
    return parts[k];
  } else {
    constexpr int half = half_of(shards);
    return branch_sum<half>(parts, stride, k) + branch_sum<shards - half>(parts + half * stride, stride, k);
  }
}

template <int shards, class Number>
void add_arrays(const Number* parts, Offset stride, Offset count, Number* out) {
#pragma GCC ivdep  // `out` may be the first array, never half of one
  for (Offset k = 0; k < count; ++k) out[k] = branch_sum<shards>(parts, stride, k);
}

template <class Number>
void add_arrays(int shards, const Number* parts, Offset stride, Offset count, Number* out) {
  switch (shards) {
    case 1:
      return out == parts ? void() : void(std::copy_n(parts, count, out));
    case 2:
      return add_arrays<2>(parts, stride, count, out);
    case 3:
      return add_arrays<3>(parts, stride, count, out);
    case 4:
      return add_arrays<4>(parts, stride, count, out);
    case 5:
      return add_arrays<5>(parts, stride, count, out);
    case 6:
      return add_arrays<6>(parts, stride, count, out);
    case 7:
      return add_arrays<7>(parts, stride, count, out);
    default:
      return add_arrays<8>(parts, stride, count, out);
  }
}

/// One branch: its levels by threes, each sum in the place of its first shard.
template <class Number>
void add_branch(int shards, Number* parts, Offset stride, Offset count, Number* out) {
  while (shards > kAtOnce) {
    const int groups = (shards + kAtOnce - 1) / kAtOnce;
    for (int g = 0; g < groups; ++g) {
      Number* group = parts + g * kAtOnce * stride;
      add_arrays(std::min(kAtOnce, shards - g * kAtOnce), group, stride, count, group);
    }
    stride *= kAtOnce;
    shards = groups;
  }
  add_arrays(shards, parts, stride, count, out);
}

/// Kernels take so many full rows at once.
constexpr Index kRowsAtOnce = 8;
void take_whole_blocks(std::vector<Index>& cuts) {
  for (std::size_t s = 1; s + 1 < cuts.size(); ++s) cuts[s] = cuts[s] / kRowsAtOnce * kRowsAtOnce;
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
}

std::vector<Branch> all_of(int shards) { return whole_branches(0, shards, shards); }

}  // namespace

std::pair<Branch, Branch> halves(const Branch& branch) {
  const int middle = branch.first + half_of(branch.size());
  return {{branch.first, middle}, {middle, branch.last}};
}

std::vector<Branch> whole_branches(int first, int last, int all) {
  std::vector<Branch> branches;
  if (first < last) add_whole_branches({0, all}, first, last, branches);
  return branches;
}

ShardCuts cut_shards(Index rows, Index cols, Offset entries, const Offset* begin) {
  const Offset most = std::clamp(entries / kMostShardEntries, kManyShards, kMostShards);
  const Offset least = std::max(kLeastShardEntries, kLeastOutputEntries * cols);
  ShardCuts cuts{cut_rows_into(std::clamp<Offset>(entries / least, 1, most), rows, entries, begin)};
  if (begin == nullptr) take_whole_blocks(cuts.rows);
  if (cuts.count() > kMostOutputs) cuts.together = 2;
  return cuts;
}

ShardCuts ShardCuts::joined() const {
  ShardCuts joined{{0}};
  for (int s = 0; s < count(); s += together) {
    joined.rows.push_back(rows[static_cast<std::size_t>(std::min(count(), s + together))]);
  }
  return joined;
}

Shards::Shards(ShardCuts cuts) : cuts_(std::move(cuts)), all_(cuts_.count()), branches_(all_of(all_)) {}

Shards::Shards(ShardCuts here, int first, int all, OtherShards& others)
    : cuts_(std::move(here)),
      first_(first),
      all_(all),
      others_(&others),
      branches_(whole_branches(first, first + cuts_.count(), all)) {
  for (Branch& branch : branches_) branch = {branch.first - first, branch.last - first};
}

Shards Shards::joined() const {
  const int size = cuts_.together;
  if (others_ == nullptr) return Shards(cuts_.joined());
  return {cuts_.joined(), first_ / size, (all_ + size - 1) / size, *others_};
}

int Shards::outputs(int at_once) const {
  if (others_ == nullptr && count() <= at_once) return count();
  int sums = 0;
  int before = 0;
  for (const Branch& branch : branches_) sums = std::max(sums, before++ + (branch.size() + at_once - 1) / at_once);
  return std::min(at_once, count()) + sums;
}

template <class Number>
void Shards::add_neighbours(int parts, Number* of, Offset width, Number* out, Offset from, Offset count) {
  add_branch(parts, of + from, width, count, out + from);
}
template void Shards::add_neighbours(int, double*, Offset, double*, Offset, Offset);
template void Shards::add_neighbours(int, float*, Offset, float*, Offset, Offset);

template <class Number>
void Shards::add_branches(Number* parts, Offset width, Number* out, Offset from, Offset count) const {
  for (std::size_t b = 0; b < branches_.size(); ++b) {
    // A sum takes a place that was added up before, or its own.
    Number* to = others_ == nullptr ? out : parts + static_cast<Offset>(b) * width;
    add_branch(branches_[b].size(), parts + branches_[b].first * width + from, width, count, to + from);
  }
}
template void Shards::add_branches(double*, Offset, double*, Offset, Offset) const;
template void Shards::add_branches(float*, Offset, float*, Offset, Offset) const;

std::vector<Index> join_shards(const std::vector<Index>& cuts, Index most, int pieces) {
  const auto shards = static_cast<int>(cuts.size()) - 1;
  const auto row = [&](int shard) { return cuts[static_cast<std::size_t>(shard)]; };
  std::vector<Index> joined{0};
  std::vector<Branch> open{{0, shards}};
  while (!open.empty()) {
    const Branch branch = open.back();
    open.pop_back();
    const Index rows = row(branch.last) - row(branch.first);
    if (rows > most && branch.size() > 1) {
      const auto [left, right] = halves(branch);
      open.push_back(right);
      open.push_back(left);
      continue;
    }
    const Index parts = std::clamp(rows / most, 1, std::max(1, pieces / shards));
    for (Index part = 1; part <= parts; ++part) {
      joined.push_back(row(branch.first) + static_cast<Index>(Offset{rows} * part / parts));
    }
  }
  return joined;
}

}  // namespace tracenorm
