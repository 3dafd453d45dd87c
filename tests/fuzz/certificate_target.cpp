// Certificates.
#include "member_names.hpp"
#include "packed.hpp"
#include "target.hpp"
#include "tracenorm/io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracenorm;
  const fuzz::BytesAsFile file(fuzz::packed(fuzz::text_of(data, size), fuzz::certificate_names()));
  fuzz::may_refuse([&] { io::read_certificate(file.path()); });
  return 0;
}
