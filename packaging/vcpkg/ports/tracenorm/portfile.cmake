# An overlay port that builds the sources it lies in: vcpkg install tracenorm --overlay-ports=packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DTRACENORM_APPS=OFF -DTRACENORM_TESTS=OFF -DTRACENORM_EXAMPLES=OFF -DTRACENORM_WERROR=OFF -DTRACENORM_CUDA=OFF -DTRACENORM_MPI=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tracenorm)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
