// Readers of data. FUZZED_FORMAT is a word of `io::parse_format`; "auto" finds out by itself, gzip, xz and zip
// included.
#include "target.hpp"
#include "tracenorm/io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracenorm;
  if (size == 0) return 0;
  const bool is_zip = fuzz::text_of(data + 1, size - 1).starts_with("PK\x03\x04");
  if (is_zip && std::string_view(FUZZED_FORMAT) != "auto") return 0;  // one target is enough for archives
  const std::string& file = fuzz::file_of(fuzz::text_of(data + 1, size - 1));
  io::ReadOptions options;
  options.format = io::parse_format(FUZZED_FORMAT);
  options.threads = 1;  // starting one would take longer than to read
  // The first byte chooses what to do with the rest.
  options.duplicates = static_cast<io::ReadOptions::Duplicates>(data[0] & 3U);
  if ((data[0] & 4U) != 0) options.missing = {"99", "NA"};
  if ((data[0] & 8U) != 0) options.columns = {"1", "2", "3"};
  fuzz::may_refuse([&] {
    const io::NamedEntries table = io::read_entries(file, options);
    for (const Real value : table.entries.value) {
      if (!(value - value == 0)) std::abort();  // nothing that is not finite gets through
    }
    for (std::size_t e = 0; e < table.entries.row.size(); ++e) {
      const bool inside = table.entries.row[e] >= 0 && table.entries.row[e] < table.rows && table.entries.col[e] >= 0 &&
                          table.entries.col[e] < table.cols;
      if (!inside) std::abort();
    }
  });
  return 0;
}
