// What an answer says of pairs: how well it tells links from others, and which pairs without a link look like one.
#pragma once

#include "link_data.hpp"
#include "report/run_report.hpp"

namespace tracenorm::app {

/// Which pairs are listed.
struct LinkList {
  std::size_t top = 0;            ///< at most so many; 0: no list
  std::vector<Index> of_nodes{};  ///< only pairs with one of these; empty: all
};

/// Judges by the pairs that `data` does not hold (the paper's protocol), and lists.
void judge_unseen(const Neighbours& graph, const DenseObservations& data, const LinkProtocol& protocol,
                  const LinkList& list, report::RunReport& report);

/// Judges by the hidden links and as many pairs without a link (the usual protocol), and lists.
void judge_hidden(const io::Graph& edges, const Neighbours& graph, const Neighbours& hidden,
                  const LinkProtocol& protocol, const LinkList& list, report::RunReport& report);

/// The list as lines of two nodes, score and share, separated by tabs.
std::string to_lines(const report::RunReport& report);

}  // namespace tracenorm::app
