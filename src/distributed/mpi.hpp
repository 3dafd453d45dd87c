// mpi.cpp is the only file that knows MPI; a build without it has absent.cpp in its place.
#pragma once

#include "tracenorm/mpi.hpp"
