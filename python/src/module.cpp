// The extension module tracenorm._core.
#include <string>

#include "bindings.hpp"

namespace {

/// Bad arguments and bad data are Python's ValueError. Messages of several lines end with a line end.
void translate(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const tracenorm::Error& error) {
    std::string message = error.what();
    while (!message.empty() && message.back() == '\n') message.pop_back();
    const bool numerical = error.code() == tracenorm::ErrorCode::numerical;
    PyErr_SetString(numerical ? PyExc_FloatingPointError : PyExc_ValueError, message.c_str());
  }
}

}  // namespace

NB_MODULE(_core, module) {
  using namespace tracenorm;
  nanobind::register_exception_translator(translate);
  module.doc() = "The library behind the package. Use the functions and classes of `tracenorm` instead.";
  module.attr("version") = TRACENORM_VERSION;
  module.attr("real") = sizeof(Real) == sizeof(float) ? "float32" : "float64";
  python::bind_data(module);
  python::bind_loss(module);
  python::bind_method(module);
  python::bind_model(module);
  python::bind_ranking(module);
  python::bind_ranks(module);
  python::bind_solve(module);
  python::bind_verify(module);
}
