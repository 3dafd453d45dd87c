// The page is data: title, subtitle and blocks as JSON. assets/page.js makes headings, tables and charts of them.
#include "page/run_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "assets.hpp"
#include "page/pictures.hpp"
#include "page/residuals.hpp"

namespace tracenorm::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLargest = 15;
/// A curve of more points than a screen has is only slower.
constexpr int kPoints = 1000;

/// A number as people read it.
std::string plain(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value + 0.0) : "none"; }

/// Gaps above this many per cent are as good as none, and would stretch the axis.
constexpr double kLargestGap = 1e4;

/// Iterations that a chart needs: all of them when there are few, otherwise about kPoints evenly spaced ones on a
/// linear axis and as many on a logarithmic one, the first and the last included.
std::vector<Iteration> thinned(const std::vector<Iteration>& trace) {
  std::set<std::size_t> places;
  const double last = static_cast<double>(trace.size()) - 1;
  for (int k = 0; k < kPoints && !trace.empty(); ++k) {
    const double share = static_cast<double>(k) / (kPoints - 1);
    places.insert(static_cast<std::size_t>(std::lround(share * last)));
    places.insert(static_cast<std::size_t>(std::lround(std::pow(last + 1, share) - 1)));
  }
  std::vector<Iteration> kept;
  kept.reserve(places.size());
  for (const std::size_t place : places) kept.push_back(trace[place]);
  return kept;
}

/// Six digits are more than a screen shows, and keep the file small. JSON has no NaN: null leaves a gap.
Json numbers(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) {
    json.push_back(std::isfinite(value) ? Json::parse(fmt::format("{:.6g}", value)) : Json(nullptr));
  }
  return json;
}

/// One value of every iteration.
template <class Value>
Json column(const std::vector<Iteration>& trace, Value Iteration::*member) {
  std::vector<double> all;
  all.reserve(trace.size());
  for (const Iteration& iteration : trace) all.push_back(static_cast<double>(iteration.*member));
  return numbers(all);
}

Json abscissae(const std::vector<Iteration>& trace) {
  return {column(trace, &Iteration::k), column(trace, &Iteration::seconds)};
}

Json heading(const char* id, const char* text) {
  return {{"kind", "heading"}, {"id", id}, {"text", text}, {"level", 2}};
}

/// The first `words` columns are words, the others numbers.
Json table(const char* id, const char* caption, Json columns, Json rows, int words) {
  return {{"kind", "table"},         {"id", id},      {"caption", caption}, {"columns", std::move(columns)},
          {"rows", std::move(rows)}, {"words", words}};
}

/// What a person would have read on the terminal. The path of radii is a chart here.
Json summary_table(const report::RunReport& report) {
  Json rows = Json::array();
  for (const report::SummaryLine& line : report::summary(report)) {
    if (line.about != report::SummaryLine::About::path) rows.push_back({line.label, line.value});
  }
  return table("summary", "The run in short.", {"", ""}, std::move(rows), 2);
}

/// Curves to be looked at in several ways: a series has one array per abscissa in x and one per ordinate in y.
/// `log_y` may be an array: one an ordinate.
Json chart(const char* id, const std::string& caption, Json abscissae, Json ordinates, Json series, bool log_x,
           Json log_y) {
  return {{"kind", "lines"},
          {"id", id},
          {"caption", caption},
          {"abscissae", std::move(abscissae)},
          {"ordinates", std::move(ordinates)},
          {"series", std::move(series)},
          {"logX", log_x},
          {"logY", std::move(log_y)}};
}
Json series(const char* name, const char* style, Json x, Json y) {
  return {{"name", name}, {"style", style}, {"x", std::move(x)}, {"y", std::move(y)}};
}

/// The certified gap in per cent; null where the bound says nothing yet.
Json gap_in_percent(const std::vector<Iteration>& trace) {
  std::vector<double> gaps;
  for (const Iteration& iteration : trace) {
    const double gap = 100 * iteration.relative_gap;
    const bool says_something = iteration.lower_bound > 0 && gap <= kLargestGap;
    gaps.push_back(says_something ? gap : std::numeric_limits<double>::quiet_NaN());
  }
  return numbers(gaps);
}

