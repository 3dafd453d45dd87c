// A page of text, tables, charts and pictures, as one HTML file that needs nothing else, or as Markdown. What is said
// is put together once, as a list of blocks; how it looks is decided in html.cpp, markdown.cpp and assets/.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace tracenorm::app {

/// Starts a section; the page's list of contents is made of these.
struct Heading {
  std::string id;
  std::string text;
  int level = 2;
};

/// Words between backticks are set as code.
struct Paragraph {
  std::string text;
  bool warning = false;  ///< set apart, so that nobody overlooks it
};

struct Bullets {
  std::vector<std::string> items;
};

/// Lines to type.
struct Code {
  std::string text;
};

/// Lines to type that unfold on demand.
struct Details {
  std::string id;
  std::string summary;
  std::string text;
};

struct Cell {
  std::string text;
  enum class Mood { plain, good, bad, faint } mood = Mood::plain;
};

struct Table {
  std::string id;
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::size_t text_columns = 1;  ///< the first ones are words, the others numbers
};

/// One line of a chart. It may be looked at in several ways: one array per abscissa and per ordinate of the chart. NaN
/// leaves a gap; an ordinate that a series does not have is empty.
struct Series {
  std::string name;
  std::vector<std::vector<double>> x;
  std::vector<std::vector<double>> y;
  enum class Style { line, dashed, points, steps } style = Style::line;
};

struct Chart {
  std::string id;
  std::string caption;
  std::vector<std::string> abscissae;  ///< e.g. iterations, seconds
  std::vector<std::string> ordinates;  ///< e.g. objective, excess
  std::vector<Series> series;
  bool log_x = false;
  bool log_y = false;
};

/// Bars side by side: one group per category, one bar per series.
struct BarChart {
  std::string id;
  std::string caption;
  std::string ordinate;
  std::vector<std::string> categories;
  struct Bars {
    std::string name;
    std::vector<double> values;  ///< NaN: none
  };
  std::vector<Bars> series;
};

/// A gray picture as the bytes of a PNG file.
struct Picture {
  std::string caption;
  std::string png;
};
struct Gallery {
  std::string id;
  std::string caption;
  std::vector<Picture> pictures;
};

using Block = std::variant<Heading, Paragraph, Bullets, Code, Details, Table, Chart, BarChart, Gallery>;

struct Page {
  std::string title;
  std::string subtitle;
  std::vector<Block> blocks;
};

/// One file without any reference to another: style, script, charting library, data and pictures are inside.
std::string to_html(const Page& page);

/// Headings, text and tables; charts and pictures are left out.
std::string to_markdown(const Page& page);

}  // namespace tracenorm::app
