// Searches that the host does not see, against those that it does: the Krylov space is the same, and so is what is best
// in it. And against a dense SVD.
#include "solver/unseen_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cpu/panels.hpp"
#include "support/dense_svd.hpp"
#include "support/random_matrices.hpp"

namespace tracenorm {
namespace {

using test::normal_matrix;

constexpr int kBlocks = 8;
constexpr double kDependent = 1e-6;

/// Singular values that fall like those of slopes, and some that do not.
Eigen::MatrixXd falling(Random& random, Eigen::Index rows, Eigen::Index cols, double by) {
  Eigen::VectorXd values(8);
  for (Eigen::Index k = 0; k < 8; ++k) values[k] = std::pow(by, static_cast<double>(k));
  return normal_matrix(rows, 8, random) * values.asDiagonal() * normal_matrix(cols, 8, random).transpose() +
         0.1 * normal_matrix(rows, cols, random);
}

class Searched {
 public:
  Searched(const Eigen::MatrixXd& m, Index columns)
      : m_(m),
        execution_(1),
        panels_(static_cast<Index>(m.cols()), {}, Shards({{0, static_cast<Index>(m.rows())}}), execution_),
        krylov_(panels_, Use::search, columns, kBlocks),
        unseen_(panels_),
        start_(panels_.make(Side::right, Use::search, columns)) {
    for (int j = 0; j < kBlocks; ++j) images_.push_back(panels_.make(Side::left, Use::search, columns));
  }

  void draw(Random& random, double size = 1) { panels_.draw(size, random, start_); }
  void set_matrix(const Eigen::MatrixXd& m) { m_ = m; }
  UnseenSearch& unseen() { return unseen_; }

  KrylovResult seen(int products, double relative = 0) {
    orthonormalize(panels_, start_);
    KrylovResult found =
        krylov_.leading([&](int j, const Panel& q, const Panel& out) { apply(j, q, out); }, start_, relative, products);
    unseen_.learn(krylov_.ritz_values());
    return found;
  }
  bool unseen(int products, KrylovResult& found) {
    return unseen_.find([&](int j, const Panel& q, const Panel& out) { apply(j, q, out); }, krylov_.basis(products),
                        krylov_.rest(), PanelList(images_.data(), static_cast<std::size_t>(products)), start_,
                        kDependent, found);
  }
  /// What is found: the right vector, and its image.
  std::pair<Eigen::VectorXd, Eigen::VectorXd> pair(const KrylovResult& found) {
    const Panel right = panels_.make(Side::right, Use::exact, 1);
    const Panel left = panels_.make(Side::left, Use::exact, 1);
    panels_.combine(0, krylov_.basis(found.blocks), found.weights, right);
    panels_.combine(0, PanelList(images_.data(), static_cast<std::size_t>(found.blocks)), found.weights, left);
    return {panels_.download(right), panels_.download(left)};
  }

 private:
  void apply(int j, const Panel& q, const Panel& out) {
    const Eigen::MatrixXd image = m_ * panels_.download(q);
    panels_.upload(image, images_[static_cast<std::size_t>(j)]);
    if (out) panels_.upload(m_.transpose() * image, out);
  }

  Eigen::MatrixXd m_;
  Execution execution_;
  cpu::CpuPanels panels_;
  BlockKrylov krylov_;
  UnseenSearch unseen_;
  Panel start_;
  std::vector<Panel> images_;
};

class UnseenCase : public testing::TestWithParam<std::tuple<double, Index>> {};

TEST_P(UnseenCase, FindsWhatASearchThatIsSeenFinds) {
  const auto [by, columns] = GetParam();
  Random random(7);
  const Eigen::MatrixXd m = falling(random, 120, 90, by);
  const double square = std::pow(test::singular_values(m)[0], 2);
  const double rounding = 1e3 * static_cast<double>(std::numeric_limits<Real>::epsilon());
  for (const int products : {2, 3, 6, 8}) {
    Searched one(m, columns);
    Searched other(m, columns);
    Random same(8);
    Random again(8);
    one.draw(same);
    other.draw(again);
    one.seen(3);
    other.seen(3);
    for (int turn = 0; turn < 3; ++turn) {
      one.draw(same, 0.02);
      other.draw(again, 0.02);
      KrylovResult found;
      ASSERT_TRUE(other.unseen(products, found));
      const KrylovResult expected = one.seen(products);
      // What is nearly dependent was left out, and may have held a little.
      EXPECT_GE(found.eigenvalue, expected.eigenvalue * (1 - 1e-3)) << products << " products, turn " << turn;
      EXPECT_LE(found.eigenvalue, square * (1 + rounding));
      const auto [v, image] = other.pair(found);
      EXPECT_NEAR(v.norm(), 1, rounding);
      EXPECT_NEAR(image.norm(), std::sqrt(found.eigenvalue), rounding * std::sqrt(square));
      EXPECT_LE((m * v - image).norm(), rounding * std::sqrt(square)) << "the image is that of the vector";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Spectra, UnseenCase,
                         testing::Combine(testing::Values(0.3, 0.9, 1.0), testing::Values(Index{1}, Index{4})));

TEST(UnseenSearch, FollowsAMatrixThatGrowsAndShrinks) {
  Random random(9);
  const Eigen::MatrixXd m = falling(random, 60, 50, 0.7);
  const double sigma = test::singular_values(m)[0];
  Searched search(m, 1);
  search.draw(random);
  search.seen(6);
  for (const double size : {1.0, 3.0, 100.0, 1.0, 1e-3}) {
    search.set_matrix(size * m);
    KrylovResult found;
    for (int turn = 0; turn < 2; ++turn) {  // the first one goes by shifts of another size
      search.draw(random, 0.01);
      ASSERT_TRUE(search.unseen(6, found));
    }
    EXPECT_NEAR(std::sqrt(found.eigenvalue), size * sigma, 1e-2 * size * sigma);
  }
}

TEST(UnseenSearch, KnowsNothingAfterNumbersThatAreNotFinite) {
  Random random(10);
  Eigen::MatrixXd m = falling(random, 30, 20, 0.5);
  Searched search(m, 4);
  EXPECT_FALSE(search.unseen().ready());
  search.draw(random);
  search.seen(3);
  EXPECT_TRUE(search.unseen().ready());
  search.set_matrix(1e30 * m);  // too large for the range of Real, by shifts of another size
  KrylovResult found;
  EXPECT_FALSE(search.unseen(4, found));
  EXPECT_FALSE(search.unseen().ready());
}

TEST(UnseenSearch, AZeroMatrixAndOneOfRankOne) {
  Random random(12);
  const Eigen::MatrixXd one = normal_matrix(30, 1, random) * normal_matrix(1, 20, random);
  Searched search(one, 4);
  search.draw(random);
  search.seen(2);
  KrylovResult found;
  ASSERT_TRUE(search.unseen(3, found));
  EXPECT_NEAR(std::sqrt(found.eigenvalue), one.norm(), 1e-3 * one.norm());
  search.set_matrix(Eigen::MatrixXd::Zero(30, 20));
  search.draw(random, 0.01);
  ASSERT_TRUE(search.unseen(3, found));
  EXPECT_EQ(found.eigenvalue, 0);
  EXPECT_FALSE(search.unseen().ready());
}

}  // namespace
}  // namespace tracenorm
