// The ranks that a batch system or mpirun has started, by MPI; mpi.cpp is the only file that knows it. A build without
// MPI has absent.cpp in its place.
#pragma once

#include <string>

#include "tracenorm/ranks.hpp"

namespace tracenorm {

/// Whether this process was started as one of several; `mpirun -n 1` is none.
[[nodiscard]] bool started_among_ranks();
/// Why this build cannot be one of them; empty where it can.
[[nodiscard]] std::string why_no_mpi();
/// The ranks this process was started among, null where it was started alone. Begins MPI when first called, which ends
/// with the process. A usage error where the build has no MPI.
[[nodiscard]] Ranks* mpi_ranks();
/// After an error. True: all ranks have one, as when each read the same file, and the first should report it; false: it
/// is this rank's own. Waits for the others for a moment only.
[[nodiscard]] bool all_failed();
/// Ends all ranks, whatever they are doing.
[[noreturn]] void end_all_ranks(int code);

}  // namespace tracenorm
