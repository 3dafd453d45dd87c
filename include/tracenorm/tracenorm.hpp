// Everything at once.
#pragma once

#include "tracenorm/covariance.hpp"
#include "tracenorm/fit.hpp"
#include "tracenorm/fold_in.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/model.hpp"
#include "tracenorm/options.hpp"
#include "tracenorm/sparse_estimate.hpp"
#include "tracenorm/verify.hpp"
#include "tracenorm/version.hpp"
