#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "assets.hpp"
#include "page/encoding.hpp"
#include "page/page.hpp"

namespace tracenorm::app {

namespace {

using Json = nlohmann::ordered_json;

std::string_view mood_class(Cell::Mood mood) {
  switch (mood) {
    case Cell::Mood::plain:
      return "";
    case Cell::Mood::good:
      return "good";
    case Cell::Mood::bad:
      return "bad";
    case Cell::Mood::faint:
      return "faint";
  }
  return "";
}

std::string_view style_name(Series::Style style) {
  switch (style) {
    case Series::Style::line:
      return "line";
    case Series::Style::dashed:
      return "dashed";
    case Series::Style::points:
      return "points";
    case Series::Style::steps:
      return "steps";
  }
  return "line";
}

/// Six digits are more than a screen shows, and keep the file small.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return Json::parse(fmt::format("{:.6g}", value));
}

Json numbers(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(number(value));
  return json;
}

Json arrays(const std::vector<std::vector<double>>& values) {
  Json json = Json::array();
  for (const std::vector<double>& one : values) json.push_back(numbers(one));
  return json;
}

/// A script element ends at the first "</", whatever quotes surround it.
std::string inside_script(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string chart_html(const std::string& id, const std::string& caption, const Json& data) {
  return fmt::format(
      "<figure class=\"chart\" id=\"{}\"><figcaption>{}</figcaption><div class=\"controls\"></div>"
      "<div class=\"drawing\"><canvas role=\"img\" aria-label=\"{}\"></canvas></div>"
      "<script type=\"application/json\">{}</script></figure>\n",
      escape_html(id), markup(caption), escape_html(caption), inside_script(data));
}

struct HtmlWriter {
  std::string operator()(const Heading& heading) const {
    return fmt::format("<h{0} id=\"{1}\">{2}</h{0}>\n", heading.level, escape_html(heading.id), markup(heading.text));
  }
  std::string operator()(const Paragraph& paragraph) const {
    return fmt::format("<p{}>{}</p>\n", paragraph.warning ? " class=\"warning\"" : "", markup(paragraph.text));
  }
  std::string operator()(const Bullets& list) const {
    std::string html = "<ul>\n";
    for (const std::string& item : list.items) html += fmt::format("<li>{}</li>\n", markup(item));
    return html + "</ul>\n";
  }
  std::string operator()(const Code& code) const { return fmt::format("<pre>{}</pre>\n", escape_html(code.text)); }
  std::string operator()(const Details& details) const {
    return fmt::format("<details id=\"{}\"><summary>{}</summary><pre>{}</pre></details>\n", escape_html(details.id),
                       markup(details.summary), escape_html(details.text));
  }
  std::string operator()(const Table& table) const {
    // The caption stands outside of what scrolls sideways on a small screen.
    std::string html;
    if (!table.caption.empty()) {
      html +=
          fmt::format("<p class=\"caption\" id=\"{}-caption\">{}</p>\n", escape_html(table.id), markup(table.caption));
    }
    html += fmt::format("<div class=\"wide\"><table id=\"{0}\" aria-labelledby=\"{0}-caption\">\n<thead><tr>",
                        escape_html(table.id));
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      html += fmt::format("<th scope=\"col\"{}>{}</th>", c < table.text_columns ? " class=\"words\"" : "",
                          markup(table.columns[c]));
    }
    html += "</tr></thead>\n<tbody>\n";
    for (const std::vector<Cell>& row : table.rows) {
      html += "<tr>";
      for (std::size_t c = 0; c < row.size(); ++c) {
        html += fmt::format("<td class=\"{} {}\">{}</td>", c < table.text_columns ? "words" : "number",
                            mood_class(row[c].mood), markup(row[c].text));
      }
      html += "</tr>\n";
    }
    return html + "</tbody></table></div>\n";
  }
  std::string operator()(const Chart& chart) const {
    Json data{{"kind", "lines"},     {"abscissae", chart.abscissae}, {"ordinates", chart.ordinates},
              {"logX", chart.log_x}, {"logY", chart.log_y},          {"series", Json::array()}};
    for (const Series& series : chart.series) {
      data["series"].push_back({{"name", series.name},
                                {"style", style_name(series.style)},
                                {"x", arrays(series.x)},
                                {"y", arrays(series.y)}});
    }
    return chart_html(chart.id, chart.caption, data);
  }
  std::string operator()(const BarChart& chart) const {
    Json data{
        {"kind", "bars"}, {"ordinates", {chart.ordinate}}, {"categories", chart.categories}, {"series", Json::array()}};
    for (const BarChart::Bars& bars : chart.series) {
      data["series"].push_back({{"name", bars.name}, {"values", numbers(bars.values)}});
    }
    return chart_html(chart.id, chart.caption, data);
  }
  std::string operator()(const Gallery& gallery) const {
    std::string html = fmt::format("<figure class=\"gallery\" id=\"{}\"><figcaption>{}</figcaption><div>\n",
                                   escape_html(gallery.id), markup(gallery.caption));
    for (const Picture& picture : gallery.pictures) {
      html += fmt::format(
          "<figure><img alt=\"{0}\" src=\"data:image/png;base64,{1}\"><figcaption>{2}</figcaption></figure>\n",
          escape_html(picture.caption), base64(picture.png), markup(picture.caption));
    }
    return html + "</div></figure>\n";
  }
};

std::string contents(const Page& page) {
  std::string html;
  for (const Block& block : page.blocks) {
    const auto* heading = std::get_if<Heading>(&block);
    if (heading == nullptr || heading->level != 2) continue;
    html += fmt::format("<a href=\"#{}\">{}</a>\n", escape_html(heading->id), markup(heading->text));
  }
  return html;
}

void replace(std::string& text, std::string_view mark, std::string_view with) {
  const std::size_t at = text.find(mark);
  if (at != std::string::npos) text.replace(at, mark.size(), with);
}

}  // namespace

std::string to_html(const Page& page) {
  std::string body;
  for (const Block& block : page.blocks) body += std::visit(HtmlWriter{}, block);
  std::string html(assets::page_html);
  // What is inserted is not searched again: the last mark is filled in first.
  replace(html, "@script@", assets::page_js);
  replace(html, "@chart@", assets::chart_js);
  replace(html, "@body@", body);
  replace(html, "@contents@", contents(page));
  replace(html, "@subtitle@", markup(page.subtitle));
  replace(html, "@heading@", escape_html(page.title));
  replace(html, "@style@", assets::page_css);
  replace(html, "@title@", escape_html(page.title));
  return html;
}

}  // namespace tracenorm::app