Json convergence(const std::vector<Iteration>& trace) {
  const Json x = abscissae(trace);
  const Json gap = gap_in_percent(trace);
  const Json objective = column(trace, &Iteration::objective);
  const Json bound = column(trace, &Iteration::lower_bound);
  const auto gaps = std::count_if(gap.begin(), gap.end(), [](const Json& one) { return !one.is_null(); });
  const bool any_bound = std::any_of(bound.begin(), bound.end(), [](const Json& one) { return !one.is_null(); });
  const Json none = Json::array();
  const bool log_x = trace.back().k > 1;  // which has no place for iteration 0
  if (gaps == 0) {
    Json curves = Json::array({series("objective", "line", x, Json::array({objective}))});
    if (any_bound) curves.push_back(series("lower bound", "dashed", x, Json::array({bound})));
    return chart("convergence",
                 any_bound
                     ? "The objective, and the certified lower bound: the optimum lies between the two curves. Drag to "
                       "zoom, double click to undo."
                     : "The objective. Drag to zoom, double click to undo.",
                 {"iterations", "seconds"}, Json::array({"objective"}), std::move(curves), log_x, false);
  }
  Json both = chart(
      "convergence",
      "How far above the optimum the objective can at most be, in per cent. Behind it stand the objective and the "
      "certified lower bound (choose them as y): the optimum lies between those two curves. Drag to zoom, double "
      "click to undo.",
      {"iterations", "seconds"}, {"certified gap, %", "objective and bound"},
      {series("certified gap", "line", x, {gap, none}), series("objective", "line", x, {none, objective}),
       series("certified lower bound", "dashed", x, {none, bound})},
      log_x, {true, false});
  if (gaps < 3) both["first"] = 1;  // two points are no curve
  return both;
}

/// The radii that were tried: one curve a penalty, what the offsets alone do, and the one that was chosen.
Json radius_path(const report::RunReport& report) {
  struct Curve {
    double lambda;
    bool on_share;
    std::vector<double> x;
    std::vector<double> y;
  };
  std::vector<Curve> curves;
  double first = report.problem.radius();
  double last = first;
  const std::size_t on_share = report.searched ? static_cast<std::size_t>(report.searched->settings) : 0;
  for (std::size_t s = 0; s < report.path.size(); ++s) {
    const RadiusStep& step = report.path[s];
    if (step.radius == 0) continue;          // has no place on a logarithmic axis
    const bool judged_anew = s == on_share;  // on other entries: those of all rows
    if (curves.empty() || curves.back().lambda != step.lambda || judged_anew) {
      curves.push_back({step.lambda, on_share > 0 && s < on_share, {}, {}});
    }
    curves.back().x.push_back(step.radius);
    curves.back().y.push_back(step.validation_error);
    first = std::min(first, step.radius);
    last = std::max(last, step.radius);
  }
  Json all = Json::array();
  const auto add = [&](const std::string& name, const char* style, const std::vector<double>& x,
                       const std::vector<double>& y) {
    all.push_back(series(name.c_str(), style, Json::array({numbers(x)}), Json::array({numbers(y)})));
  };
  for (const Curve& curve : curves) {
    const std::string name = curve.on_share                       ? "error at this radius, on a share of the rows"
                             : curves.size() > 1 && on_share == 0 ? fmt::format("l1 penalty {:.3g}", curve.lambda)
                                                                  : "error at this radius";
    add(name, "dotted", curve.x, curve.y);
  }
  const RadiusStep& chosen = report.path[report.path_best];
  if (chosen.radius > 0) add("chosen", "mark", {chosen.radius}, {chosen.validation_error});
  const double zero = report.path.front().validation_error;
  add("without a low-rank part", "dashed", {first, last}, {zero, zero});
  return chart(
      "radius-path",
      "The error on held-out entries, in prepared units, for each radius that was tried; small is good. Too small a "
      "radius cannot follow the data, too large a one follows their noise.",
      Json::array({"radius"}), Json::array({"error on held-out entries"}), std::move(all), true, false);
}

