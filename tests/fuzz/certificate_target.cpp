// Certificates.
#include "member_names.hpp"
#include "packed.hpp"
#include "target.hpp"
#include "tracenorm/io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracenorm;
  const std::string& file = fuzz::file_of(fuzz::packed(fuzz::text_of(data, size), fuzz::certificate_names()));
  fuzz::may_refuse([&] { io::read_certificate(file); });
  return 0;
}
