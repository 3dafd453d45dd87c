#include "solver/leading_pair.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tracenorm {

namespace {

/// How many blocks a search in Real keeps.
constexpr int kSearchBlocks = 8;

/// A product with M is half of one with M'M, and two of them find more: they see signs.
constexpr int kSymmetricBlocks = 16;
constexpr double kProductsOfPair = 1.5;

/// An oracle that wants more digits than this gets its products in double.
constexpr double kFastAccuracy = 1e-5;

/// A pass with a block of vectors finds as much as this many with one vector (docs/measurements.md).
constexpr int kProductsOfBlock = 2;

/// Where an answer takes this share of a pass, it is not asked for after every product: the last one is half a product
/// then, and how many are needed is known well enough from the search before.
constexpr double kSlowAnswer = 0.01;

/// A search that wants fewer digits than this may have rough products; and what is left out of its span then, and else.
constexpr double kRoughAccuracy = 3e-3;
constexpr double kRoughlyDependent = 1e-3;
constexpr double kDependent = 1e-6;

/// An eigenvalue is wrong by about the square of its residual. A search that the host does not see makes a product less
/// where the last one raised the eigenvalue by less than that, one more where it was this many times as much.
constexpr double kTooLittle = 10;

/// Norm of the noise added to a unit start vector.
constexpr double kStartNoise = 0.05;

void add_noise(Panels& panels, const Panel& block, bool warm, Random& random) {
  panels.draw((warm ? kStartNoise : 1.0) / std::sqrt(static_cast<double>(block.rows())), random, block);
}

}  // namespace

void draw_start(Panels& panels, const Panel& block, bool warm, Random& random) {
  add_noise(panels, block, warm, random);
  orthonormalize(panels, block);
}

LeadingPair::LeadingPair(SlopeMatrix& slopes, Panels& panels, const StoreFacts& facts, Symmetry symmetry,
                         Random& random)
    : slopes_(slopes),
      panels_(panels),
      random_(random),
      symmetry_(symmetry),
      columns_(facts.search_columns),
      unseen_(facts.work.answer > kSlowAnswer),
      krylov_(panels, Use::search, columns_, symmetry == Symmetry::none ? kSearchBlocks : kSymmetricBlocks,
              end_of(symmetry)),
      unseen_search_(panels),
      start_(panels.make(Side::right, Use::search, columns_)),
      left_(panels.make(Side::left, Use::exact, 1)),
      right_(panels.make(Side::right, Use::exact, 1)) {
  for (int j = 0; j < kSearchBlocks && symmetry == Symmetry::none; ++j)
    row_products_.push_back(panels.make(Side::left, Use::search, columns_));
}

const NormalProduct* LeadingPair::ride_along() {
  const bool wanted = std::exchange(first_, First::unwanted) == First::wanted;
  if (!wanted) return nullptr;
  draw();
  first_size_ = slopes_.size(Slopes::current);
  first_product_ = symmetry_ == Symmetry::none ? slopes_.begin(first_size_, start_, krylov_.rest(), row_products_[0])
                                               : slopes_.begin(first_size_, start_, {}, krylov_.rest());
  first_product_.rough = rough_;
  return &first_product_;
}

void LeadingPair::arrived() {
  slopes_.end(first_size_, first_product_);
  first_ = First::ready;
}

void LeadingPair::draw() {
  // A search that the host does not see finds out by itself what is orthogonal in its start.
  const auto make = unseen_ && unseen_search_.ready() ? add_noise : draw_start;
  make(panels_, start_, std::exchange(warm_, true), random_);
}

bool LeadingPair::take_first(First next) {
  return std::exchange(first_, next) == First::ready && slopes_.fits(first_size_, Slopes::current);
}

void LeadingPair::find_fast(const OracleAccuracy& accuracy) {
  rough_ = accuracy.relative >= kRoughAccuracy;
  bool first_known = take_first(First::wanted);
  if (!first_known) {
    draw();
    first_size_ = slopes_.size(Slopes::current);
  }
  // A single pass could only choose among what is known already.
  const int most = columns_ == 1 ? accuracy.products : std::max(2, accuracy.products / kProductsOfBlock);
  const auto apply = [&](int j, const Panel& q, const Panel& out) {
    if (std::exchange(first_known, false)) return;  // it is there
    slopes_.normal(Slopes::current, first_size_, q, out, row_products_[static_cast<std::size_t>(j)], rough_);
  };
  KrylovResult found;
  const auto products = [&](int count) { return PanelList(row_products_.data(), static_cast<std::size_t>(count)); };
  const int blocks = std::min(most, unseen_products_);
  const bool unseen = unseen_ && unseen_search_.ready() && blocks <= krylov_.most_blocks() &&
                      blocks * columns_ <= start_.rows() &&
                      unseen_search_.find(apply, krylov_.basis(blocks), krylov_.rest(), products(blocks), start_,
                                          rough_ ? kRoughlyDependent : kDependent, found);
  if (unseen) {
    const double enough = accuracy.relative * accuracy.relative;
    if (unseen_search_.gain() <= enough) unseen_products_ = std::max(2, blocks - 1);
    if (unseen_search_.gain() > kTooLittle * enough) unseen_products_ = blocks + 1;
  } else {
    if (unseen_) {
      orthonormalize(panels_, start_);
      first_known = false;
    }
    found = krylov_.leading(apply, start_, accuracy.relative, most);
    if (unseen_) unseen_search_.learn(krylov_.ritz_values());
  }
  products_ = found.applications * columns_;
  // v is a combination of vectors whose products are known.
  panels_.combine(0, krylov_.basis(found.blocks), found.weights, right_);
  const double image = unseen ? std::sqrt(std::max(0.0, found.eigenvalue)) : 0.0;
  if (image > 0) found.weights /= image;
  panels_.combine(0, products(found.blocks), found.weights, left_);
  sigma_ = first_size_ * image;
  if (unseen) return;
  if (first_size_ != 1) panels_.add(0, first_size_, left_, left_);
  measure();
}

