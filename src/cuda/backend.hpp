// The backend for NVIDIA devices. Builds without a CUDA toolkit have it too, and it says so there.
#pragma once

#include <string>
#include <vector>

#include "seam/backend.hpp"

namespace tracenorm {

/// The devices there are, in words; without any, why.
struct CudaDevices {
  std::vector<std::string> names;
  std::string none;
};
CudaDevices cuda_devices();

/// Problems are opened on the first device. Throws a usage error that says what is missing where that cannot be.
const Backend& cuda_backend();

/// Whether the problem is large enough that a device is worth its start.
bool worth_a_device(const Problem& problem);

}  // namespace tracenorm
