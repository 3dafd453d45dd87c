// From arrays to observations.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "bindings.hpp"

namespace tracenorm::python {

namespace {

using Values = Vector<Real>;
using Weights = std::optional<Vector<Real>>;

/// The values in prepared units; where there is nothing to prepare, the very array that was given.
template <class Source>
Array<Real> prepared(const Source& source, const std::string& kind, Preparation& preparation) {
  const Preparation::Kind parsed = parse_preparation(kind);
  if (parsed == Preparation::Kind::none) return borrow<Real>(source);
  std::vector<Real> values(source.data(), source.data() + source.size());
  preparation = fit_preparation(parsed, values);
  prepare(preparation, values);
  return values;
}

Data from_compressed_rows(Index rows, Index cols, const Vector<Offset>& begin, const Vector<Index>& col,
                          const Values& value, const Weights& weight, const std::string& kind) {
  Data data;
  data.observations =
      SparseObservations{SparsePattern(rows, cols, borrow<Offset>(begin), borrow<Index>(col)),
                         prepared(value, kind, data.preparation), weight ? borrow<Real>(*weight) : Array<Real>{}};
  return data;
}

Data from_entries(Index rows, Index cols, const Vector<Index>& row, const Vector<Index>& col, const Values& value,
                  const Weights& weight, const std::string& kind) {
  Data data;
  Entries entries{copy(row), copy(col), copy(value)};
  data.preparation = fit_preparation(parse_preparation(kind), entries.value);
  prepare(data.preparation, entries.value);
  data.observations = make_sparse(rows, cols, entries, weight ? copy(*weight) : std::vector<Real>{});
  return data;
}

Data from_matrix(const Matrix<Real>& value, const std::optional<Matrix<Real>>& weight, const std::string& kind) {
  Data data;
  data.observations =
      DenseObservations{static_cast<Index>(value.shape(0)), static_cast<Index>(value.shape(1)),
                        prepared(value, kind, data.preparation), weight ? borrow<Real>(*weight) : Array<Real>{}};
  return data;
}

Given<const Real> values_of(nb::handle_t<Data> self) {
  const Data& data = nb::cast<const Data&>(self);
  return std::visit(
      [&](const auto& observations) {
        return Given<const Real>(observations.value.data(), {observations.value.size()}, self);
      },
      data.observations);
}

/// The columns of sparse observations; nothing for a full matrix.
std::optional<Given<const Index>> columns_of(nb::handle_t<Data> self) {
  const auto* sparse = std::get_if<SparseObservations>(&nb::cast<const Data&>(self).observations);
  if (sparse == nullptr) return std::nullopt;
  return Given<const Index>(sparse->pattern.col(), {static_cast<std::size_t>(sparse->pattern.entries())}, self);
}

}  // namespace

void bind_data(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Data>(module, "Data", "Observations in prepared units.")
      .def_static("from_compressed_rows", &from_compressed_rows, "rows"_a, "cols"_a, "begin"_a.noconvert(),
                  "col"_a.noconvert(), "value"_a.noconvert(), "weight"_a.noconvert().none(), "prepare"_a)
      .def_static("from_entries", &from_entries, "rows"_a, "cols"_a, "row"_a.noconvert(), "col"_a.noconvert(),
                  "value"_a.noconvert(), "weight"_a.noconvert().none(), "prepare"_a)
      .def_static("from_matrix", &from_matrix, "value"_a.noconvert(), "weight"_a.noconvert().none(), "prepare"_a)
      .def_prop_ro("shape",
                   [](const Data& data) { return std::pair(rows(data.observations), cols(data.observations)); })
      .def_prop_ro("observed", [](const Data& data) { return observed(data.observations); })
      .def_prop_ro("sparse",
                   [](const Data& data) { return std::holds_alternative<SparseObservations>(data.observations); })
      .def_prop_ro("columns", &columns_of, "The columns of sparse entries, without a copy.")
      .def_prop_ro("values", &values_of, "The values as they are in memory, without a copy.");
}

}  // namespace tracenorm::python
