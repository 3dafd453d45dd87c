# Finds LAPACKE and the BLAS beneath it (Debian: liblapacke-dev, libopenblas-dev); target LAPACKE::LAPACKE.
find_path(LAPACKE_INCLUDE_DIR lapacke.h PATH_SUFFIXES lapacke openblas)
find_library(LAPACKE_LIBRARY lapacke)
find_library(LAPACKE_BLAS_LIBRARY openblas)
if(NOT LAPACKE_LIBRARY AND LAPACKE_INCLUDE_DIR)  # OpenBLAS as its authors build it holds LAPACKE; Debian's does not
  set(LAPACKE_LIBRARY ${LAPACKE_BLAS_LIBRARY})
endif()
find_path(LAPACKE_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas x86_64-linux-gnu openblas-pthread
          x86_64-linux-gnu/openblas-pthread)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LAPACKE REQUIRED_VARS LAPACKE_LIBRARY LAPACKE_BLAS_LIBRARY LAPACKE_INCLUDE_DIR
                                  LAPACKE_CBLAS_INCLUDE_DIR)
if(LAPACKE_FOUND AND NOT TARGET LAPACKE::LAPACKE)
  add_library(LAPACKE::LAPACKE INTERFACE IMPORTED)
  set_target_properties(LAPACKE::LAPACKE PROPERTIES
    INTERFACE_LINK_LIBRARIES "${LAPACKE_LIBRARY};${LAPACKE_BLAS_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${LAPACKE_INCLUDE_DIR};${LAPACKE_CBLAS_INCLUDE_DIR}")
endif()
mark_as_advanced(LAPACKE_INCLUDE_DIR LAPACKE_LIBRARY LAPACKE_BLAS_LIBRARY LAPACKE_CBLAS_INCLUDE_DIR)
