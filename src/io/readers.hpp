// One reader a format. All give the entries in the order of the file, with duplicates still in.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "io/archive.hpp"
#include "io/duplicates.hpp"
#include "io/source.hpp"
#include "tracenorm/io.hpp"
#include "tracenorm/ranks.hpp"

namespace tracenorm::io {

ParsedEntries read_triplets(ByteSource source, const ReadOptions& options);
/// A text that can be opened several times.
struct TextParts {
  std::function<ByteSource(std::uint64_t from)> open;  ///< its bytes from this one on
  std::function<std::uint64_t()> size;                 ///< of all, unpacked; every rank asks
};
/// The lines of one rank, with ids numbered as those of the whole text.
struct TripletStretch {
  ParsedEntries parsed;     ///< without `where`
  EntryLines lines;         ///< counted from the first of the stretch
  Offset lines_before = 0;  ///< of the whole text
};
/// Ranks read the text in stretches of about equally many bytes, in their order.
TripletStretch read_stretch(const TextParts& text, const ReadOptions& options, Ranks& ranks);
ParsedEntries read_libmf(ByteSource source, const ReadOptions& options);
ParsedEntries read_sparse_npz(ArchiveReader archive);

Graph read_edges(ByteSource source, GraphKind kind = GraphKind::undirected);
/// An undirected graph as its symmetric matrix of ones.
NamedEntries entries_of(const Graph& graph);
/// Nonzero entries are edges.
Graph graph_of(const NamedEntries& data, const std::string& name, GraphKind kind);

/// An array file becomes its entries.
ParsedEntries read_matrix_market(ByteSource source);
/// Array files only: see `is_matrix_market_array`.
Matrix read_matrix_market_array(ByteSource source);
bool is_matrix_market_array(ByteSource& source);
bool is_matrix_market(std::string_view head);

Matrix read_npy(ByteSource source);
Matrix read_matrix_text(ByteSource source, const ReadOptions& options);

/// The entries of a full matrix that are not missing, with indices from `base` as labels.
ParsedEntries entries_of(const Matrix& matrix, const std::string& name, int base);

}  // namespace tracenorm::io
