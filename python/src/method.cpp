// Losses, methods and their options by name, from the library's own tables: Python keeps no list of them.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <string>

#include "bindings.hpp"

namespace tracenorm::python {

namespace {

nb::object to_python(const OptionValue& value) {
  return std::visit(
      []<class T>(const T& chosen) -> nb::object {
        if constexpr (std::is_same_v<T, std::monostate>) return nb::none();
        if constexpr (!std::is_same_v<T, std::monostate>) return nb::cast(chosen);
      },
      value);
}

GivenOptions given_options(const Dict& options) {
  GivenOptions given;
  for (const auto& [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    const bool word = nb::isinstance<nb::str>(value);
    given.emplace_back(name, word ? OptionValue(nb::cast<std::string>(value)) : number_from(name, value));
  }
  return given;
}

/// What there is to know about options: defaults, limits or words, help.
nb::dict describe(const std::vector<Option>& options) {
  nb::dict all;
  for (const Option& option : options) {
    nb::dict about;
    about["default"] = to_python(option.value);
    if (option.words.empty()) {
      about["lower"] = option.field.lower;
      about["upper"] = option.field.upper;
      about["whole"] = option.field.whole;
    } else {
      nb::list words;
      for (const std::string_view word : option.words) words.append(word);
      about["words"] = words;
    }
    about["help"] = option.field.help;
    all[nb::cast(option.field.name)] = about;
  }
  return all;
}

Dict loss_table() {
  nb::dict table;
  for (const LossHelp& help : loss_help()) {
    nb::dict entry;
    entry["wants"] = help.wants;
    entry["parameter"] = help.parameter.empty() ? nb::none() : nb::cast(help.parameter);
    entry["default"] = help.parameter.empty() ? nb::none() : nb::cast(help.default_value);
    entry["help"] = help.help;
    table[nb::cast(help.name)] = entry;
  }
  return Dict(table);
}

Dict method_table() {
  nb::dict table;
  for (const MethodHelp& help : method_help()) {
    const Method method = parse_method(help.name);
    nb::dict entry;
    entry["help"] = help.help;
    entry["bounded"] = is_bounded(method);
    entry["options"] = describe(options_of(method));
    table[nb::cast(help.name)] = entry;
  }
  return Dict(table);
}

}  // namespace

OptionValue number_from(const std::string& name, nb::handle value) {
  if (value.is_none()) return {};
  if (PyIndex_Check(value.ptr()) != 0) {
    int overflow = 0;
    const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    const long long count = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow == 0) return std::int64_t{count};
  }
  const double number = nb::isinstance<nb::str>(value) ? -1.0 : PyFloat_AsDouble(value.ptr());
  if (nb::isinstance<nb::str>(value) || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw nb::type_error(fmt::format("{} = {}; it must be a number", name, nb::repr(value).c_str()).c_str());
  }
  return number;
}

void bind_method(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Method>(module, "Method", "A method with its options.")
      .def(
          "__init__",
          [](Method* self, const std::optional<std::string>& name, const Dict& options, bool asks_gap) {
            new (self) Method(make_method(name, given_options(options), asks_gap));
          },
          "name"_a.none(), "options"_a, "asks_gap"_a)
      .def_prop_ro("name", &method_name)
      .def_prop_ro("bounded", &is_bounded, "Whether it solves the problem under the trace-norm bound.");
  module.def("loss_table", &loss_table, "The losses there are, by name.");
  module.def("method_table", &method_table, "The methods there are, by name, with their options.");
  module.def(
      "run_options", [] { return Dict(describe(options_of(RunOptions{}))); }, "The options of a run.");
  module.def(
      "fit_options", [] { return Dict(describe(options_of(FitOptions{}))); }, "The options of a fit.");
}

}  // namespace tracenorm::python