Json roc(const report::RunReport& report) {
  std::vector<double> x;
  std::vector<double> y;
  for (const report::RocPoint& point : report.roc) {
    x.push_back(point.negatives);
    y.push_back(point.positives);
  }
  return chart(
      "roc",
      "How well the scores tell linked from unlinked pairs, on pairs that were not observed: the share of links that "
      "score above a threshold, against the share of other pairs that do. The area below the curve is the AUC; along "
      "the dashed line it would be 0.5, as by chance.",
      Json::array({"share of unlinked pairs above the threshold"}), Json::array({"share of links above it"}),
      {series("scores", "line", Json::array({numbers(x)}), Json::array({numbers(y)})),
       series("by chance", "dashed", Json::array({{0, 1}}), Json::array({{0, 1}}))},
      false, false);
}

Json top_pairs_table(const report::RunReport& report) {
  Json rows = Json::array();
  for (const report::ScoredPair& pair : report.top_pairs) {
    rows.push_back({report.rows.name(pair.row), report.cols.name(pair.col), plain(pair.score),
                    pair.positive ? Json({"yes", "good"}) : Json({"no", "bad"})});
  }
  return table("top-links", "The pairs with the highest scores among those that were not observed.",
               {"node", "node", "score", "linked in the graph"}, std::move(rows), 2);
}

Json picture_json(const char* caption, const char* colours, const Picture& picture) {
  return {{"caption", caption},
          {"colours", colours},
          {"width", picture.width},
          {"height", picture.height},
          {"lower", plain(picture.lower)},
          {"upper", plain(picture.upper)},
          {"cells", picture.cells}};
}

Json pictures_block(const Pictures& shown) {
  return {{"kind", "images"},
          {"id", "matrix"},
          {"caption",
           "The matrix before and after, on one scale, and the residual. Large matrices are shown by means of blocks."},
          {"pictures",
           {picture_json("before: the data", "sequential", shown.observed),
            picture_json("after: the answer", "sequential", shown.fitted),
            picture_json("residual: before less after", "diverging", shown.residual)}}};
}

/// Correlations before and after, and the strongest of them by name.
void add_correlations(Json& blocks, const report::RunReport& report) {
  const Eigen::MatrixXd correlation = report.covariance->correlation();
  blocks.push_back(heading("covariance", "Correlations"));
  blocks.push_back(pictures_block(pictures(std::get<DenseObservations>(report.problem.observations), correlation)));
  std::vector<std::pair<Index, Index>> pairs;
  for (Index j = 0; j < correlation.cols(); ++j)
    for (Index i = 0; i < j; ++i)
      if (correlation(i, j) != 0) pairs.emplace_back(i, j);
  const auto stronger = [&](const auto& a, const auto& b) {
    return std::abs(correlation(a.first, a.second)) > std::abs(correlation(b.first, b.second));
  };
  const std::size_t shown = std::min(pairs.size(), kLargest);
  std::partial_sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(shown), pairs.end(), stronger);
  Json rows = Json::array();
  for (std::size_t k = 0; k < shown; ++k) {
    const auto [i, j] = pairs[k];
    rows.push_back({report.rows.name(i), report.cols.name(j), plain(correlation(i, j))});
  }
  blocks.push_back(table("strongest", "The strongest correlations of the estimate.",
                         {"variable", "variable", "correlation"}, std::move(rows), 2));
}

/// Rank and width, and the validation error where there is one.
Json progress(const std::vector<Iteration>& trace) {
  Json ordinates{"rank", "width"};
  Json y{column(trace, &Iteration::rank), column(trace, &Iteration::width)};
  const auto validated = [](const Iteration& one) { return !std::isnan(one.validation_rmse); };
  if (std::any_of(trace.begin(), trace.end(), validated)) {
    ordinates.insert(ordinates.begin(), "validation RMSE, prepared units");
    y.insert(y.begin(), column(trace, &Iteration::validation_rmse));
  }
  return chart("progress", "What else changed from iteration to iteration.", {"iterations", "seconds"},
               std::move(ordinates), Json::array({series("iterate", "line", abscissae(trace), std::move(y))}), true,
               false);
}

