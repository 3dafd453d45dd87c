// The page of a single run: how it converged, what the answer is made of, where it does not fit the data.
#pragma once

#include <string>

#include "report/run_report.hpp"

namespace tracenorm::app {

/// For --report: one HTML file.
std::string run_page(const report::RunReport& report);

}  // namespace tracenorm::app
