# tracenorm_compile_together(TARGET FOLDER...): the files of each of these folders are compiled as one; without folders, twelve files
# at a time. What many of them instantiate (Eigen's products, CLI11's parser) is instantiated once instead of once a file. Names in
# anonymous namespaces must differ then. clang-tidy reads them together too, in a tenth of the time. With CMAKE_UNITY_BUILD=OFF every
# file is compiled by itself, as somebody who changes one file again and again wants it.
function(tracenorm_compile_together target)
  if(DEFINED CMAKE_UNITY_BUILD AND NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  if(ARGN)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(folder IN LISTS ARGN)
    set(files ${sources})
    list(FILTER files INCLUDE REGEX "^${folder}/[^/]+$")
    string(MAKE_C_IDENTIFIER ${folder} group)
    set_source_files_properties(${files} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
