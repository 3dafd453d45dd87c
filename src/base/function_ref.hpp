// A callable that is only borrowed: unlike std::function it never allocates.
#pragma once

#include <memory>
#include <type_traits>

namespace tracenorm {

template <class Signature>
class FunctionRef;

template <class Out, class... In>
class FunctionRef<Out(In...)> {
 public:
  template <class Callable>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): it never takes the place of a copy
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef>) FunctionRef(Callable&& callable)  // implicit
      : context_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
        call_([](void* context, In... in) -> Out {
          return (*static_cast<std::remove_reference_t<Callable>*>(context))(in...);
        }) {}

  Out operator()(In... in) const { return call_(context_, in...); }

 private:
  void* context_;
  Out (*call_)(void*, In...);
};

}  // namespace tracenorm
