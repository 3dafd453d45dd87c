#include "methods/environment.hpp"

#include "kernels/kernels.hpp"
#include "tracenorm/version.hpp"

namespace tracenorm {

Environment environment(int threads, std::uint64_t seed) {
  return {TRACENORM_VERSION, "g++ " __VERSION__, std::string(kernels::to_string(kernels::selected())), threads, seed};
}

}  // namespace tracenorm
