# cmake -DNAME=... -DNAMESPACE=... -DFILE=... -DOUTPUT=... -DHEADER=... -P: one text file as a C++ constant. See EmbedText.cmake.
file(READ "${FILE}" text)
string(FIND "${text}" ")embedded\"" clash)
if(NOT clash EQUAL -1)
  message(FATAL_ERROR "${FILE}: contains the mark that ends the constant")
endif()
file(WRITE "${OUTPUT}" "// Made from ${FILE}.
#include \"${HEADER}\"

namespace ${NAMESPACE} {
extern const std::string_view ${NAME};
const std::string_view ${NAME} = R\"embedded(")
file(APPEND "${OUTPUT}" "${text}")
file(APPEND "${OUTPUT}" ")embedded\";
}  // namespace ${NAMESPACE}
")
