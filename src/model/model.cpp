#include "tracenorm/model.hpp"

#include <cstdint>

namespace tracenorm {

std::string Labels::name(Index index) const {
  if (names.empty()) return std::to_string(std::int64_t{index} + base);
  return names.at(static_cast<std::size_t>(index));
}

}  // namespace tracenorm
