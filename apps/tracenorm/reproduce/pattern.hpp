// Where an answer is nonzero, as a picture and as numbers.
#pragma once

#include <string>

#include "reproduce/experiment.hpp"

namespace tracenorm::app {

/// Holds a saved model against the true matrix: entries count as nonzero above a hundredth of the largest, as in the
/// paper. Gives precision, recall and f1 of the pattern, the relative error in the Frobenius norm, and two pictures
/// (PNG, base64) whose cells are the darker the more of their entries are nonzero.
Json describe_pattern(const std::string& model_file, const std::string& truth_file);

}  // namespace tracenorm::app
