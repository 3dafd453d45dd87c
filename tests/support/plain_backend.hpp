// A backend of plain loops: what each verb of the seam means, in double on full matrices. Small problems only. It is
// the specification that the others are compared with, and an example of how little a backend has to write.
#pragma once

#include "seam/backend.hpp"

namespace tracenorm::test {

const Backend& plain_backend();

}  // namespace tracenorm::test