void LeadingPair::find_exactly(const OracleAccuracy& accuracy) {
  first_ = First::unwanted;
  if (!exact_krylov_) exact_krylov_ = std::make_unique<BlockKrylov>(panels_, Use::exact, 1, kMostRitz);
  draw_start(panels_, right_, panels_.dot(right_, right_) > 0, random_);
  const KrylovResult found =
      exact_krylov_->leading([&](int, const Panel& q, const Panel& out) { slopes_.normal(Slopes::current, q, out); },
                             right_, accuracy.relative, accuracy.products);
  slopes_.apply(Slopes::current, right_, left_);
  products_ = found.applications + 1;
  measure();
}

void LeadingPair::measure() {
  Eigen::Matrix<double, 1, 1> square;
  Eigen::Matrix<double, 1, 1> image_square;
  panels_.grams(PanelList(&right_, 1), square, PanelList(&left_, 1), image_square);
  const double length = std::sqrt(square.value());
  const double image = std::sqrt(image_square.value());
  sigma_ = length == 0 ? 0.0 : image / length;
  if (sigma_ == 0) return;
  panels_.add(0, 1 / image, left_, left_);  // if sigma is not a number, nothing else shall be one
  panels_.add(0, 1 / length, right_, right_);
}

void LeadingPair::find_symmetric(const OracleAccuracy& accuracy) {
  const bool fast = accuracy.relative >= kFastAccuracy;
  bool first_known = take_first(fast ? First::wanted : First::unwanted) && fast;
  const int most = std::max(2, static_cast<int>(kProductsOfPair * accuracy.products));
  const double relative = accuracy.relative / 2;  // the residual of M'M, which is meant, is twice as large a share
  KrylovResult found;
  if (fast) {
    if (!first_known) {
      draw_start(panels_, start_, std::exchange(warm_, true), random_);
      first_size_ = slopes_.size(Slopes::current);
    }
    found = krylov_.leading(
        [&](int, const Panel& q, const Panel& out) {
          if (!std::exchange(first_known, false)) slopes_.product(Slopes::current, first_size_, q, out);
        },
        start_, relative, most);
    found.eigenvalue *= first_size_;
    panels_.combine(0, krylov_.basis(found.blocks), found.weights, right_);
  } else {
    if (!exact_krylov_) {
      exact_krylov_ = std::make_unique<BlockKrylov>(panels_, Use::exact, 1, kMostRitz, end_of(symmetry_));
    }
    draw_start(panels_, right_, panels_.dot(right_, right_) > 0, random_);
    found = exact_krylov_->leading(
        [&](int, const Panel& q, const Panel& out) { slopes_.apply(Slopes::current, q, out); }, right_, relative, most);
  }
  products_ = found.applications;
  sigma_ = gain(symmetry_, found.eigenvalue);
  weight_ = symmetry_ == Symmetry::semidefinite ? (found.eigenvalue < 0 ? 1.0 : 0.0) : (found.eigenvalue < 0 ? 1 : -1);
  const double length = std::sqrt(panels_.dot(right_, right_));
  if (length != 0) {
    panels_.add(0, 1 / length, right_, right_);
  } else {
    panels_.upload(Eigen::VectorXd::Unit(right_.rows(), 0), right_);
  }
  panels_.add(0, 1, right_, left_);
}

void LeadingPair::find(const OracleAccuracy& accuracy) {
  if (symmetry_ != Symmetry::none) return find_symmetric(accuracy);
  accuracy.relative >= kFastAccuracy ? find_fast(accuracy) : find_exactly(accuracy);
  if (sigma_ != 0) return;
  for (const Panel& vector : {left_, right_}) {  // a zero slope matrix: every atom is as good as any other
    panels_.upload(Eigen::VectorXd::Unit(panels_.length(vector), 0), vector);
  }
}

}  // namespace tracenorm
