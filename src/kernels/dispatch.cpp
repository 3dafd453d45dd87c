// Picks the instruction set once, at first use.
#include <atomic>
#include <cstdlib>

#include "kernels/kernels.hpp"
#include "kernels/tables.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::kernels {

namespace {

constexpr InstructionSet kAll[] = {InstructionSet::avx512, InstructionSet::avx2, InstructionSet::baseline,
                                   InstructionSet::reference};

InstructionSet detect() {
  if (const char* wanted = std::getenv("TRACENORM_ISA")) {
    for (const InstructionSet set : kAll) {
      if (to_string(set) == wanted && available(set)) return set;
    }
    throw Error(ErrorCode::usage, std::string("TRACENORM_ISA=") + wanted +
                                      " is not available here; use reference, baseline, avx2 or avx512");
  }
  for (const InstructionSet set : kAll) {
    if (available(set)) return set;
  }
  return InstructionSet::reference;
}

std::atomic<int> chosen{-1};

}  // namespace

std::string_view to_string(InstructionSet set) {
  switch (set) {
    case InstructionSet::reference:
      return "reference";
    case InstructionSet::baseline:
      return "baseline";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avx512:
      return "avx512";
  }
  return "unknown";
}

bool available(InstructionSet set) {
  switch (set) {
    case InstructionSet::reference:
    case InstructionSet::baseline:
      return true;
#ifdef TRACENORM_X86_DISPATCH
    case InstructionSet::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case InstructionSet::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    default:
      return false;
#endif
  }
  return false;
}

InstructionSet selected() {
  const int known = chosen.load(std::memory_order_relaxed);
  if (known >= 0) return static_cast<InstructionSet>(known);
  const InstructionSet set = detect();
  chosen.store(static_cast<int>(set), std::memory_order_relaxed);
  return set;
}

void select(InstructionSet set) { chosen.store(static_cast<int>(set), std::memory_order_relaxed); }

const LinearKernels& linear_kernels(InstructionSet set) {
  switch (set) {
    case InstructionSet::reference:
      return reference::linear_kernels_of();
#ifdef TRACENORM_X86_DISPATCH
    case InstructionSet::avx2:
      return avx2::linear_kernels_of();
    case InstructionSet::avx512:
      return avx512::linear_kernels_of();
#endif
    default:
      return baseline::linear_kernels_of();
  }
}

#ifdef TRACENORM_X86_DISPATCH
#define TRACENORM_DISPATCH_WIDE(L)                                           \
  case InstructionSet::avx2:                                                 \
    return avx2::loss_kernels_of((const losses::L*)nullptr, mode, weighted); \
  case InstructionSet::avx512:                                               \
    return avx512::loss_kernels_of((const losses::L*)nullptr, mode, weighted);
#else
#define TRACENORM_DISPATCH_WIDE(L)
#endif

#define TRACENORM_DISPATCH_LOSS(L)                                                                      \
  template <>                                                                                           \
  const LossKernels<losses::L>& loss_kernels<losses::L>(InstructionSet set, Mode mode, bool weighted) { \
    switch (set) {                                                                                      \
      case InstructionSet::reference:                                                                   \
        return reference::loss_kernels_of(static_cast<const losses::L*>(nullptr), mode, weighted);      \
        TRACENORM_DISPATCH_WIDE(L)                                                                      \
      default:                                                                                          \
        return baseline::loss_kernels_of(static_cast<const losses::L*>(nullptr), mode, weighted);       \
    }                                                                                                   \
  }
TRACENORM_FOR_EACH_LOSS(TRACENORM_DISPATCH_LOSS)

}  // namespace tracenorm::kernels
