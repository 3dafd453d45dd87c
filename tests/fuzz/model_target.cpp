// Model files, and predictions with what was read. To write one takes longer than to read it: one in eight is written.
#include "member_names.hpp"
#include "packed.hpp"
#include "target.hpp"
#include "tracenorm/io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracenorm;
  const std::string& file = fuzz::file_of(fuzz::packed(fuzz::text_of(data, size), fuzz::model_names()));
  fuzz::may_refuse([&] {
    const Model model = io::read_model(file);
    if (model.factors.rows() > 0 && model.factors.cols() > 0) static_cast<void>(model.factors.entry(0, 0));
    if (size > 0 && data[0] % 8 == 1) io::write_model("/dev/null", model);
  });
  return 0;
}
