#include "cuda/backend.hpp"

#include "cuda/panels.hpp"
#include "cuda/store.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

class CudaBackend final : public Backend {
 public:
  [[nodiscard]] Place open(const Problem& problem, const Execution& execution) const override {
    if (std::holds_alternative<losses::Custom>(problem.loss)) {
      throw Error(ErrorCode::usage,
                  "backend: a custom loss is a function of the host, which a CUDA device cannot call; use backend cpu",
                  "backend");
    }
    if (problem.constraint.symmetric()) {
      throw Error(
          ErrorCode::usage,
          "backend: a CUDA device does not solve symmetric problems as such; use backend cpu, or leave symmetry "
          "out",
          "backend");
    }
    const std::shared_ptr<cuda::Device> device = cuda::Device::open();
    auto store = std::make_unique<cuda::CudaStore>(problem, device, execution);
    auto panels = std::make_unique<cuda::CudaPanels>(store->facts().rows, store->facts().cols, device, execution);
    return {std::move(panels), std::move(store)};
  }
};

}  // namespace

const Backend& cuda_backend() {
  static const CudaBackend backend;
  return backend;
}

bool worth_a_device(const Problem& problem) {
  // Measured for whole automatic runs next to sixteen cores (docs/measurements.md): as fast with 90,000 entries, six
  // times as fast with 900,000.
  constexpr Offset least = 300'000;
  if (std::holds_alternative<losses::Custom>(problem.loss) || problem.constraint.symmetric()) return false;
  const bool everywhere = std::holds_alternative<DenseObservations>(problem.observations) ||
                          std::holds_alternative<L1Penalty>(problem.penalty);
  const Offset entries = everywhere ? static_cast<Offset>(rows(problem.observations)) * cols(problem.observations)
                                    : observed(problem.observations);
  return entries >= least && cuda_devices().none.empty();
}

}  // namespace tracenorm
