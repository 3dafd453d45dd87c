// Which column of a text holds what: by the names of its header, by choice, or by what its first lines look like.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/text.hpp"

namespace tracenorm::io {

/// The first lines of data of a text (comments above them left out), cut into fields. A sample, never the whole file.
struct FirstLines {
  std::string name;  ///< of the file
  Separator separator = Separator::blank;
  std::vector<std::string> lines;
  std::vector<std::vector<std::string>> fields;
};
/// `fields` is how many a line needs to have at least; it decides about the separator.
FirstLines first_lines(const std::string& name, std::string_view text, std::size_t fields);

inline constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// Positions from 0, `nowhere` for what is not there.
struct ColumnPlaces {
  std::size_t row = 0;
  std::size_t col = 1;
  std::size_t value = 2;
  std::size_t weight = nowhere;
  std::size_t time = nowhere;
  bool header = false;  ///< whether the first line names the columns
  std::string words;    ///< for people: "row userId, column movieId, value rating; not used: timestamp"

  /// How many fields a line must have.
  [[nodiscard]] std::size_t needed() const;
};

/// What the lines of a file are: triplets have values, pairs need none.
enum class LineKind { triplets, pairs };

/// `chosen` as in `ReadOptions::columns`. Four or more columns that neither names nor their look explain are an error.
ColumnPlaces find_columns(const FirstLines& first, const std::vector<std::string>& chosen, LineKind kind);

/// The position of a column that a user named, or counted from 1; an error that names the setting where there is none.
std::size_t column_position(const std::string& wanted, const std::vector<std::string>& fields, bool by_name,
                            const std::string& file, const char* setting);

/// Whether a first line with these fields is a header: something that is not a number stands where the value belongs.
bool is_triplet_header(const std::vector<std::string>& fields, std::size_t value);

/// Whether the first line names row, column and value in words that are known.
bool names_triplet_columns(const FirstLines& first);

/// Whether a word above the first column says that it holds the names of the rows: "user", "id" or nothing.
bool names_rows(std::string_view word);

/// Whether the lines are rows of a full matrix: many columns of numbers and holes; the first line and column may be
/// names.
bool is_wide(const FirstLines& first);

}  // namespace tracenorm::io
