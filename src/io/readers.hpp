// One reader a format. All give the entries in the order of the file, with duplicates still in.
#pragma once

#include <string_view>
#include <vector>

#include "base/execution.hpp"
#include "io/archive.hpp"
#include "io/duplicates.hpp"
#include "io/several_texts.hpp"
#include "io/source.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm::io {

ParsedEntries read_triplets(ByteSource source, const ReadOptions& options);
ParsedEntries read_triplets(const std::vector<TextParts>& texts, const ReadOptions& options);
/// The lines of one rank, with ids numbered as those of all texts.
struct TripletStretch {
  ParsedEntries parsed;     ///< without `where`
  EntryLines lines;         ///< counted from the first of the stretch
  FileLines files;          ///< of all lines
  Offset lines_before = 0;  ///< of all texts
};
/// Ranks read the texts, one after the other, in stretches of about equally many bytes.
TripletStretch read_stretch(const std::vector<TextParts>& texts, const ReadOptions& options, Ranks& ranks);
ParsedEntries read_libmf(ByteSource source, const ReadOptions& options);
ParsedEntries read_libmf(const std::vector<TextParts>& texts, const ReadOptions& options);
ParsedEntries read_sparse_npz(ArchiveReader archive);

Graph read_edges(ByteSource source, GraphKind kind, const Execution& execution);
/// An undirected graph as its symmetric matrix of ones.
NamedEntries entries_of(const Graph& graph);
/// Nonzero entries are edges.
Graph graph_of(const NamedEntries& data, const std::string& name, GraphKind kind, const Execution& execution);

/// An array file becomes its entries.
ParsedEntries read_matrix_market(ByteSource source, const Execution& execution);
/// Array files only: see `is_matrix_market_array`.
Matrix read_matrix_market_array(ByteSource source, const Execution& execution);
bool is_matrix_market_array(ByteSource& source);
bool is_matrix_market(std::string_view head);

Matrix read_npy(ByteSource source, const Execution& execution);
Matrix read_matrix_text(ByteSource source, const ReadOptions& options, const Execution& execution);

/// The entries of a full matrix that are not missing, with indices from `base` as labels.
ParsedEntries entries_of(const Matrix& matrix, const std::string& name, int base, const Execution& execution);

}  // namespace tracenorm::io
