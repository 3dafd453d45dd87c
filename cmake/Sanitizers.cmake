# One place for sanitizers: TRACENORM_SANITIZE=address,undefined or thread.
if(TRACENORM_SANITIZE)
  add_compile_options(-fsanitize=${TRACENORM_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g)
  add_link_options(-fsanitize=${TRACENORM_SANITIZE})
endif()
