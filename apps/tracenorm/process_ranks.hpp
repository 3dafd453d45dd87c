// The program as one of several ranks (mpirun): each runs the same command, the first alone prints and writes.
#pragma once

#include "tracenorm/ranks.hpp"

namespace tracenorm::app {

/// Null when the program was started alone.
[[nodiscard]] Ranks* ranks();
/// Whether this process prints and writes files.
[[nodiscard]] bool is_spokesman();

/// So many threads for this process, where 0 asks for all cores of the machine, which the ranks on it share.
[[nodiscard]] int own_threads(int wanted);

/// First of all: finds the other ranks, and keeps to itself what ranks other than the first would print.
void join_ranks();
/// The last thing after an error, whose message was printed: ends the other ranks too, unless they have ended with the
/// same error, of which one message is enough.
[[nodiscard]] int end_after_error(int code);

}  // namespace tracenorm::app
