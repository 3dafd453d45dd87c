// The whole page of a reproduction.
#pragma once

#include <string>
#include <vector>

#include "page/page.hpp"
#include "reproduce/results.hpp"

namespace tracenorm::app {

/// What happened while the program ran, as far as the log does not know it.
struct Session {
  std::string command;
  bool quick = false;
  std::vector<std::string> failures;
};

/// Overview, the paper's comparisons, a section per experiment that has results or was asked for.
Page reproduction_page(const std::vector<const Experiment*>& experiments, const Results& results,
                       const Session& session);

}  // namespace tracenorm::app
