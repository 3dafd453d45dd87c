#include "io/duplicates.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "base/among_ranks.hpp"
#include "base/grouping.hpp"
#include "io/keep.hpp"
#include "io/messages.hpp"

namespace tracenorm::io {
namespace {

/// An entry and the first one at the same place.
struct Repeat {
  Offset first;
  Offset entry;
};

std::size_t at(Offset entry) { return static_cast<std::size_t>(entry); }

// Most files are sorted by row or by column: one look at neighbours then shows that nothing repeats.
bool strictly_sorted(const std::vector<Index>& major, const std::vector<Index>& minor, const Execution& execution) {
  constexpr Offset block = 1 << 20;
  std::atomic<bool> sorted = true;
  execution.for_each_block(static_cast<Offset>(major.size()), block, [&](Offset first, Offset count) {
    if (!sorted) return;
    for (auto k = static_cast<std::size_t>(std::max<Offset>(first, 1)); k < static_cast<std::size_t>(first + count);
         ++k)
      if (major[k] < major[k - 1] || (major[k] == major[k - 1] && minor[k] <= minor[k - 1])) return sorted.store(false);
  });
  return sorted;
}

// Groups entries by row, then sorts each row by column. `Number` is as narrow as the number of entries allows: this
// permutation is the only entry-sized memory.
template <class Number>
std::vector<Repeat> find_by_grouping(const NamedEntries& data, const Execution& execution) {
  const Entries& entries = data.entries;
  Grouping<Index> rows(entries.row, data.rows, execution);
  std::vector<Number> order(entries.row.size());
  rows.place([&](std::size_t entry, std::size_t place) { order[place] = static_cast<Number>(entry); });
  constexpr Offset shards = 256;
  const std::vector<Index> cuts = cut_rows_into(shards, data.rows, entries.size(), rows.begin().data());
  std::vector<std::vector<Repeat>> parts(cuts.size() - 1);
  execution.for_each_shard(static_cast<int>(parts.size()), [&](int s) {
    std::vector<std::pair<Index, Number>> row;  // column, entry
    for (auto i = static_cast<std::size_t>(cuts[at(s)]); i < static_cast<std::size_t>(cuts[at(s) + 1]); ++i) {
      row.clear();
      for (Offset k = rows.begin()[i]; k < rows.begin()[i + 1]; ++k)
        row.emplace_back(entries.col[static_cast<std::size_t>(order[at(k)])], order[at(k)]);
      std::sort(row.begin(), row.end());
      std::size_t first = 0;
      for (std::size_t k = 1; k < row.size(); ++k) {
        if (row[k].first == row[first].first) {
          parts[at(s)].push_back({static_cast<Offset>(row[first].second), static_cast<Offset>(row[k].second)});
        } else {
          first = k;
        }
      }
    }
  });
  std::vector<Repeat> repeats;
  for (const std::vector<Repeat>& part : parts) repeats.insert(repeats.end(), part.begin(), part.end());
  return repeats;
}

// For data with far more rows than entries.
std::vector<Repeat> find_by_sorting(const NamedEntries& data) {
  const Entries& entries = data.entries;
  std::vector<Offset> order(entries.row.size());
  std::iota(order.begin(), order.end(), Offset{0});
  const auto place = [&](Offset entry) { return std::pair(entries.row[at(entry)], entries.col[at(entry)]); };
  std::sort(order.begin(), order.end(),
            [&](Offset a, Offset b) { return place(a) != place(b) ? place(a) < place(b) : a < b; });
  std::vector<Repeat> repeats;
  std::size_t first = 0;
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (place(order[k]) == place(order[first])) {
      repeats.push_back({order[first], order[k]});
    } else {
      first = k;
    }
  }
  return repeats;
}

std::vector<Repeat> find_repeats(const NamedEntries& data, const Execution& execution) {
  const Entries& entries = data.entries;
  if (strictly_sorted(entries.row, entries.col, execution) || strictly_sorted(entries.col, entries.row, execution))
    return {};
  if (data.rows > 4 * entries.size() + 1'000'000) return find_by_sorting(data);
  if (entries.size() <= Offset{std::numeric_limits<std::uint32_t>::max()})
    return find_by_grouping<std::uint32_t>(data, execution);
  return find_by_grouping<Offset>(data, execution);
}

[[noreturn]] void fail_repeat(const ParsedEntries& parsed, const Repeat& repeat) {
  const NamedEntries& data = parsed.data;
  const std::string file = parsed.file_of(repeat.entry);
  const std::string earlier = parsed.file_of(repeat.first);
  fail_for("duplicates",
           "'{}', {}: row {}, column {} was already given at {}{}; give each entry once, or choose first, last or mean",
           file, parsed.where(repeat.entry), excerpt(data.row_labels.name(data.entries.row[at(repeat.entry)])),
           excerpt(data.col_labels.name(data.entries.col[at(repeat.entry)])),
           earlier == file ? "" : fmt::format("'{}', ", earlier), parsed.where(repeat.first));
}

// The repeats come sorted by entry, so `last` overwrites in the order of the file.
void take_last(NamedEntries& data, const std::vector<Repeat>& repeats) {
  for (const auto& [first, entry] : repeats) {
    data.entries.value[at(first)] = data.entries.value[at(entry)];
    if (!data.weight.empty()) data.weight[at(first)] = data.weight[at(entry)];
    if (!data.time.empty()) data.time[at(first)] = data.time[at(entry)];
  }
}

// Of the values alone: the weight and the time stay those of the first.
void take_mean(std::vector<Real>& value, std::vector<Repeat> repeats) {
  std::stable_sort(repeats.begin(), repeats.end(), [](const Repeat& a, const Repeat& b) { return a.first < b.first; });
  for (std::size_t k = 0; k < repeats.size();) {
    const Offset first = repeats[k].first;
    double sum = value[at(first)];
    double count = 1.0;
    for (; k < repeats.size() && repeats[k].first == first; ++k, ++count) sum += value[at(repeats[k].entry)];
    const Real mean = sum / count;
    value[at(first)] = mean;
  }
}

}  // namespace

