#include <cstdlib>

#include "tracenorm/mpi.hpp"

namespace tracenorm {

bool started_among_ranks() {
  // Open MPI, MPICH and its kin, Slurm's srun with PMI: each says how many there are.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    const char* size = std::getenv(name);
    if (size != nullptr && std::atoi(size) > 1) return true;
  }
  return false;
}

}  // namespace tracenorm
