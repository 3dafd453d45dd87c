# tracenorm_precompile(TARGET HEADER...): what most files of a target include and none of us changes (templates of other
# libraries above all) is parsed once instead of once a file. Files still include what they use: the preset `tidy` compiles
# without this and fails where one does not. Not for headers with code of their own that is no template (CLI11, nlohmann/json):
# what that code instantiates would be instantiated again in every file, whether it uses the header or not.
# tracenorm_precompile(TARGET REUSE_FROM OTHER): the same headers as another target with the same flags, parsed there.
function(tracenorm_precompile target first)
  if(first STREQUAL REUSE_FROM)
    target_precompile_headers(${target} REUSE_FROM ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${first} ${ARGN} <algorithm> <cmath> <filesystem> <functional> <map> <memory>
      <optional> <span> <string> <string_view> <variant> <vector>)
  endif()
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # or the cache never finds a file again
  endif()
endfunction()
