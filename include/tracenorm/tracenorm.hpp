// Everything at once.
#pragma once

#include "tracenorm/io.hpp"
#include "tracenorm/model.hpp"
#include "tracenorm/preparation.hpp"
#include "tracenorm/radius_path.hpp"
#include "tracenorm/solve.hpp"
#include "tracenorm/version.hpp"
