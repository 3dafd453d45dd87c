// Models of which each rank reads its rows: all of them together read what one process reads, and refuse what it
// refuses.
#include "io/model_file.hpp"
#include "member_names.hpp"
#include "packed.hpp"
#include "target.hpp"
#include "tracenorm/io.hpp"

namespace {

using namespace tracenorm;

void require(bool right) {
  if (!right) std::abort();
}

template <class Value>
void require_rows(const std::vector<Value>& mine, const std::vector<Value>& all, const RowBlocks& blocks) {
  require(mine.empty() == (all.empty() || blocks.count() == 0));
  for (std::size_t k = 0; k < mine.size(); ++k)
    require(mine[k] == all.at(static_cast<std::size_t>(blocks.whole(Index(k)))));
}

/// That `mine` has the rows of `all` that `blocks` say.
void require_part(const Model& mine, const Model& all, const RowBlocks& blocks) {
  require(blocks.rows == all.factors.rows() && mine.factors.rows() == blocks.count());
  require(mine.factors.cols() == all.factors.cols() && mine.factors.terms() == all.factors.terms());
  for (Index k = 0; k < mine.factors.rows(); ++k)
    require(mine.factors.left().row(k) == all.factors.left().row(blocks.whole(k)));
  require(mine.factors.right() == all.factors.right() && mine.factors.values() == all.factors.values());
  require_rows(mine.rows.names, all.rows.names, blocks);
  require_rows(mine.preparation.row_offset, all.preparation.row_offset, blocks);
  require(mine.cols.names == all.cols.names && mine.preparation.col_offset == all.preparation.col_offset);
  require(mine.spread.has_value() == all.spread.has_value() && mine.metadata == all.metadata);
  if (all.spread) require_rows(mine.spread->row, all.spread->row, blocks);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string& file = fuzz::file_of(fuzz::packed(fuzz::text_of(data, size), fuzz::model_names()));
  std::optional<Model> all;
  fuzz::may_refuse([&] { all = io::read_model(file); });
  constexpr int ranks = 3;
  int read = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    fuzz::may_refuse([&] {
      RowBlocks blocks{.rank = rank, .ranks = ranks, .block = static_cast<Index>(size % 3)};  // 0: a block a rank
      const Model mine = io::read_model(file, blocks);
      if (all) require_part(mine, *all, blocks);
      ++read;
    });
  }
  require((read == ranks) == all.has_value());
  return 0;
}
