// The singular value decomposition of a product of two panels.
#pragma once

#include <Eigen/Core>

#include "seam/panels.hpp"

namespace tracenorm {

/// What `Panels::decompose` does, from products and small matrices alone, which every place shares out among all that
/// it has; by its own way, which takes any columns, where they are near to dependent.
bool decompose(Panels& panels, Panel& left, Eigen::VectorXd& values, Panel& right);

}  // namespace tracenorm
