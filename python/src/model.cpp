// Models: factors with names and units, predictions, files.
#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "bindings.hpp"
#include "report/ranking.hpp"

namespace tracenorm::python {

namespace {

/// A factor as NumPy sees it: columns one after the other, read-only, alive as long as the model.
template <class Factor>
GivenMatrix<const double> view(nb::handle model, const Factor& factor) {
  const auto rows = static_cast<std::size_t>(factor.rows());
  const auto cols = static_cast<std::size_t>(factor.cols());
  return {factor.data(), {rows, cols}, model, {1, static_cast<std::int64_t>(factor.outerStride())}};
}

const Model& model_of(nb::handle self) { return nb::cast<const Model&>(self); }

Given<const double> predicting_values_of(nb::handle_t<Model> self) {
  const auto values = model_of(self).factors.values();
  return {values.data(), {static_cast<std::size_t>(values.size())}, self};
}
/// Of the answer, which is what is certified.
Given<const double> values_of(nb::handle_t<Model> self) {
  const Model& model = model_of(self);
  if (!model.certified) return predicting_values_of(self);
  return {model.certified->values.data(), {model.certified->values.size()}, self};
}

void check_places(const Vector<std::int64_t>& places, Index count, const char* what) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places.data()[i] >= Preparation::kUnknown && places.data()[i] < count) continue;
    const std::string message =
        fmt::format("{}s[{}] = {} is not in 0..{}", what, i, places.data()[i], static_cast<Offset>(count) - 1);
    throw nb::index_error(message.c_str());
  }
}

Given<double> predict(const Model& model, const Vector<std::int64_t>& rows, const Vector<std::int64_t>& cols) {
  check_places(rows, model.factors.rows(), "row");
  check_places(cols, model.factors.cols(), "col");
  std::vector<double> out(rows.size());
  {
    const nb::gil_scoped_release unlocked;
    report::predict(model, {rows.data(), rows.size()}, {cols.data(), cols.size()}, out, Execution());
  }
  return give(std::move(out));
}

Model fold_in_rows(const Model& model, const std::string& loss, const EntryArrays& entries,
                   const Vector<Index>& places) {
  return with_rows(model, fold_in(model, parse_loss(loss), entries_from(entries), static_cast<Index>(places.size())),
                   copy(places));
}

/// The ends of intervals around predictions; -1 stands for a row or column that is unknown.
std::pair<Given<double>, Given<double>> intervals(const Model& model, double level, const Vector<double>& predictions,
                                                  const Vector<std::int64_t>& rows, const Vector<std::int64_t>& cols) {
  if (!model.spread) {
    throw nb::value_error(
        "this model does not say how far its predictions are off; what tracenorm.fit makes with a "
        "radius that it chose does");
  }
  std::vector<double> lower(rows.size());
  std::vector<double> upper(rows.size());
  for (std::size_t i = 0; i < lower.size(); ++i) {
    std::tie(lower[i], upper[i]) = model.interval(level, predictions.data()[i], static_cast<Index>(rows.data()[i]),
                                                  static_cast<Index>(cols.data()[i]));
  }
  return {give(std::move(lower)), give(std::move(upper))};
}

/// Rows [first, last) in raw units, row-major.
GivenMatrix<double> dense_rows(const Model& model, Index first, Index last) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  auto* block = new RowMajor;
  const nb::capsule owner(block, [](void* matrix) noexcept { delete static_cast<RowMajor*>(matrix); });
  {
    const nb::gil_scoped_release unlocked;
    *block = model.factors.dense_rows(first, last);
    for (Index i = first; i < last; ++i) {
      for (Index j = 0; j < model.factors.cols(); ++j) {
        double& entry = (*block)(i - first, j);
        entry = model.preparation.predict(entry, i, j);
      }
    }
  }
  return {block->data(), {static_cast<std::size_t>(block->rows()), static_cast<std::size_t>(block->cols())}, owner};
}

std::vector<std::string> names_of(const Labels& labels) { return labels.names; }

}  // namespace

void bind_model(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Model>(module, "Model", "Factors, names of rows and columns, and how to undo the preparation.")
      .def_prop_ro("shape", [](const Model& model) { return std::pair(model.factors.rows(), model.factors.cols()); })
      .def_prop_ro("left", [](nb::handle_t<Model> self) { return view(self, model_of(self).factors.left()); })
      .def_prop_ro("values", &values_of)
      .def_prop_ro("right", [](nb::handle_t<Model> self) { return view(self, model_of(self).factors.right()); })
      .def_prop_rw(
          "row_names", [](const Model& model) { return names_of(model.rows); },
          [](Model& model, std::vector<std::string> names) {
            model.rows = {std::move(names), 0};
          })
      .def_prop_rw(
          "col_names", [](const Model& model) { return names_of(model.cols); },
          [](Model& model, std::vector<std::string> names) {
            model.cols = {std::move(names), 0};
          })
      .def_prop_ro("row_base", [](const Model& model) { return model.rows.base; })
      .def_prop_ro("col_base", [](const Model& model) { return model.cols.base; })
      .def_prop_ro("preparation", [](const Model& model) { return to_string(model.preparation.kind); })
      .def_rw("metadata", &Model::metadata)
      .def_prop_ro(
          "center",
          [](const Model& model) { return model.preparation.base(Preparation::kUnknown, Preparation::kUnknown); },
          "The prediction where the factors and offsets say nothing, in raw units.")
      .def("intervals", &intervals, "level"_a, "predictions"_a.noconvert(), "rows"_a.noconvert(), "cols"_a.noconvert(),
           "The ends of intervals around predictions that hold entries to come with this probability.")
      .def_prop_ro("predictor_values", &predicting_values_of,
                   "Singular values that predictions are made with; the answer's own where nothing else is better.")
      .def("predict", &predict, "rows"_a.noconvert(), "cols"_a.noconvert(),
           "-1 stands for a row or column that is unknown.")
      .def("fold_in", &fold_in_rows, "loss"_a, "entries"_a.noconvert(), "places"_a.noconvert(),
           nb::call_guard<nb::gil_scoped_release>(),
           "The model with rows 0, 1, ... of the entries as well, at these places; column -1 is one that is unknown.")
      .def("dense_rows", &dense_rows, "first"_a, "last"_a)
      .def(
          "save",
          [](const Model& model, const std::string& path, int parts) {
            if (parts > 0) return io::write_model_parts(path, model, parts);
            io::write_model(path, model);
          },
          "path"_a, "parts"_a = 0, nb::call_guard<nb::gil_scoped_release>(), "A file, or a folder of so many parts.")
      .def_static(
          "load", [](const std::string& path) { return io::read_model(path); }, "path"_a,
          nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace tracenorm::python
