# Whether one program may be several ranks (mpirun): sets TRACENORM_HAS_MPI. Off unless asked for; programs that are built with it and
# started without mpirun do not begin MPI.
option(TRACENORM_MPI "Ranks that share the rows of a matrix, by MPI" OFF)
set(TRACENORM_HAS_MPI OFF)
if(TRACENORM_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
  set(TRACENORM_HAS_MPI ON)
  message(STATUS "MPI: ${MPI_C_LIBRARIES}")
endif()
