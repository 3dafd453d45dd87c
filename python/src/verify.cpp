// Certificates: what a run claims of its answer, and checking it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>

#include "bindings.hpp"

namespace tracenorm::python {

namespace {

Given<const Real> slopes_of(nb::handle_t<Claim> self) {
  const std::vector<Real>& slope = nb::cast<const Claim&>(self).dual.slope;
  return {slope.data(), {slope.size()}, self};
}

Dict run_verify(const Claim& claim, const Model& model, const Vector<Index>& rows, const Vector<Index>& cols,
                const Vector<Real>& values, const std::optional<Vector<Real>>& weight, int threads,
                std::optional<std::uint64_t> seed, Index largest_gram) {
  GivenData data{model.factors.rows(), model.factors.cols(), {copy(rows), copy(cols), copy(values)}};
  if (weight) data.weight = copy(*weight);
  Verification found;
  {
    const nb::gil_scoped_release unlocked;
    found = verify(claim, data, model, {.threads = threads, .largest_gram = largest_gram, .seed = seed});
  }
  nb::dict about;
  about["verdict"] = to_string(found.verdict);
  about["failure_probability"] = found.failure_probability;
  about["trace_norm"] = found.trace_norm;
  about["objective"] = found.objective;
  about["norm"] = found.norm;
  about["lower_bound"] = found.lower_bound;
  about["relative_gap"] = found.relative_gap;
  nb::list steps;
  for (const VerificationStep& step : found.steps) steps.append(nb::make_tuple(step.name, step.holds, step.says));
  about["steps"] = steps;
  about["text"] = to_text(found);
  return Dict(about);
}

}  // namespace

void bind_verify(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Claim>(module, "Claim", "What a certificate holds.")
      .def_prop_ro("shape", [](const Claim& claim) { return std::pair(claim.observed.rows(), claim.observed.cols()); })
      .def_prop_ro("observed", [](const Claim& claim) { return claim.observed.entries(); })
      .def_prop_ro("loss", [](const Claim& claim) { return to_string(claim.loss); })
      .def_prop_ro("penalty", [](const Claim& claim) { return to_string(claim.penalty); })
      .def_prop_ro("radius", [](const Claim& claim) { return claim.constraint.radius; })
      .def_ro("objective", &Claim::objective)
      .def_ro("lower_bound", &Claim::lower_bound)
      .def_prop_ro("slopes", &slopes_of, "Per observed entry, or per entry of the matrix, row by row; read-only.")
      .def(
          "save", [](const Claim& claim, const std::string& path) { io::write_certificate(path, claim); }, "path"_a,
          nb::call_guard<nb::gil_scoped_release>())
      .def_static(
          "load", [](const std::string& path) { return io::read_certificate(path); }, "path"_a,
          nb::call_guard<nb::gil_scoped_release>());
  module.def("verify", &run_verify, "claim"_a, "model"_a, "rows"_a.noconvert(), "cols"_a.noconvert(),
             "values"_a.noconvert(), "weight"_a.noconvert().none(), "threads"_a, "seed"_a.none(), "largest_gram"_a);
}

}  // namespace tracenorm::python