Offset EntryLines::line(Offset entry) const {
  auto jump = std::upper_bound(jumps_.begin(), jumps_.end(), entry,
                               [](Offset wanted, const auto& candidate) { return wanted < candidate.first; });
  return jump == jumps_.begin() ? 0 : entry + std::prev(jump)->second;
}

namespace {

/// In the order of the entries that repeat another one.
std::vector<Repeat> sorted_repeats(const NamedEntries& data, const Execution& execution) {
  std::vector<Repeat> repeats = find_repeats(data, execution);
  std::sort(repeats.begin(), repeats.end(), [](const Repeat& a, const Repeat& b) { return a.entry < b.entry; });
  return repeats;
}

/// Keeps one value of each; went(entry) is told of the others.
template <class Went>
void keep_one(NamedEntries& data, const std::vector<Repeat>& repeats, ReadOptions::Duplicates policy, Went&& went) {
  if (policy == ReadOptions::Duplicates::last) take_last(data, repeats);
  if (policy == ReadOptions::Duplicates::mean) take_mean(data.entries.value, repeats);
  auto gone = repeats.begin();
  keep_if(data, [&](std::size_t k) {
    if (gone == repeats.end() || at(gone->entry) != k) return true;
    ++gone;
    went(k);
    return false;
  });
}

}  // namespace

void resolve_duplicates(ParsedEntries& parsed, ReadOptions::Duplicates policy, const Execution& execution) {
  const std::vector<Repeat> repeats = sorted_repeats(parsed.data, execution);
  if (repeats.empty()) return;
  if (policy == ReadOptions::Duplicates::error) fail_repeat(parsed, repeats.front());
  keep_one(parsed.data, repeats, policy, [](std::size_t) {});
}

void resolve_duplicates(ParsedEntries& parsed, const DealtEntries& dealt, ReadOptions::Duplicates policy,
                        const Execution& execution, const std::function<Offset(Offset place)>& line_at,
                        const FileLines& files, std::vector<Offset>& gone) {
  const std::vector<Repeat> repeats = sorted_repeats(parsed.data, execution);
  if (policy != ReadOptions::Duplicates::error) {
    keep_one(parsed.data, repeats, policy, [&](std::size_t entry) { gone.push_back(dealt.place[entry]); });
    return;
  }
  // The first one of all ranks, with the lines that whoever has read them knows.
  struct Places {
    Offset entry;
    Offset first;
  };
  std::vector<Places> found;
  if (!repeats.empty()) found = {{dealt.place[at(repeats[0].entry)], dealt.place[at(repeats[0].first)]}};
  const std::vector<Places> all = gathered(found, dealt.ranks);
  if (all.empty()) return;
  const Places first =
      *std::min_element(all.begin(), all.end(), [](const Places& a, const Places& b) { return a.entry < b.entry; });
  Offset lines[2] = {line_at(first.entry), line_at(first.first)};
  add_up_counts(std::span<Offset>(lines), *dealt.ranks);
  if (!found.empty() && found[0].entry == first.entry) {
    const auto place = [&](Offset entry) { return files.place(lines[entry == repeats[0].entry ? 0 : 1]); };
    parsed.where = [&](Offset entry) { return fmt::format("line {}", place(entry).line); };
    parsed.file = [&](Offset entry) { return place(entry).file; };
    fail_repeat(parsed, repeats.front());
  }
  static_cast<void>(gathered(found, dealt.ranks));  // the one with the error ends this one too
}

}  // namespace tracenorm::io
