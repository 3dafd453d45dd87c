// Small matrices in the host's panels.
#pragma once

#include <Eigen/Core>

#include "cpu/panels.hpp"
#include "solver/factored_matrix.hpp"

namespace tracenorm::test {

/// Panels on the host, and atoms in them.
struct Host {
  // NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject): it does not look into the panels' constructor
  Host(Index m, Index n, int threads = 1)
      : rows(m), cols(n), execution(threads), panels(n, {}, Shards({{0, m}}), execution) {}
  Panel vector(Side side, const Eigen::VectorXd& v) {
    Panel panel = panels.make(side, Use::exact, 1);
    panels.upload(v, panel);
    return panel;
  }
  Atom atom(const Eigen::VectorXd& u, const Eigen::VectorXd& v, double weight) {
    return {vector(Side::left, u), vector(Side::right, v), weight};
  }
  Eigen::MatrixXd dense(const FactoredMatrix& x) const { return x.download(rows, cols).dense(); }

  Index rows;
  Index cols;
  Execution execution;
  cpu::CpuPanels panels;
};

}  // namespace tracenorm::test
