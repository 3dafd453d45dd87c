// What there is of the CUDA backend in a build without it.
#include "cuda/backend.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

constexpr const char* kAbsent =
    "this build has no CUDA backend; configure it where nvcc is found, with TRACENORM_CUDA=ON";

class AbsentBackend final : public Backend {
 public:
  [[nodiscard]] Place open(const Problem&, const Execution&) const override {
    throw Error(ErrorCode::usage, std::string("backend: ") + kAbsent, "backend");
  }
};

}  // namespace

CudaDevices cuda_devices() { return {{}, kAbsent}; }

const Backend& cuda_backend() {
  static const AbsentBackend backend;
  return backend;
}

bool worth_a_device(const Problem&) { return false; }

}  // namespace tracenorm
