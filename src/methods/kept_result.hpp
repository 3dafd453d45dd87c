// How traces and results are kept.
#pragma once

#include <vector>

#include "base/exchange.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm {

void exchange(Exchange state, Certificate& certificate);
void exchange(Exchange state, std::optional<DualPoint>& dual);
void exchange(Exchange state, std::vector<Iteration>& trace);
void exchange(Exchange state, Result& result);

}  // namespace tracenorm
