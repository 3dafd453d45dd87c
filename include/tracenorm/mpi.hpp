// The ranks that a batch system or mpirun has started, by MPI; a build without it says so.
#pragma once

#include <memory>
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
/// Those of a communicator that somebody else has made, by its number in Fortran (mpi4py: `comm.py2f()`); MPI must have
/// begun. All of its ranks make this call, and end what it returns, together.
[[nodiscard]] std::unique_ptr<Ranks> ranks_of(int communicator);
/// After an error. True: all ranks have one, as when each read the same file, and the first should report it; false: it
/// is this rank's own. Waits for the others for a moment only; where ranks before this one have an error as well it
/// waits longer, for the first of them to report its own and to end all. The ranks are those of one of the calls above.
[[nodiscard]] bool all_failed(Ranks& ranks);
/// Ends all ranks, whatever they are doing.
[[noreturn]] void end_all_ranks(int code);

}  // namespace tracenorm
