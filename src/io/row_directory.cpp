#include "io/row_directory.hpp"

#include <algorithm>
#include <utility>

#include "base/block_sums.hpp"
#include "base/fingerprint.hpp"
#include "base/mail.hpp"

namespace tracenorm::io {
namespace {

constexpr std::size_t names_at_once = std::size_t{1} << 16U;

}  // namespace

RowDirectory::RowDirectory(Labels mine, const RowBlocks& blocks, Ranks* ranks)
    : ranks_(ranks),
      named_(total_count<Offset>(mine.names.empty() ? 0 : 1, ranks) > 0),  // who has no rows has no names
      numbers_({{}, mine.base}, blocks.rows) {
  if (!named_) return;
  kept_.reserve(mine.names.size());
  in_rounds(mine.names.size(), names_at_once, ranks, [&](std::size_t first, std::size_t count) {
    const std::span<std::string> names(mine.names.data() + first, count);
    std::vector<Index> rows(count);
    for (std::size_t k = 0; k < count; ++k) rows[k] = blocks.whole(static_cast<Index>(first + k));
    const Mail mail(keepers(names), ranks);
    std::vector<std::string> come = mail.deliver(names);
    rows = mail.deliver(std::move(rows));
    for (std::size_t k = 0; k < come.size(); ++k) {
      const auto [at, fresh] = kept_.try_emplace(std::move(come[k]), rows[k]);
      if (!fresh) at->second = std::min(at->second, rows[k]);
    }
    for (std::string& name : names) std::string().swap(name);
  });
}

std::vector<int> RowDirectory::keepers(std::span<const std::string> names) const {
  std::vector<int> keepers(names.size(), 0);
  if (ranks_ == nullptr) return keepers;
  for (std::size_t k = 0; k < names.size(); ++k) {
    tracenorm::Fingerprint letters;
    letters.add(names[k].data(), names[k].size());
    keepers[k] = static_cast<int>(letters.value() % static_cast<std::uint64_t>(ranks_->size()));
  }
  return keepers;
}

std::vector<Index> RowDirectory::find(std::span<const std::string> names, const Execution& execution) const {
  if (!named_) {
    std::vector<Index> found(names.size());
    for_each_element(execution, names.size(),
                     [&](std::size_t k) { found[k] = numbers_.find(names[k]).value_or(Preparation::kUnknown); });
    return found;
  }
  const Mail mail(keepers(names), ranks_);
  const std::vector<std::string> asked = mail.deliver(names);
  std::vector<Index> answers(asked.size(), Preparation::kUnknown);
  for_each_element(execution, asked.size(), [&](std::size_t k) {
    if (const auto at = kept_.find(asked[k]); at != kept_.end()) answers[k] = at->second;
  });
  return mail.reply(std::move(answers));
}

}  // namespace tracenorm::io
