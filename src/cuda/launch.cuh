// Kernels that begin where those before them end. A kernel that is short pays for its launch; here it is brought to the
// processors while the one before it still runs, and waits there until that is done and what it wrote can be seen.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace tracenorm::cuda {

/// Before anything else in a kernel that is started by `launch`.
__device__ inline void wait_for_those_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// Whether the device can do that; elsewhere it is a launch like any other.
bool launches_early();

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, int threads, std::size_t shared, cudaStream_t stream,
            const Arguments&... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = launches_early() ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

}  // namespace tracenorm::cuda
