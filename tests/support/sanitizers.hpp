// Whether a sanitizer takes part: it replaces malloc, needs memory of its own, and starts a thread to look for leaks.
#pragma once

namespace tracenorm::test {

/// The thread sanitizer does not know threads that a child starts after a fork.
#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadsWatched = true;
#else
constexpr bool kThreadsWatched = false;
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace tracenorm::test
