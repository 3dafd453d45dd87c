# First values of the cache for wheels that are given away: what Debian has as a static library goes into the module itself, which
# leaves OpenBLAS with Fortran's runtime, fmt, bzip2 and zstd for auditwheel to put beside it.
function(static_library variable name)
  execute_process(COMMAND c++ -print-file-name=lib${name}.a OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT IS_ABSOLUTE ${path})
    message(FATAL_ERROR "lib${name}.a was not found: install its development package (see tools/packages.txt)")
  endif()
  set(${variable} ${path} CACHE FILEPATH "")
endfunction()
static_library(LAPACKE_LIBRARY lapacke)
static_library(LibArchive_LIBRARY archive)
static_library(ZLIB_LIBRARY z)
# libarchive names every format that it can write in one table. One that we do not write, xar, would bring libxml2 and all of
# Unicode's tables (35 MB). Its random numbers, for encryption alone, would ask for glibc 2.36: instead they fail, by a function that
# never returns zero, with libarchive's own message.
set(CMAKE_MODULE_LINKER_FLAGS
    "-Wl,--defsym=archive_write_set_format_xar=0 -Wl,--defsym=archive_random=archive_version_number -Wl,--as-needed" CACHE STRING "")
set(CMAKE_CXX_STANDARD_LIBRARIES "-l:liblzma.a -l:libnettle.a -l:libbz2.so.1.0 -l:libzstd.so.1 -l:libacl.so.1" CACHE STRING "")
