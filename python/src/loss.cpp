// Losses on arrays, for estimators and for people who want to look at them.
#include <nanobind/stl/string.h>

#include <string>

#include "bindings.hpp"

namespace tracenorm::python {

namespace {

template <class Function>
Given<double> map_pairs(const Vector<double>& x, const Vector<double>& y, Function&& function) {
  std::vector<double> out(std::min(x.size(), y.size()));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = function(x.data()[i], y.data()[i]);
  return give(std::move(out));
}

}  // namespace

void bind_loss(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "wants_labels", [](const std::string& loss) { return wants_labels(parse_loss(loss)); }, "loss"_a);
  module.def(
      "loss_values",
      [](const std::string& loss, const Vector<double>& x, const Vector<double>& y) {
        return std::visit(
            [&](const auto& l) { return map_pairs(x, y, [&](double a, double b) { return double(l.value(a, b)); }); },
            parse_loss(loss));
      },
      "loss"_a, "x"_a.noconvert(), "y"_a.noconvert());
  module.def(
      "loss_slopes",
      [](const std::string& loss, const Vector<double>& x, const Vector<double>& y) {
        return std::visit(
            [&](const auto& l) {
              return map_pairs(x, y, [&](double a, double b) { return double(l.subgradient(a, b)); });
            },
            parse_loss(loss));
      },
      "loss"_a, "x"_a.noconvert(), "y"_a.noconvert());
}

}  // namespace tracenorm::python
