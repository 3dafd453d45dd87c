#include <fmt/format.h>

#include "page/page.hpp"

namespace tracenorm::app {

namespace {

/// A bar would end the cell.
std::string in_cell(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

struct MarkdownWriter {
  std::string operator()(const Heading& heading) const {
    return fmt::format("{:#<{}} {}\n\n", "", heading.level, heading.text);
  }
  std::string operator()(const Paragraph& paragraph) const {
    return paragraph.warning ? fmt::format("> {}\n\n", paragraph.text) : paragraph.text + "\n\n";
  }
  std::string operator()(const Bullets& list) const {
    std::string text;
    for (const std::string& item : list.items) text += fmt::format("- {}\n", item);
    return text + "\n";
  }
  std::string operator()(const Code& code) const {
    return fmt::format("```text\n{}{}```\n\n", code.text, code.text.ends_with('\n') ? "" : "\n");
  }
  std::string operator()(const Details& details) const {
    return fmt::format("{}:\n\n", details.summary) + (*this)(Code{details.text});
  }
  std::string operator()(const Table& table) const {
    std::string text = table.caption.empty() ? "" : table.caption + "\n\n";
    text += "|";
    for (const std::string& column : table.columns) text += fmt::format(" {} |", in_cell(column));
    text += "\n|";
    for (std::size_t c = 0; c < table.columns.size(); ++c) text += c < table.text_columns ? "---|" : "---:|";
    text += "\n";
    for (const std::vector<Cell>& row : table.rows) {
      text += "|";
      for (const Cell& cell : row) text += fmt::format(" {} |", in_cell(cell.text));
      text += "\n";
    }
    return text + "\n";
  }
  std::string operator()(const Chart&) const { return {}; }
  std::string operator()(const BarChart&) const { return {}; }
  std::string operator()(const Gallery&) const { return {}; }
};

}  // namespace

std::string to_markdown(const Page& page) {
  std::string text = fmt::format("# {}\n\n{}\n\n", page.title, page.subtitle);
  for (const Block& block : page.blocks) text += std::visit(MarkdownWriter{}, block);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace tracenorm::app
