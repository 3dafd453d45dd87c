// Losses and methods by name, from the library's own tables: Python keeps no list of them.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cmath>
#include <string>

#include "bindings.hpp"
#include "report/method_fields.hpp"

namespace tracenorm::python {

namespace {

using report::FieldInfo;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::usage, message); }

template <std::size_t... each>
std::vector<WidthRule> all_width_rules(std::index_sequence<each...>) {
  return {WidthRule(std::in_place_index<each>)...};
}

/// The methods that come of setting the width rule to each there is; a rule that would make it another method is not
/// its own.
std::vector<Method> with_each_width(const Method& method) {
  std::vector<Method> own;
  if (report::frank_wolfe(method) == nullptr) return own;
  for (const WidthRule& rule : all_width_rules(std::make_index_sequence<std::variant_size_v<WidthRule>>())) {
    Method changed = method;
    report::frank_wolfe(changed)->width = rule;
    if (method_name(changed) == method_name(method)) own.push_back(changed);
  }
  return own;
}

std::vector<Method> with_each_step(const Method& method) {
  std::vector<Method> own;
  if (report::frank_wolfe(method) == nullptr) return own;
  for (const methods::StepRule rule :
       {methods::StepRule::open_loop, methods::StepRule::measured, methods::StepRule::line_search}) {
    Method changed = method;
    report::frank_wolfe(changed)->step = rule;
    own.push_back(changed);
  }
  return own;
}

using NameOf = std::string_view (*)(const Method&);

std::string names(const std::vector<Method>& choices, NameOf name_of) {
  std::string list;
  for (const Method& choice : choices) list += fmt::format("{}'{}'", list.empty() ? "" : ", ", name_of(choice));
  return list;
}

/// Replaces the method by the choice of that name.
void choose(Method& method, const std::string& option, nb::handle value, const std::vector<Method>& choices,
            NameOf name_of) {
  if (choices.empty()) refuse(fmt::format("method {} has no option '{}'", method_name(method), option));
  const auto wanted = nb::isinstance<nb::str>(value) ? nb::cast<std::string>(value) : std::string();
  for (const Method& choice : choices) {
    if (name_of(choice) != wanted) continue;
    method = choice;
    return;
  }
  refuse(fmt::format("{} = {}; method {} takes one of {}", option, nb::repr(value).c_str(), method_name(method),
                     names(choices, name_of)));
}

std::string field_names(const Method& method) {
  std::string list;
  if (!with_each_width(method).empty()) list += "width, step, ";
  report::visit_fields(method, [&](const FieldInfo& field, double) { list += fmt::format("{}, ", field.name); });
  return list.substr(0, list.size() - std::min<std::size_t>(2, list.size()));
}

void set_field(Method& method, const std::string& name, nb::handle value) {
  bool found = false;
  report::visit_fields(method, [&](const FieldInfo& field, double& member) {
    if (field.name != name) return;
    found = true;
    const double number = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw nb::type_error(fmt::format("{} = {}; it must be a number", name, nb::repr(value).c_str()).c_str());
    }
    const bool fits = number >= field.lower && number <= field.upper && (!field.whole || number == std::floor(number));
    if (!fits) {
      refuse(fmt::format("{} = {}; it must be a {}number in [{:g}, {:g}] ({})", name, nb::repr(value).c_str(),
                         field.whole ? "whole " : "", field.lower, field.upper, field.help));
    }
    member = number;
  });
  if (!found) {
    refuse(fmt::format("method {} has no option '{}'; it has: {}", method_name(method), name, field_names(method)));
  }
}

bool has_field(const Method& method, std::string_view name) {
  bool found = false;
  report::visit_fields(method, [&](const FieldInfo& field, double) { found = found || field.name == name; });
  return found;
}

Method make_method(const std::string& name, const Dict& options) {
  Method method = parse_method(name);
  // The width rule decides which fields there are.
  if (options.contains("width")) {
    choose(method, "width", options["width"], with_each_width(method), report::width_name);
  }
  for (const auto& [key, value] : options) {
    const auto option = nb::cast<std::string>(key);
    if (option == "width") continue;
    if (option == "step" && !has_field(method, "step")) {
      choose(method, option, value, with_each_step(method), report::step_name);
    } else {
      set_field(method, option, value);
    }
  }
  return method;
}

Dict options_of(const Method& method) {
  nb::dict options;
  if (report::frank_wolfe(method) != nullptr) {
    options["width"] = nb::str(report::width_name(method).data());
    options["step"] = nb::str(report::step_name(method).data());
  }
  report::visit_fields(method, [&](const FieldInfo& field, double value) {
    options[nb::cast(std::string(field.name))] = nb::float_(value);
  });
  return Dict(options);
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
    nb::dict fields;
    report::visit_fields(method, [&](const FieldInfo& field, double value) {
      nb::dict about;
      about["default"] = value;
      about["lower"] = field.lower;
      about["upper"] = field.upper;
      about["help"] = field.help;
      fields[nb::cast(field.name)] = about;
    });
    entry["help"] = help.help;
    entry["bounded"] = is_bounded(method);
    entry["options"] = fields;
    table[nb::cast(help.name)] = entry;
  }
  return Dict(table);
}

}  // namespace

void bind_method(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Method>(module, "Method", "A method with its options.")
      .def(
          "__init__",
          [](Method* self, const std::string& name, const Dict& options) {
            new (self) Method(make_method(name, options));
          },
          "name"_a, "options"_a)
      .def_prop_ro("name", &method_name)
      .def_prop_ro("bounded", &is_bounded, "Whether it solves the problem under the trace-norm bound.")
      .def_prop_ro("options", &options_of);
  module.def("loss_table", &loss_table, "The losses there are, by name.");
  module.def("method_table", &method_table, "The methods there are, by name, with their numeric options.");
}

}  // namespace tracenorm::python
