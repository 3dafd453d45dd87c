// Memory that is refused: a message can say how much was wanted, which std::bad_alloc does not.
#include "memory.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace tracenorm::app {

namespace {

std::atomic<std::size_t> refused{0};

void* allocate_or_not(std::size_t bytes) noexcept { return std::malloc(bytes > 0 ? bytes : 1); }

void* allocate(std::size_t bytes) {
  if (void* memory = allocate_or_not(bytes)) return memory;
  refused.store(bytes);
  throw std::bad_alloc();
}

}  // namespace

std::size_t refused_bytes() { return refused.load(); }

}  // namespace tracenorm::app

void* operator new(std::size_t bytes) { return tracenorm::app::allocate(bytes); }
void* operator new[](std::size_t bytes) { return tracenorm::app::allocate(bytes); }
// Those of a sanitizer would not go with our delete.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return tracenorm::app::allocate_or_not(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return tracenorm::app::allocate_or_not(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
