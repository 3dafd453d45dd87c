// Lists of columns, and how good they are: those of the program's `recommend` and `evaluate`.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "report/folds.hpp"
#include "report/ranking.hpp"

namespace tracenorm::python {

namespace {

/// The best columns of each row one after the other, and how many there are of each. Row -1 is one the model does not
/// know; `seen` is left out, its rows and columns are the model's.
std::pair<Given<std::int64_t>, Given<std::int64_t>> best_lists(const Model& model, const Vector<std::int64_t>& rows,
                                                               const EntryArrays& seen, std::size_t top, int threads) {
  std::vector<std::int64_t> columns;
  std::vector<std::int64_t> lengths;
  const Entries entries = entries_from(seen);
  {
    const nb::gil_scoped_release unlocked;
    std::vector<std::vector<Index>> left_out(static_cast<std::size_t>(model.factors.rows()));
    for (std::size_t e = 0; e < entries.row.size(); ++e) {
      left_out[static_cast<std::size_t>(entries.row[e])].push_back(entries.col[e]);
    }
    for (auto& row : left_out) std::sort(row.begin(), row.end());
    std::vector<std::vector<Index>> best(rows.size());
    Execution(threads).for_each_block(static_cast<Offset>(rows.size()), 64, [&](Offset first, Offset count) {
      for (auto r = static_cast<std::size_t>(first); r < static_cast<std::size_t>(first + count); ++r) {
        const std::int64_t row = rows.data()[r];
        const std::vector<double> scores =
            report::row_predictions(model, row < 0 ? std::nullopt : std::optional(static_cast<Index>(row)));
        best[r] =
            report::best_columns(scores, row < 0 ? std::vector<Index>{} : left_out[static_cast<std::size_t>(row)], top);
      }
    });
    for (const std::vector<Index>& list : best) {
      columns.insert(columns.end(), list.begin(), list.end());
      lengths.push_back(static_cast<std::int64_t>(list.size()));
    }
  }
  return {give(std::move(columns)), give(std::move(lengths))};
}

Dict top_measures(const Model& model, const EntryArrays& train, const EntryArrays& test, int top, double relevant_from,
                  int threads) {
  report::TopMeasures measures;
  const Entries seen = entries_from(train);
  const Entries held_out = entries_from(test);
  {
    const nb::gil_scoped_release unlocked;
    measures = report::top_measures(model, seen, held_out, top, relevant_from, Execution(threads));
  }
  nb::dict about;
  about["precision"] = measures.precision;
  about["recall"] = measures.recall;
  about["ndcg"] = measures.ndcg;
  about["hit_rate"] = measures.hit_rate;
  about["mrr"] = measures.mrr;
  about["coverage"] = measures.coverage;
  return Dict(about);
}

}  // namespace

void bind_ranking(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "draw_folds",
      [](std::size_t count, int folds, std::uint64_t seed) { return give(report::draw_folds(count, folds, seed)); },
      "count"_a, "folds"_a, "seed"_a, "Which fold each entry is in.");
  module.def("best_lists", &best_lists, "model"_a, "rows"_a.noconvert(), "seen"_a.noconvert(), "top"_a, "threads"_a,
             "The columns with the largest predictions, row after row, and how many each row has.");
  module.def("top_measures", &top_measures, "model"_a, "train"_a.noconvert(), "test"_a.noconvert(), "top"_a,
             "relevant_from"_a, "threads"_a, "Measures of lists of the columns with the largest predictions.");
}

}  // namespace tracenorm::python