Json singular_values(const LowRankMatrix& x) {
  std::vector<double> number;
  std::vector<double> value;
  for (Index t = 0; t < x.terms(); ++t) {
    number.push_back(t + 1);
    value.push_back(x.values()(t));
  }
  return chart(
      "singular-values", fmt::format("The {} singular values of the answer, in the units it was solved in.", x.terms()),
      Json::array({"number"}), Json::array({"singular value"}),
      Json::array({series("singular values", "points", Json::array({numbers(number)}), Json::array({numbers(value)}))}),
      false, x.terms() > 10);
}

/// A line for each measure that there is: narrow enough for a phone.
Json errors_table(const report::RunReport& report) {
  std::vector<const HeldOut*> parts;
  Json columns{"measure"};
  const auto add = [&](const char* name, const std::optional<HeldOut>& part) {
    if (!part) return;
    parts.push_back(&*part);
    columns.push_back(name);
  };
  add("validation", report.validation);
  add("test", report.test);
  Json rows = Json::array();
  const auto measure = [&](const char* name, auto&& text) {
    Json row{name};
    bool any = false;
    for (const HeldOut* part : parts) {
      const std::string cell = text(*part);
      row.push_back(cell);
      any = any || !cell.empty();
    }
    if (any) rows.push_back(std::move(row));
  };
  const auto number = [&](const char* name, std::optional<double> HeldOut::*value) {
    measure(name, [&](const HeldOut& part) -> std::string {
      if (!(part.*value)) return "";
      return std::isnan(*(part.*value)) ? "undefined" : fmt::format("{:.4f}", *(part.*value));
    });
  };
  measure("entries", [](const HeldOut& part) { return std::to_string(part.entries); });
  measure("of a row or column without training data",
          [](const HeldOut& part) { return part.unknown > 0 ? std::to_string(part.unknown) : ""; });
  number("RMSE", &HeldOut::rmse);
  number("MAE", &HeldOut::mae);
  number("RMSE in prepared units", &HeldOut::rmse_prepared);
  number("MAE in prepared units", &HeldOut::mae_prepared);
  number("AUC", &HeldOut::auc);
  return table("errors", "On entries that the fit has not seen.", std::move(columns), std::move(rows), 1);
}

/// What the entries far from the median may be. Of labels, or of zeros with some ones, there are too many to be errors.
std::string far_entries(const Residuals& rest) {
  if (rest.far == 0) return "No entry is more than five spreads away.";
  const double share = static_cast<double>(rest.far) / static_cast<double>(rest.entries);
  const std::string count = fmt::format("{} entries are more than five spreads away", rest.far);
  if (share > 0.05) return fmt::format("{}: so many ({:.0f} %) are no outliers.", count, 100 * share);
  return count + ": gross outliers, if there are any, are among these.";
}

/// The largest residuals; of an undirected graph or a symmetric matrix, where a pair has two entries, the larger of
/// these.
std::vector<Residual> worst(const report::RunReport& report, const std::vector<Residual>& largest) {
  std::vector<Residual> kept;
  for (const Residual& one : largest) {
    const bool again = std::any_of(kept.begin(), kept.end(),
                                   [&](const Residual& other) { return other.row == one.col && other.col == one.row; });
    const bool symmetric = report.kind == DataKind::graph || report.problem.constraint.symmetric();
    if (!(again && symmetric) && kept.size() < kLargest) kept.push_back(one);
  }
  return kept;
}

