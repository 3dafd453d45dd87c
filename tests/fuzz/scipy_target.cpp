// SciPy's sparse matrices.
#include "member_names.hpp"
#include "packed.hpp"
#include "target.hpp"
#include "tracenorm/io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracenorm;
  const std::string& file = fuzz::file_of(fuzz::packed(fuzz::text_of(data, size), fuzz::scipy_names()));
  io::ReadOptions options;
  options.format = io::Format::npz;
  fuzz::may_refuse([&] { io::read_entries(file, options); });
  return 0;
}
