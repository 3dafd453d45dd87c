// Names of parameterised tests.
#pragma once

#include <cctype>
#include <string>

namespace tracenorm::test {

/// The text with everything GoogleTest does not allow in a name turned into an underscore.
inline std::string identifier(std::string text) {
  for (char& c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return text;
}

}  // namespace tracenorm::test
