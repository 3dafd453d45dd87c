# tracenorm_precompile(TARGET HEADER...): what most files of a target include and none of us changes (templates of other
# libraries above all) is parsed once instead of once a file. Files still include what they use: the preset `tidy` compiles
# without this and fails where one does not.
function(tracenorm_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN} <algorithm> <cmath> <filesystem> <functional> <map> <memory> <optional>
    <span> <string> <string_view> <variant> <vector>)
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # or the cache never finds a file again
  endif()
endfunction()
