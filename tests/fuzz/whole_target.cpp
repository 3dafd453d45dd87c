// Readers of whole matrices and of graphs, whatever the file turns out to be.
#include "target.hpp"
#include "tracenorm/io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracenorm;
  if (size == 0) return 0;
  const std::string& file = fuzz::file_of(fuzz::text_of(data + 1, size - 1));
  if ((data[0] & 1U) != 0) {
    fuzz::may_refuse([&] { io::read_matrix(file); });
  } else {
    fuzz::may_refuse([&] { io::read_graph(file); });
    fuzz::may_refuse([&] { io::read_graph(file, {}, io::GraphKind::bipartite); });
  }
  return 0;
}
