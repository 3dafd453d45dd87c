// Models as files, for the folders that are made of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tracenorm/model.hpp"

namespace tracenorm::io {

/// A model that is not made of numbers must not be written over a good one.
void require_finite(const Model& model, const std::string& path);

/// The bytes of the file, in pieces.
void write_model_to(const std::function<void(std::string_view bytes)>& sink, const Model& model);

Model read_model_parts(const std::string& folder);

}  // namespace tracenorm::io
