# Whether the CUDA backend is built: sets TRACENORM_HAS_CUDA, and says in one line what happened. AUTO builds it where a toolkit is
# found; its absence costs nothing. Programs start without CUDA in any case: its runtime is linked statically, the driver is looked for
# when a device is asked for.
set(TRACENORM_CUDA AUTO CACHE STRING "The CUDA backend: AUTO (where a toolkit is found), ON or OFF")
set_property(CACHE TRACENORM_CUDA PROPERTY STRINGS AUTO ON OFF)
set(TRACENORM_HAS_CUDA OFF)

set(oldest_toolkit 12.0)  # the first that compiles C++20
set(why_not "")
if(TRACENORM_SANITIZE)
  set(why_not "sanitizers are for the host's code")
elseif(TRACENORM_DOUBLE)
  set(why_not "its kernels keep entries in float")
elseif(NOT TRACENORM_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit ${oldest_toolkit} QUIET)
  if(NOT CUDAToolkit_FOUND OR NOT CUDAToolkit_NVCC_EXECUTABLE)
    set(why_not "no toolkit of version ${oldest_toolkit} or later was found")
  endif()
endif()

if(TRACENORM_CUDA STREQUAL "OFF")
  message(STATUS "CUDA backend: left out (TRACENORM_CUDA=OFF)")
elseif(why_not AND TRACENORM_CUDA STREQUAL "ON")
  message(FATAL_ERROR "TRACENORM_CUDA=ON, but the CUDA backend cannot be built: ${why_not}")
elseif(why_not)
  message(STATUS "CUDA backend: left out, ${why_not}")
else()
  if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
  # Machine code for the two generations of data-centre devices, and code that later ones compile for themselves.
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  endif()
  if(NOT CMAKE_CUDA_COMPILER_LAUNCHER)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has learnt it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  endif()
  set(TRACENORM_HAS_CUDA ON)
  message(STATUS "CUDA backend: built with ${CUDAToolkit_NVCC_EXECUTABLE}, version ${CUDAToolkit_VERSION}")
endif()
