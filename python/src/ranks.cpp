// Processes that solve one problem together: those that mpirun started, or those of a communicator of mpi4py.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "bindings.hpp"
#include "tracenorm/mpi.hpp"

namespace tracenorm::python {

ProcessRanks::ProcessRanks(std::optional<int> communicator) {
  if (communicator) {
    own_ = ranks_of(*communicator);
    ranks_ = own_->size() > 1 ? own_.get() : nullptr;
  } else {
    ranks_ = mpi_ranks();
  }
}

ProcessRanks::~ProcessRanks() = default;

void ProcessRanks::expect_same(std::uint64_t fingerprint) const {
  if (ranks_ == nullptr) return;
  const std::vector<std::byte> bytes = ranks_->gather(std::as_bytes(std::span(&fingerprint, 1)));
  std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks_->size()));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  const auto other = std::find_if(all.begin(), all.end(), [&](std::uint64_t one) { return one != all.front(); });
  if (other == all.end()) return;
  throw Error(ErrorCode::input,
              fmt::format("ranks: rank {} was given other data than rank 0; all of them must make the "
                          "same call with the same data",
                          other - all.begin()));
}

void bind_ranks(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<ProcessRanks>(module, "Ranks")
      .def(nb::init<std::optional<int>>(), "communicator"_a = nb::none())
      .def_prop_ro("rank", [](const ProcessRanks& all) { return all.ranks() == nullptr ? 0 : all.ranks()->rank(); })
      .def_prop_ro("size", [](const ProcessRanks& all) { return all.ranks() == nullptr ? 1 : all.ranks()->size(); })
      .def("all_failed",
           [](const ProcessRanks& all) {
             const nb::gil_scoped_release unlocked;
             return all.ranks() == nullptr || all_failed(*all.ranks());
           })
      .def(
          "abort", [](const ProcessRanks&, int code) { end_all_ranks(code); }, "code"_a);
}

}  // namespace tracenorm::python
