#include <fmt/format.h>

#include <cmath>

#include "reproduce/section.hpp"

namespace tracenorm::app {

namespace {

enum class Direction { better, equal, worse };

std::string_view to_word(Direction direction) {
  switch (direction) {
    case Direction::better:
      return "better";
    case Direction::equal:
      return "equal";
    case Direction::worse:
      return "worse";
  }
  return "";
}

/// Equal means: the same digits in the table.
Direction direction(double own, double other, const Measure& measure) {
  if (to_text(own, measure) == to_text(other, measure)) return Direction::equal;
  return (own > other) == (measure.better == Measure::Better::higher) ? Direction::better : Direction::worse;
}

Cell verdict(Direction paper, Direction ours) {
  if (paper == ours) return {"confirmed", Cell::Mood::good};
  if (paper == Direction::equal || ours == Direction::equal) return {"not quite", Cell::Mood::plain};
  return {"contradicted", Cell::Mood::bad};
}

/// What the paper says: from its numbers, or from its words.
struct PaperSays {
  Direction direction;
  std::string text;
};
std::optional<PaperSays> paper_says(const Experiment& experiment, const Case& instance, const MethodPlan& own,
                                    const MethodPlan& other, const Measure& measure, const Comparison& comparison) {
  if (!comparison.expected.empty()) return PaperSays{Direction::better, "better (" + comparison.expected + ")"};
  const auto a = experiment.paper_value(instance, own, measure);
  const auto b = experiment.paper_value(instance, other, measure);
  if (!a || !b) return std::nullopt;
  const Direction found = direction(*a, *b, measure);
  return PaperSays{found, fmt::format("{}: {} against {}", to_word(found), to_text(*a, measure), to_text(*b, measure))};
}

/// What our runs say about one measure of two methods. Only the seeds that both have are compared.
struct RunsSay {
  Direction direction;
  std::string text;
};
RunsSay compare(Statistic own, Statistic other, const Measure& measure) {
  if (own.empty() || other.empty()) {  // a run that never got there is worse than one that did
    const auto text = [&](const Statistic& one) {
      return one.empty() ? measure.missing : to_text(one.mean(), measure);
    };
    const Direction found = own.empty() == other.empty() ? Direction::equal
                            : own.empty()                ? Direction::worse
                                                         : Direction::better;
    return {found, fmt::format("{}: {} against {}", to_word(found), text(own), text(other))};
  }
  const std::size_t common = std::min(own.values.size(), other.values.size());
  own.values.resize(common);
  other.values.resize(common);
  const Direction found = direction(own.mean(), other.mean(), measure);
  const bool small = common > 1 && std::abs(own.mean() - other.mean()) < std::hypot(own.deviation(), other.deviation());
  return {found, fmt::format("{}: {} against {}{}", to_word(found), to_text(own.mean(), measure),
                             to_text(other.mean(), measure), small ? " (less than the deviation)" : "")};
}

void add_row(const Experiment& experiment, const Case& instance, const MethodPlan& own, const MethodPlan& other,
             const Measure& measure, const PaperSays& paper, const Results& results, Table& table) {
  const Statistic a = results.statistic(experiment, instance, own, measure);
  const Statistic b = results.statistic(experiment, instance, other, measure);
  const bool known = !measure.missing.empty() && !results.finished(experiment, instance, own).empty() &&
                     !results.finished(experiment, instance, other).empty();
  std::vector<Cell> row{{experiment.name},
                        {instance.title},
                        {fmt::format("{} against {}", own.title, other.title)},
                        {measure.title},
                        {paper.text}};
  if (!known && (a.empty() || b.empty())) {
    row.push_back({"not run", Cell::Mood::faint});
    row.push_back({});
  } else {
    const RunsSay ours = compare(a, b, measure);
    row.push_back({ours.text});
    row.push_back(verdict(paper.direction, ours.direction));
  }
  table.rows.push_back(std::move(row));
}

}  // namespace

Table comparison_table() {
  return {"comparisons",
          "Every comparison that the paper makes with its own method, and whether our runs point the same way.",
          {"experiment", "case", "comparison", "measure", "the paper", "our runs", "direction"},
          {},
          7};
}

void add_comparisons(const Experiment& experiment, const Results& results, Table& table) {
  for (const Case* instance : results.plan().cases(experiment)) {
    for (const Comparison& comparison : experiment.comparisons) {
      const MethodPlan& own = *experiment.method(comparison.method);
      for (const std::string& name : comparison.measures) {
        const Measure& measure = *experiment.measure(name);
        for (const std::string& with : comparison.with) {
          const MethodPlan& other = *experiment.method(with);
          if (!Experiment::belongs(*instance, own) || !Experiment::belongs(*instance, other)) continue;
          const auto paper = paper_says(experiment, *instance, own, other, measure, comparison);
          if (paper) add_row(experiment, *instance, own, other, measure, *paper, results, table);
        }
      }
    }
  }
}

}  // namespace tracenorm::app
