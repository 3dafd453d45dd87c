// Tables as text that `read_entries` reads back to the same names and values.
#include <fmt/format.h>

#include <string>

#include "io/files.hpp"
#include "io/messages.hpp"
#include "tracenorm/io.hpp"

namespace tracenorm::io {
namespace {

bool needs_quotes(const std::string& name) {
  return name.find_first_of("\t\"") != std::string::npos || name.starts_with(' ') || name.ends_with(' ') ||
         name.starts_with('#') || name.starts_with('%');
}

void append_name(std::string& out, const std::string& name, const std::string& path) {
  if (name.find_first_of("\n\r") != std::string::npos)
    fail_about(Topic::writing, "cannot write '{}': the name {} has a line end in it", path, excerpt(name));
  if (!needs_quotes(name)) {
    out += name;
    return;
  }
  out += '"';
  for (const char c : name) out.append(c == '"' ? 2 : 1, c);
  out += '"';
}

}  // namespace

void write_entries(const std::string& path, const NamedEntries& data) {
  AtomicFile file(path);
  std::string block;
  constexpr std::size_t block_bytes = std::size_t{1} << 20U;
  const Entries& entries = data.entries;
  const bool weighted = !data.weight.empty();
  if (weighted) block = "row\tcolumn\tvalue\tweight\n";
  for (std::size_t k = 0; k < entries.row.size(); ++k) {
    append_name(block, data.row_labels.name(entries.row[k]), path);
    block += '\t';
    append_name(block, data.col_labels.name(entries.col[k]), path);
    fmt::format_to(std::back_inserter(block), "\t{}", entries.value[k]);
    if (weighted) fmt::format_to(std::back_inserter(block), "\t{}", data.weight[k]);
    block += '\n';
    if (block.size() < block_bytes) continue;
    file.write(block);
    block.clear();
  }
  file.write(block);
  file.commit();
}

}  // namespace tracenorm::io
