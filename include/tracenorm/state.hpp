// Where something stands, as named numbers: what is needed to go on from there, in this process or in another one.
#pragma once

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "tracenorm/types.hpp"

namespace tracenorm {

struct State {
  std::map<std::string, Eigen::MatrixXd> numbers{};
  std::map<std::string, std::vector<Real>> entries{};  ///< one number for each entry of the data
  std::map<std::string, std::string> texts{};

  [[nodiscard]] bool empty() const { return numbers.empty() && entries.empty() && texts.empty(); }
};

}  // namespace tracenorm
