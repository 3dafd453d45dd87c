// Panels in pieces: of left ones every rank has its rows, right ones are everywhere. What is summed over rows of a left
// panel the local panels sum over all shards; what goes to the host needs the others.
#pragma once

#include <memory>
#include <vector>

#include "distributed/share.hpp"
#include "seam/panels.hpp"

namespace tracenorm::distributed {

class DistributedPanels final : public Panels {
 public:
  /// The ranks must outlive it.
  DistributedPanels(std::shared_ptr<const Part> part, std::unique_ptr<Panels> local, Ranks& ranks);

  Panel make(Side side, Use use, Index columns) override { return local_->make(side, use, columns); }
  void upload(const Eigen::MatrixXd& from, const Panel& to) override;
  Eigen::MatrixXd download(const Panel& from) override;
  void draw(double size, Random& random, const Panel& panel) override;
  using Panels::gram;
  void gram(PanelList a, const Panel& b, Eigen::Ref<Eigen::MatrixXd> out) override { local_->gram(a, b, out); }
  using Panels::combine;
  void combine(double keep, PanelList in, const SmallMatrix& small, const Panel& out) override {
    local_->combine(keep, in, small, out);
  }
  void scale_rows(const Panel& panel, const Panel& factors) override { local_->scale_rows(panel, factors); }
  bool decompose(Panel& left, Eigen::VectorXd& values, Panel& right) override;
  [[nodiscard]] Offset length(const Panel& panel) override {
    return panel.side() == Side::left ? share_.all_rows() : panel.rows();
  }

 private:
  /// The rows here with those that others have of the blocks [first, last).
  Eigen::MatrixXd with_shared_rows(const Eigen::MatrixXd& mine, const std::vector<Index>& cuts, std::size_t first,
                                   std::size_t last);

  std::shared_ptr<const Part> part_;
  const Share& share_;
  std::unique_ptr<Panels> local_;
  Ranks& ranks_;
};

}  // namespace tracenorm::distributed
