#include "cpu/backend.hpp"

#include "cpu/panels.hpp"
#include "cpu/store.hpp"

namespace tracenorm {

namespace {

class CpuBackend final : public Backend {
 public:
  [[nodiscard]] Place open(const Problem& problem, const Execution& execution) const override {
    return place(std::make_unique<cpu::CpuStore>(problem, execution), execution);
  }
  [[nodiscard]] Place open_rows(const Problem& rows, const WholeProblem& whole,
                                const Execution& execution) const override {
    return place(std::make_unique<cpu::CpuStore>(rows, execution, &whole), execution);
  }

 private:
  static Place place(std::unique_ptr<cpu::CpuStore> store, const Execution& execution) {
    auto panels =
        std::make_unique<cpu::CpuPanels>(store->facts().cols, store->column_order(), store->panel_shards(), execution);
    return {std::move(panels), std::move(store)};
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace tracenorm
