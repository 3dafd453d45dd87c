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

/// How means are taken for a loss of that name; plain ones for a loss that only Python knows.
Averaging averaging(const std::string& loss) {
  return loss.empty() ? Averaging::means : averaging_for(parse_loss(loss));
}

/// The entries of sparse observations as a list.
Entries listed(const SparseObservations& observations) {
  const SparsePattern& pattern = observations.pattern;
  Entries entries;
  entries.row.reserve(static_cast<std::size_t>(pattern.entries()));
  for (Index i = 0; i < pattern.rows(); ++i) {
    entries.row.insert(entries.row.end(), static_cast<std::size_t>(pattern.begin()[i + 1] - pattern.begin()[i]), i);
  }
  pattern.col().visit([&](const auto* col) { entries.col.assign(col, col + pattern.entries()); });
  entries.value.assign(observations.value.begin(), observations.value.end());
  return entries;
}

Data from_compressed_rows(Index rows, Index cols, const Vector<Offset>& begin, const Vector<Index>& col,
                          const Values& value, const Weights& weight, const std::string& kind,
                          const std::string& loss) {
  Data data;
  SparseObservations sparse{SparsePattern(rows, cols, borrow<Offset>(begin), borrow<Index>(col)), borrow<Real>(value),
                            weight ? borrow<Real>(*weight) : Array<Real>{}};
  const Preparation::Kind wanted = parse_preparation(kind);
  if (wanted != Preparation::Kind::none) {
    Entries entries = listed(sparse);
    data.preparation = fit_preparation(wanted, averaging(loss), entries, rows, cols);
    prepare(data.preparation, entries);
    sparse.value = std::move(entries.value);
  }
  data.observations = std::move(sparse);
  return data;
}

Data from_entries(Index rows, Index cols, const Vector<Index>& row, const Vector<Index>& col, const Values& value,
                  const Weights& weight, const std::string& kind, const std::string& loss) {
  Data data;
  Entries entries{copy(row), copy(col), copy(value)};
  data.preparation = fit_preparation(parse_preparation(kind), averaging(loss), entries, rows, cols);
  prepare(data.preparation, entries);
  data.observations = make_sparse(rows, cols, entries, weight ? copy(*weight) : std::vector<Real>{});
  return data;
}

Data from_matrix(const Matrix<Real>& value, const std::optional<Matrix<Real>>& weight, const std::string& kind,
                 const std::string& loss) {
  Data data;
  DenseObservations dense{static_cast<Index>(value.shape(0)), static_cast<Index>(value.shape(1)), borrow<Real>(value),
                          weight ? borrow<Real>(*weight) : Array<Real>{}};
  data.preparation = fit_preparation(parse_preparation(kind), averaging(loss), dense);
  prepare(data.preparation, dense);
  data.observations = std::move(dense);
  return data;
}

Given<const Real> values_of(nb::handle_t<Data> self) {
  const Data& data = nb::cast<const Data&>(self);
  if (const auto* sparse = std::get_if<SparseObservations>(&data.observations)) {
    return Given<const Real>(sparse->value.data(), {sparse->value.size()}, self);
  }
  const Array<Real> values = std::get<DenseObservations>(data.observations).value.plain();  // as they were given
  return Given<const Real>(values.data(), {values.size()}, self);
}

/// The columns of sparse observations; nothing for a full matrix.
nb::object columns_of(nb::handle_t<Data> self) {
  const auto* sparse = std::get_if<SparseObservations>(&nb::cast<const Data&>(self).observations);
  if (sparse == nullptr) return nb::none();
  const auto size = static_cast<std::size_t>(sparse->pattern.entries());
  return sparse->pattern.col().visit(
      [&]<class Column>(const Column* col) { return nb::cast(Given<const Column>(col, {size}, self)); });
}

}  // namespace

void bind_data(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Data>(module, "Data", "Observations in prepared units.")
      .def_static("from_compressed_rows", &from_compressed_rows, "rows"_a, "cols"_a, "begin"_a.noconvert(),
                  "col"_a.noconvert(), "value"_a.noconvert(), "weight"_a.noconvert().none(), "prepare"_a, "loss"_a)
      .def_static("from_entries", &from_entries, "rows"_a, "cols"_a, "row"_a.noconvert(), "col"_a.noconvert(),
                  "value"_a.noconvert(), "weight"_a.noconvert().none(), "prepare"_a, "loss"_a)
      .def_static("from_matrix", &from_matrix, "value"_a.noconvert(), "weight"_a.noconvert().none(), "prepare"_a,
                  "loss"_a)
      .def_prop_ro("shape",
                   [](const Data& data) { return std::pair(rows(data.observations), cols(data.observations)); })
      .def_prop_ro("observed", [](const Data& data) { return observed(data.observations); })
      .def_prop_ro("sparse",
                   [](const Data& data) { return std::holds_alternative<SparseObservations>(data.observations); })
      .def_prop_ro("columns", &columns_of, "The columns of sparse entries, without a copy.")
      .def_prop_ro("values", &values_of, "The values as they are in memory, without a copy.");
}

}  // namespace tracenorm::python