void add_residuals(Json& blocks, const report::RunReport& report) {
  const Residuals rest = residuals(report.problem, report.preparation, report.model(), 2 * kLargest);
  blocks.push_back(heading("residuals", "Residuals"));
  blocks.push_back(
      {{"kind", "text"},
       {"text", fmt::format("Observed minus fitted, for the {} entries of the fit, in the units of the data: median "
                            "{:.2g}, spread {:.2g} (1.4826 times the median distance from it). {}",
                            rest.entries, rest.median, rest.spread, far_entries(rest))}});
  blocks.push_back(chart("residual-distribution",
                         "How the residuals are distributed. On the logarithmic axis single outliers show.",
                         Json::array({"residual"}), Json::array({"entries"}),
                         Json::array({series("entries", "steps", Json::array({numbers(rest.histogram.middle)}),
                                             Json::array({numbers(rest.histogram.count)}))}),
                         false, true));
  Json rows = Json::array();
  for (const Residual& one : worst(report, rest.largest)) {
    rows.push_back({report.rows.name(one.row), report.cols.name(one.col), plain(one.observed), plain(one.predicted),
                    plain(one.value())});
  }
  blocks.push_back(table("largest-residuals", "The entries that fit worst.",
                         {"row", "column", "observed", "fitted", "residual"}, std::move(rows), 2));
}

Json values_table(const char* id, const char* caption, const char* name,
                  const std::vector<report::NamedValue>& values) {
  Json rows = Json::array();
  for (const report::NamedValue& one : values) {
    if (const std::string text = report::value_text(one); !text.empty()) rows.push_back({one.name, text});
  }
  return table(id, caption, {name, "value"}, std::move(rows), 2);
}

void replace_all(std::string& text, std::string_view mark, std::string_view with) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + with.size())) {
    text.replace(at, mark.size(), with);
  }
}

/// One file that needs nothing else: style, script, charting library and data are inside.
std::string to_html(const Json& page) {
  std::string data = page.dump(-1, ' ', false, Json::error_handler_t::replace);
  replace_all(data, "<", "\\u003c");  // a script element ends at the first "</", whatever quotes surround it
  std::string html(assets::page_html);
  const auto fill = [&](std::string_view mark, std::string_view with) {
    html.replace(html.find(mark), mark.size(), with);
  };
  // What is inserted is not searched: the last mark is filled in first.
  fill("@script@", assets::page_js);
  fill("@chart@", assets::chart_js);
  fill("@page@", data);
  fill("@style@", assets::page_css);
  return html;
}

}  // namespace

std::string run_page(const report::RunReport& report) {
  const std::vector<Iteration> trace = thinned(report.result.trace);
  Json blocks{heading("run", "The run"), summary_table(report)};
  if (report.validation || report.test) blocks.push_back(errors_table(report));
  if (report.command == "denoise") {
    if (const auto* data = std::get_if<DenseObservations>(&report.problem.observations)) {
      blocks.push_back(pictures_block(pictures(*data, report.preparation, report.result.solution)));
    }
  }
  if (report.covariance) add_correlations(blocks, report);
  if (!report.roc.empty()) {
    blocks.push_back(heading("links-section", "Links"));
    blocks.push_back(roc(report));
    blocks.push_back(top_pairs_table(report));
  }
  if (report.path.size() > 1) {
    blocks.push_back(heading("radius-section", "The radius"));
    blocks.push_back(radius_path(report));
  }
  blocks.push_back(heading("convergence-section", "Convergence"));
  blocks.push_back(convergence(trace));
  blocks.push_back(progress(trace));
  blocks.push_back(heading("answer", "The answer"));
  blocks.push_back(singular_values(report.result.solution));
  add_residuals(blocks, report);
  blocks.push_back(heading("options-section", "Options and machine"));
  blocks.push_back(values_table("options", "Every option, given or not.", "option", report::all_options(report)));
  blocks.push_back(values_table("machine", "What ran.", "machine", report::environment(report)));
  return to_html({{"title", fmt::format("tracenorm {}: {}", report.command, report.data)},
                  {"subtitle", report::certificate_sentence(report)},
                  {"blocks", std::move(blocks)}});
}

}  // namespace tracenorm::app
