// Panels in the memory of a CUDA device. Exact ones are columns of doubles, those in Real are rows.
#pragma once

#include <memory>

#include "base/execution.hpp"
#include "cuda/device.hpp"
#include "cuda/vectors.hpp"
#include "linalg/lapack.hpp"
#include "seam/panels.hpp"

namespace tracenorm::cuda {

View view(const Panel& panel);
/// The first number of a whole panel, or null where there is none.
inline double* doubles(const Panel& panel) {
  return panel ? static_cast<double*>(panel.data()) + panel.first() * panel.rows() : nullptr;
}
inline Real* reals(const Panel& panel) { return static_cast<Real*>(panel.data()); }

class CudaPanels final : public Panels {
 public:
  CudaPanels(Index rows, Index cols, std::shared_ptr<Device> device, const Execution& execution)
      : rows_(rows), cols_(cols), device_(std::move(device)), execution_(execution) {}

  Panel make(Side side, Use use, Index columns) override;
  void upload(const Eigen::MatrixXd& from, const Panel& to) override;
  Eigen::MatrixXd download(const Panel& from) override;
  void draw(double size, Random& random, const Panel& panel) override;
  using Panels::gram;
  void gram(PanelList a, const Panel& b, Eigen::Ref<Eigen::MatrixXd> out) override;
  using Panels::combine;
  void combine(double keep, PanelList in, const SmallMatrix& small, const Panel& out) override;
  void scale_rows(const Panel& panel, const Panel& factors) override;
  void take_out(PanelList basis, const Panel& block, Eigen::Ref<Eigen::MatrixXd> projection,
                Eigen::Ref<Eigen::MatrixXd> square) override;
  void grams(PanelList a, Eigen::Ref<Eigen::MatrixXd> of_a, PanelList b, Eigen::Ref<Eigen::MatrixXd> of_b) override;
  /// On the host, seldom.
  bool decompose(Panel& left, Eigen::VectorXd& values, Panel& right) override;

 private:
  Index rows_;
  Index cols_;
  std::shared_ptr<Device> device_;
  const Execution& execution_;
  lapack::OneThread blas_;
  /// Whether there is a kernel for it.
  static bool takes_out(PanelList basis, const Panel& block);

  DeviceArray<double> small_;  // a Gram matrix that stays on the device
};

}  // namespace tracenorm::cuda
