# Debian packages, by `make deb`: `tracenorm` (the program, its manual page, completions) and `libtracenorm-dev` (libraries, headers,
# files for CMake and pkg-config). CPack calls dpkg-shlibdeps, which says what the program depends on.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "low-rank matrix estimation with nonsmooth losses and a certificate")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The tracenorm authors <authors@tracenorm.invalid>" CACHE STRING "Who maintains the Debian packages")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME tracenorm)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Fills in matrices of which some entries are known, some of them grossly
wrong; estimates sparse and low-rank matrices; predicts links of graphs.
Losses may have kinks, there is no rank to choose, and every answer comes
with a certified bound on its distance from the optimum.

This package has the program.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtracenorm-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libeigen3-dev, libfmt-dev, liblapacke-dev, libopenblas-dev, libarchive-dev, zlib1g-dev, nlohmann-json3-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Solves convex problems over matrices of bounded trace norm. Losses may have
kinks, there is no rank to choose, and every answer comes with a certified
bound on its distance from the optimum.

This package has the static libraries, the headers, and what CMake and
pkg-config need to find them.")

# What the policy of Debian wants beside the files. It goes into packages alone, not to where `make install` puts things.
find_program(TRACENORM_GZIP gzip)
mark_as_advanced(TRACENORM_GZIP)
if(TRACENORM_GZIP)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/changelog.Debian CONTENT
"tracenorm (@PROJECT_VERSION@-@CPACK_DEBIAN_PACKAGE_RELEASE@) unstable; urgency=medium

  * Release @PROJECT_VERSION@; changelog.gz says what is new.

 -- @CPACK_DEBIAN_PACKAGE_MAINTAINER@  @date@
" @ONLY)
  file(READ LICENSE license)
  string(REGEX REPLACE "\n" "\n " license "${license}")
  string(REGEX REPLACE "\n *\n" "\n .\n" license "${license}")
  string(STRIP "${license}" license)
  file(READ packaging/copyright.in copyright)
  string(CONFIGURE "${copyright}" copyright @ONLY)
  file(WRITE ${PROJECT_BINARY_DIR}/debian/copyright "${copyright}")
  file(COPY_FILE CHANGELOG.md ${PROJECT_BINARY_DIR}/debian/changelog ONLY_IF_DIFFERENT)
  foreach(file changelog changelog.Debian)
    execute_process(COMMAND ${TRACENORM_GZIP} -9nkf ${PROJECT_BINARY_DIR}/debian/${file} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  foreach(component program development)
    string(TOUPPER ${component} upper)
    install(FILES ${PROJECT_BINARY_DIR}/debian/copyright ${PROJECT_BINARY_DIR}/debian/changelog.gz
                  ${PROJECT_BINARY_DIR}/debian/changelog.Debian.gz
            DESTINATION share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} COMPONENT ${component} EXCLUDE_FROM_ALL)
  endforeach()
endif()
include(CPack)
