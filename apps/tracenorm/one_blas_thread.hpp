// OpenBLAS without threads of its own, which the program never uses.
#pragma once

namespace tracenorm::app {

/// The processors that were hidden from OpenBLAS while it was loaded come back. The first thing that `main` does.
void show_processors();

}  // namespace tracenorm::app
