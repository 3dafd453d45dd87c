#include "entry_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/among_ranks.hpp"
#include "base/topic.hpp"
#include "io/messages.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

/// The place of the first value that the loss does not accept, or the number of values. NaN is a hole of a full matrix;
/// among entries the readers let none through.
template <class Values>
std::size_t first_refused(const Loss& loss, const Values& values) {
  return std::visit(
      [&](const auto& chosen) {
        const auto bad = std::find_if(values.begin(), values.end(), [&](Real value) {
          return !std::isnan(value) && !chosen.accepts(static_cast<double>(value));
        });
        return static_cast<std::size_t>(bad - values.begin());
      },
      loss);
}

std::string shown(const Labels& labels, Index index) {
  if (!labels.names.empty()) return io::excerpt(labels.name(index));
  return fmt::format("{} (counted from {})", labels.name(index), labels.base);
}

[[noreturn]] void refuse(const Loss& loss, const std::string& file, const std::string& row, const std::string& col,
                         Real value) {
  const auto wants = std::visit([](const auto& chosen) { return std::string_view(chosen.wants); }, loss);
  throw TopicError(ErrorCode::input, Topic::unfit_values,
                   fmt::format("{}: loss {} wants {}, but row {}, column {} holds {}; choose another --loss", file,
                               to_string(loss), wants, row, col, value));
}

}  // namespace

void check_entries(const Loss& loss, const Entries& entries, const Labels& rows, const Labels& cols,
                   const std::string& file, const std::optional<DealtEntries>& dealt) {
  const std::size_t bad = first_refused(loss, entries.value);
  if (dealt) {
    constexpr Offset none = std::numeric_limits<Offset>::max();
    const std::vector<Offset> mine{bad == entries.value.size() ? none : dealt->place[bad]};
    const std::vector<Offset> all = gathered(mine, dealt->ranks);
    const Offset first = *std::min_element(all.begin(), all.end());
    if (first != none && first != mine[0]) static_cast<void>(gathered(mine, dealt->ranks));  // who has it ends this one
  }
  if (bad == entries.value.size()) return;
  refuse(loss, file, shown(rows, entries.row[bad]), shown(cols, entries.col[bad]), entries.value[bad]);
}

void check_entries(const Loss& loss, const DenseObservations& matrix, const Labels& rows, const Labels& cols,
                   const std::string& file) {
  const std::size_t bad = first_refused(loss, matrix.value);
  if (bad == matrix.value.size()) return;
  const auto width = static_cast<std::size_t>(matrix.cols);
  refuse(loss, file, shown(rows, static_cast<Index>(bad / width)), shown(cols, static_cast<Index>(bad % width)),
         matrix.value[bad]);
}

}  // namespace tracenorm::app
