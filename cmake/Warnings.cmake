# The warnings every target of ours is compiled with.
add_library(tracenorm_warnings INTERFACE)
target_compile_options(tracenorm_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wduplicated-cond -Wlogical-op
  -Wno-unknown-warning-option
  $<$<BOOL:${TRACENORM_WERROR}>:-Werror>)
