// The backend that every machine has: host memory, threads, vector instructions chosen at run time.
#pragma once

#include "seam/backend.hpp"

namespace tracenorm {

const Backend& cpu_backend();

}  // namespace tracenorm
