#include "io/duplicates.hpp"

#include <algorithm>
#include <numeric>

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
bool strictly_sorted(const std::vector<Index>& major, const std::vector<Index>& minor) {
  for (std::size_t k = 1; k < major.size(); ++k)
    if (major[k] < major[k - 1] || (major[k] == major[k - 1] && minor[k] <= minor[k - 1])) return false;
  return true;
}

// Groups entries by row with a counting sort, then remembers per column the last row that had it. `Number` is as narrow
// as the number of entries allows: this permutation is the only entry-sized memory.
template <class Number>
std::vector<Repeat> find_by_counting(const NamedEntries& data) {
  const Entries& entries = data.entries;
  std::vector<Offset> begin(static_cast<std::size_t>(data.rows) + 1, 0);
  for (const Index row : entries.row) ++begin[static_cast<std::size_t>(row) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Number> order(entries.row.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    order[at(begin[static_cast<std::size_t>(entries.row[k])]++)] = static_cast<Number>(k);

  std::vector<Repeat> repeats;
  std::vector<Offset> last(static_cast<std::size_t>(data.cols), -1);  // by column: the last first entry there
  for (const Number number : order) {
    const auto entry = static_cast<std::size_t>(number);
    Offset& seen = last[static_cast<std::size_t>(entries.col[entry])];
    if (seen >= 0 && entries.row[at(seen)] == entries.row[entry]) {
      repeats.push_back({seen, static_cast<Offset>(entry)});
    } else {
      seen = static_cast<Offset>(entry);
    }
  }
  return repeats;
}

// For data with far more rows and columns than entries.
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

std::vector<Repeat> find_repeats(const NamedEntries& data) {
  const Entries& entries = data.entries;
  if (strictly_sorted(entries.row, entries.col) || strictly_sorted(entries.col, entries.row)) return {};
  const Offset lines = Offset{data.rows} + data.cols;
  if (lines > 4 * entries.size() + 1'000'000) return find_by_sorting(data);
  if (entries.size() <= Offset{std::numeric_limits<std::uint32_t>::max()}) return find_by_counting<std::uint32_t>(data);
  return find_by_counting<Offset>(data);
}

[[noreturn]] void fail_repeat(const ParsedEntries& parsed, const Repeat& repeat) {
  const NamedEntries& data = parsed.data;
  fail("'{}', {}: row {}, column {} was already given at {}; give each entry once, or choose first, last or mean",
       parsed.name, parsed.where(repeat.entry), excerpt(data.row_labels.name(data.entries.row[at(repeat.entry)])),
       excerpt(data.col_labels.name(data.entries.col[at(repeat.entry)])), parsed.where(repeat.first));
}

// The repeats come sorted by entry, so `last` overwrites in the order of the file.
void combine(std::vector<Real>& value, std::vector<Repeat>& repeats, ReadOptions::Duplicates policy) {
  if (policy == ReadOptions::Duplicates::last)
    for (const Repeat& repeat : repeats) value[at(repeat.first)] = value[at(repeat.entry)];
  if (policy != ReadOptions::Duplicates::mean) return;
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

void remove_repeats(Entries& entries, const std::vector<Repeat>& repeats) {
  std::vector<Offset> gone;
  gone.reserve(repeats.size());
  for (const Repeat& repeat : repeats) gone.push_back(repeat.entry);
  std::sort(gone.begin(), gone.end());
  std::size_t kept = 0;
  std::size_t next_gone = 0;
  for (std::size_t k = 0; k < entries.row.size(); ++k) {
    if (next_gone < gone.size() && at(gone[next_gone]) == k) {
      ++next_gone;
      continue;
    }
    entries.row[kept] = entries.row[k];
    entries.col[kept] = entries.col[k];
    entries.value[kept++] = entries.value[k];
  }
  entries.row.resize(kept);
  entries.col.resize(kept);
  entries.value.resize(kept);
}

}  // namespace

Offset EntryLines::line(Offset entry) const {
  auto jump = std::upper_bound(jumps_.begin(), jumps_.end(), entry,
                               [](Offset wanted, const auto& candidate) { return wanted < candidate.first; });
  return jump == jumps_.begin() ? 0 : entry + std::prev(jump)->second;
}

void resolve_duplicates(ParsedEntries& parsed, ReadOptions::Duplicates policy) {
  std::vector<Repeat> repeats = find_repeats(parsed.data);
  if (repeats.empty()) return;
  std::sort(repeats.begin(), repeats.end(), [](const Repeat& a, const Repeat& b) { return a.entry < b.entry; });
  if (policy == ReadOptions::Duplicates::error) fail_repeat(parsed, repeats.front());
  combine(parsed.data.entries.value, repeats, policy);
  remove_repeats(parsed.data.entries, repeats);
}

}  // namespace tracenorm::io
