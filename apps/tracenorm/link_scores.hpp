// What an answer says of pairs: how well it tells links from others, and which pairs without a link look like one.
#pragma once

#include "link_data.hpp"
#include "report/run_report.hpp"

namespace tracenorm::app {

/// Which pairs are listed.
struct LinkList {
  std::size_t top = 0;           ///< at most so many; 0: no list
  std::vector<Index> of_rows{};  ///< only pairs with one of these, or of those below; both empty: all
  std::vector<Index> of_cols{};
};

/// Judges by the pairs that `data` does not hold (the paper's protocol), and lists.
void judge_unseen(const LinkMatrix& graph, const DenseObservations& data, const LinkProtocol& protocol,
                  const LinkList& list, report::RunReport& report);

/// Judges by the hidden links and as many pairs without a link (the usual protocol), and lists.
void judge_hidden(const LinkMatrix& graph, std::uint64_t seed, const LinkList& list, report::RunReport& report);

/// The list as lines of two nodes, score and share, separated by tabs.
std::string to_lines(const report::RunReport& report);

}  // namespace tracenorm::app
