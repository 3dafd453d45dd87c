#include "model/entry_checks.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/block_sums.hpp"
#include "base/least.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

bool is_inside(Index rows, Index cols, const Entries& entries, std::size_t e) {
  return entries.row[e] >= 0 && entries.row[e] < rows && entries.col[e] >= 0 && entries.col[e] < cols;
}

[[noreturn]] void bad_index(std::string_view what, Offset entry, Index index, Index count) {
  throw Error(ErrorCode::input,
              fmt::format("entry {}: {} {} is not in 0..{}", entry, what, index, static_cast<Offset>(count) - 1));
}

}  // namespace

void require_inside(Index rows, Index cols, const Entries& entries, const Execution& execution) {
  Least outside;
  for_each_element(execution, entries.row.size(), [&](std::size_t e) {
    if (!is_inside(rows, cols, entries, e)) outside.meet(Offset(e));
  });
  if (outside.value() == Least::none) return;
  const auto e = static_cast<std::size_t>(outside.value());
  if (entries.row[e] < 0 || entries.row[e] >= rows) bad_index("row", Offset(e), entries.row[e], rows);
  bad_index("column", Offset(e), entries.col[e], cols);
}

void check_held_out(const Entries& held_out, Index rows, Index cols, const Loss& loss) {
  const bool labels = wants_labels(loss);
  for (std::size_t e = 0; e < held_out.row.size(); ++e) {
    if (!is_inside(rows, cols, held_out, e)) {
      throw Error(ErrorCode::input, fmt::format("validation entry {}: row {}, column {} is outside the {} x {} matrix",
                                                e, held_out.row[e], held_out.col[e], rows, cols));
    }
    const auto value = double(held_out.value[e]);
    if (!std::isfinite(value) || (labels && std::abs(value) != 1)) {
      throw Error(ErrorCode::input, fmt::format("validation entry {}: value {}; it must be {}", e, value,
                                                labels ? "a label, -1 or +1" : "a finite number"));
    }
  }
}

}  // namespace tracenorm
