// A point of a descent over factors: two panels and one number, as one long vector.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "seam/entry_store.hpp"
#include "seam/panels.hpp"

namespace tracenorm::methods {

struct DescentPoint {
  Product factors;
  double slack = 0;
};

inline DescentPoint make_point(Panels& panels, Index columns) {
  return {{panels.make(Side::left, Use::descent, columns), panels.make(Side::right, Use::descent, columns)}, 0};
}

inline double dot(Panels& panels, const DescentPoint& a, const DescentPoint& b) {
  return panels.dot(a.factors.left.flat(), b.factors.left.flat()) +
         panels.dot(a.factors.right.flat(), b.factors.right.flat()) + a.slack * b.slack;
}

/// out = keep * out + factor * in.
inline void add(Panels& panels, double keep, double factor, const DescentPoint& in, DescentPoint& out) {
  panels.add(keep, factor, in.factors.left.flat(), out.factors.left.flat());
  panels.add(keep, factor, in.factors.right.flat(), out.factors.right.flat());
  out.slack = keep * out.slack + factor * in.slack;
}

}  // namespace tracenorm::methods
