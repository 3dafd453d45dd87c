// What there is of MPI in a build without it.
#include <cstdlib>

#include "base/topic.hpp"
#include "tracenorm/error.hpp"
#include "tracenorm/mpi.hpp"

namespace tracenorm {

std::string why_no_mpi() {
  return "this build has no MPI; make one with `make build MPI=yes` (CMake: TRACENORM_MPI=ON)";
}

Ranks* mpi_ranks() {
  if (!started_among_ranks()) return nullptr;
  throw TopicError(ErrorCode::usage, Topic::ranks, "started as one of several ranks, but " + why_no_mpi());
}

std::unique_ptr<Ranks> ranks_of(int) { throw Error(ErrorCode::usage, why_no_mpi()); }

bool all_failed(Ranks&) { return false; }

void end_all_ranks(int code) { std::_Exit(code); }

}  // namespace tracenorm
