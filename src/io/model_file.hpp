// Models as files, for the folders that are made of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/row_blocks.hpp"
#include "tracenorm/model.hpp"

namespace tracenorm::io {

/// A model that is not made of numbers must not be written over a good one.
void require_finite(const Model& model, const std::string& path);

/// The bytes of the file, in pieces.
void write_model_to(const std::function<void(std::string_view bytes)>& sink, const Model& model);

/// A model of which this rank keeps its own rows, numbered from 0, and all columns: nothing more of other rows' factors
/// is in memory than a piece of a file. What `blocks` says of blocks and ranks is the caller's, the number of rows is
/// settled here. Of a folder, files without rows of this rank are not opened.
Model read_model(const std::string& path, RowBlocks& blocks);

/// A file whose first row is row `first` of the whole model. Where the number of rows is not settled, it is the whole.
Model read_model_file(const std::string& path, RowBlocks& blocks, Index first);
Model read_model_parts(const std::string& folder, RowBlocks& blocks);

}  // namespace tracenorm::io
