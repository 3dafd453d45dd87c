// Texts that ranks read in parts: what one process makes of the same files, entries or pairs, and its message where it
// refuses them. Form feeds part the files; the first byte chooses what is read, and by how many.
#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <tuple>

#include "support/thread_ranks.hpp"
#include "target.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/observations.hpp"

namespace {

using namespace tracenorm;
using Paths = std::vector<std::string>;

std::string message_of(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    if (std::string_view(error.what()).empty()) std::abort();
    return error.what();
  }
}

void require(bool right) {
  if (!right) std::abort();
}

/// Two names, or two names and what stands between them.
using Line = std::tuple<Offset, std::string, std::string, Real, Real, double>;
using Lines = std::vector<Line>;

Lines lines_of(const io::Pairs& pairs) {
  Lines lines;
  for (std::size_t k = 0; k < pairs.row.size(); ++k)
    lines.emplace_back(0, pairs.row[k] + '\n' + pairs.where(k), pairs.col.at(k), Real(0), Real(0), 0);
  return lines;
}

Lines lines_of(const io::NamedEntries& table, const std::vector<Offset>* place) {
  Lines lines;
  for (std::size_t e = 0; e < table.entries.value.size(); ++e) {
    lines.emplace_back(place == nullptr ? static_cast<Offset>(e) : place->at(e),
                       table.row_labels.name(table.entries.row[e]), table.col_labels.name(table.entries.col[e]),
                       table.entries.value[e], table.weight.empty() ? Real(1) : table.weight.at(e),
                       table.time.empty() ? 0 : table.time.at(e));
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static std::deque<fuzz::BytesAsFile> files;  // they are kept, as it takes longer to make one than to read it
  std::size_t count = 0;
  for (std::string_view rest = fuzz::text_of(data + 1, size - 1); count < 3; ++count) {
    const std::size_t end = std::min(rest.find('\f'), rest.size());
    if (files.size() == count) files.emplace_back();
    files[count].hold(rest.substr(0, count == 2 ? rest.size() : end));
    if (end == rest.size()) {
      ++count;
      break;
    }
    rest.remove_prefix(end + 1);
  }
  Paths paths;
  for (std::size_t k = 0; k < count; ++k) paths.push_back(files[k].path());

  io::ReadOptions options;
  options.threads = 1;
  options.duplicates = static_cast<io::ReadOptions::Duplicates>(data[0] & 3U);
  if ((data[0] & 4U) != 0) options.missing = {"99", "NA"};
  const bool reads_pairs = (data[0] & 8U) != 0;
  const int sharing = (data[0] & 16U) != 0 ? 2 : 3;

  Lines alone;
  std::vector<Lines> parts(static_cast<std::size_t>(sharing));
  std::string refused;
  std::string refused_there;
  if (reads_pairs) {
    io::Pairs whole;
    refused = message_of([&] { whole = io::read_pairs(paths, options); });
    alone = lines_of(whole);
    refused_there = message_of([&] {
      test::ThreadRanks::run(sharing, [&](Ranks& ranks) {
        const io::Pairs mine = io::read_pairs(paths, options, &ranks);
        require(mine.header == whole.header);
        parts[static_cast<std::size_t>(ranks.rank())] = lines_of(mine);
      });
    });
  } else {
    bool in_parts = false;
    if (!message_of([&] { in_parts = io::reads_in_parts(paths, options); }).empty() || !in_parts) return 0;
    io::NamedEntries whole;
    refused = message_of([&] { whole = io::read_entries(paths, options); });
    alone = lines_of(whole, nullptr);
    refused_there = message_of([&] {
      test::ThreadRanks::run(sharing, [&](Ranks& ranks) {
        DealtEntries dealt{.ranks = &ranks};
        const io::NamedEntries mine = io::read_entries(paths, options, dealt);
        require(mine.rows == whole.rows && mine.cols == whole.cols && mine.columns == whole.columns);
        require(mine.row_labels.names == whole.row_labels.names && mine.col_labels.names == whole.col_labels.names);
        require(mine.weight.empty() || mine.weight.size() == mine.entries.value.size());
        for (const Index row : mine.entries.row) require(dealt.first <= row && row < dealt.last);
        require(dealt.all == std::ssize(whole.entries.value));
        parts[static_cast<std::size_t>(ranks.rank())] = lines_of(mine, &dealt.place);
      });
    });
  }
  // Of several files that are wrong, each for itself, it is not said which one is named.
  if (count > 1 ? refused.empty() != refused_there.empty() : refused != refused_there) {
    fmt::print(stderr, "alone: {}\nin parts: {}\n", refused, refused_there);
    std::abort();
  }
  Lines together;
  if (refused.empty()) {
    for (const Lines& part : parts) together.insert(together.end(), part.begin(), part.end());
    if (!reads_pairs) std::sort(together.begin(), together.end());
    require(together == alone);
  }
  return 0;
}
