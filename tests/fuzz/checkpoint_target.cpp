// Checkpoint files, and a run that goes on from one: whatever it holds, the run has an answer or refuses it.
#include "member_names.hpp"
#include "packed.hpp"
#include "small_run.hpp"
#include "target.hpp"
#include "tracenorm/io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracenorm;
  const std::string& file = fuzz::file_of(fuzz::packed(fuzz::text_of(data, size), fuzz::checkpoint_names()));
  fuzz::may_refuse([&] { fuzz::small_run(io::read_checkpoint(file)); });
  return 0;
}
