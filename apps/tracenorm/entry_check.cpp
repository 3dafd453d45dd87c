#include "entry_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "io/messages.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::app {

namespace {

struct Place {
  Index row;
  Index col;
  Real value;
};

Place place_of(const SparseObservations& data, std::size_t entry) {
  const Offset* const begin = data.pattern.begin();
  const Offset* const next = std::upper_bound(begin, begin + data.pattern.rows() + 1, static_cast<Offset>(entry));
  return {static_cast<Index>(next - begin - 1), data.pattern.col()[static_cast<Offset>(entry)], data.value[entry]};
}

Place place_of(const DenseObservations& data, std::size_t entry) {
  const auto cols = static_cast<std::size_t>(data.cols);
  return {static_cast<Index>(entry / cols), static_cast<Index>(entry % cols), data.value[entry]};
}

/// In a full matrix NaN is a hole; among entries the readers let none through.
template <class ChosenLoss>
std::optional<Place> first_refused(const ChosenLoss& loss, const Observations& observations) {
  return std::visit(
      [&](const auto& data) -> std::optional<Place> {
        const auto bad = std::find_if(data.value.begin(), data.value.end(), [&](Real value) {
          return !std::isnan(value) && !loss.accepts(static_cast<double>(value));
        });
        if (bad == data.value.end()) return std::nullopt;
        return place_of(data, static_cast<std::size_t>(bad - data.value.begin()));
      },
      observations);
}

std::string shown(const Labels& labels, Index index) {
  if (!labels.names.empty()) return io::excerpt(labels.name(index));
  return fmt::format("{} (counted from {})", labels.name(index), labels.base);
}

}  // namespace

void check_entries(const Problem& problem, const Labels& rows, const Labels& cols, const std::string& file) {
  std::visit(
      [&](const auto& loss) {
        const std::optional<Place> bad = first_refused(loss, problem.observations);
        if (!bad) return;
        throw Error(
            ErrorCode::input,
            fmt::format("{}: loss {} wants {}, but row {}, column {} holds {}; choose another --loss", file,
                        to_string(problem.loss), loss.wants, shown(rows, bad->row), shown(cols, bad->col), bad->value));
      },
      problem.loss);
}

}  // namespace tracenorm::app
