# tracenorm_embed_text(TARGET HEADER NAMESPACE NAME FILE [NAME FILE]...): text files become constants of the program, so that
# an installed one needs no files beside it. HEADER declares `extern const std::string_view NAME` for each in NAMESPACE.
set(tracenorm_embed_script ${CMAKE_CURRENT_LIST_DIR}/embed_text_script.cmake)

function(tracenorm_embed_text target header namespace)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  get_filename_component(stem ${header} NAME_WE)
  set(declarations "")
  set(sources "")
  set(arguments ${ARGN})
  while(arguments)
    list(POP_FRONT arguments name file)
    get_filename_component(file ${file} ABSOLUTE)
    string(APPEND declarations "extern const std::string_view ${name};\n")
    set(source ${folder}/${stem}_${name}.cpp)
    add_custom_command(OUTPUT ${source}
      COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DNAMESPACE=${namespace} -DFILE=${file} -DOUTPUT=${source} -DHEADER=${header}
              -P ${tracenorm_embed_script}
      DEPENDS ${file} ${tracenorm_embed_script} VERBATIM)
    list(APPEND sources ${source})
  endwhile()
  file(CONFIGURE OUTPUT ${folder}/${header} CONTENT
"// Made by cmake/EmbedText.cmake.
#pragma once

#include <string_view>

namespace @namespace@ {
@declarations@}  // namespace @namespace@
" @ONLY)
  # The standard promises less than a compiler takes.
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
  target_sources(${target} PRIVATE ${sources})
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
