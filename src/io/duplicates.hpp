// Entries that a file gives more than once.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/execution.hpp"
#include "io/several_texts.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {

/// Says where an entry stood in its file ("line 7"), by its number in the order of reading.
using WhereIs = std::function<std::string(Offset entry)>;

/// Entries as their file gave them: duplicates still in, in the order of the file.
struct ParsedEntries {
  NamedEntries data;
  std::string name;  ///< of the file, for messages
  WhereIs where;
  WhereIs file{};  ///< which one it stood in, where they are several; empty: all in `name`

  [[nodiscard]] std::string file_of(Offset entry) const { return file ? file(entry) : name; }
};

/// Which line each entry came from. Entries mostly stand on consecutive lines, so only the jumps are kept.
class EntryLines {
 public:
  void note(Offset entry, Offset line) {
    if (jumps_.empty() || line - entry != jumps_.back().second) jumps_.emplace_back(entry, line - entry);
  }
  /// What a part of the file noted, whose first entry is `entries` and whose first line is the one behind `lines`.
  void append(const EntryLines& part, Offset entries, Offset lines) {
    for (const auto& [entry, ahead] : part.jumps_) note(entry + entries, entry + ahead + lines);
  }
  [[nodiscard]] Offset line(Offset entry) const;

 private:
  std::vector<std::pair<Offset, Offset>> jumps_;  // (entry, line - entry) from that entry on
};

/// Throws on the first entry given twice, or keeps one value of each. The order of the entries stays.
void resolve_duplicates(ParsedEntries& parsed, ReadOptions::Duplicates policy, const Execution& execution);

/// The same where ranks have all entries of some rows each. line_at(place) is the line of an entry that this rank has
/// read, and zero for others. Those left out keep their place; it goes to `gone`.
void resolve_duplicates(ParsedEntries& parsed, const DealtEntries& dealt, ReadOptions::Duplicates policy,
                        const Execution& execution, const std::function<Offset(Offset place)>& line_at,
                        const FileLines& files, std::vector<Offset>& gone);

}  // namespace tracenorm::io
