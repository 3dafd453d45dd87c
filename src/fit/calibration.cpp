#include "fit/calibration.hpp"

#include <algorithm>
#include <limits>

namespace tracenorm {

Calibration::Calibration(const std::vector<Scored>& sorted) {
  for (std::size_t e = 0; e < sorted.size();) {
    Pool equal{double(sorted[e].score), 0, 0};  // equal scores have one share
    for (; e < sorted.size() && double(sorted[e].score) == equal.from; ++e) {
      equal.positives += sorted[e].positive ? 1 : 0;
      equal.count += 1;
    }
    if (equal.count == 0) return;  // not a number
    pools_.push_back(equal);
    // A pool that does not rise above the one before it joins it.
    while (pools_.size() > 1 && pools_[pools_.size() - 2].share() >= pools_.back().share()) {
      const Pool last = pools_.back();
      pools_.pop_back();
      pools_.back().positives += last.positives;
      pools_.back().count += last.count;
    }
  }
}

double Calibration::operator()(double score) const {
  if (pools_.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto above = std::upper_bound(pools_.begin(), pools_.end(), score,
                                      [](double value, const Pool& pool) { return value < pool.from; });
  return (above == pools_.begin() ? pools_.front() : *(above - 1)).share();
}

}  // namespace tracenorm
