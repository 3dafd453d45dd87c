// Whether a sanitizer takes part: it replaces malloc, needs memory of its own, and starts a thread to look for leaks.
#pragma once

namespace tracenorm::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace tracenorm::test
