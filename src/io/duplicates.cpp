#include "io/duplicates.hpp"

#include <algorithm>
#include <numeric>

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
  fail_for("duplicates",
           "'{}', {}: row {}, column {} was already given at {}; give each entry once, or choose first, last or mean",
           parsed.name, parsed.where(repeat.entry), excerpt(data.row_labels.name(data.entries.row[at(repeat.entry)])),
           excerpt(data.col_labels.name(data.entries.col[at(repeat.entry)])), parsed.where(repeat.first));
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

void resolve_duplicates(ParsedEntries& parsed, ReadOptions::Duplicates policy) {
  std::vector<Repeat> repeats = find_repeats(parsed.data);
  if (repeats.empty()) return;
  std::sort(repeats.begin(), repeats.end(), [](const Repeat& a, const Repeat& b) { return a.entry < b.entry; });
  if (policy == ReadOptions::Duplicates::error) fail_repeat(parsed, repeats.front());
  if (policy == ReadOptions::Duplicates::last) take_last(parsed.data, repeats);
  if (policy == ReadOptions::Duplicates::mean) take_mean(parsed.data.entries.value, repeats);
  auto gone = repeats.begin();
  keep_if(parsed.data, [&](std::size_t k) {
    if (gone == repeats.end() || at(gone->entry) != k) return true;
    ++gone;
    return false;
  });
}

}  // namespace tracenorm::io
