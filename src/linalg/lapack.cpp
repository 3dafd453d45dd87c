#include "linalg/lapack.hpp"

#include <cblas.h>
#include <lapacke.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/shards.hpp"
#include "base/topic.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::lapack {

namespace {

std::mutex threads_mutex;
int users = 0;
int threads_before = 1;

lapack_int to_int(Eigen::Index size) { return static_cast<lapack_int>(size); }

CBLAS_TRANSPOSE order(Shape shape) { return shape == Shape::plain ? CblasNoTrans : CblasTrans; }

/// OpenBLAS takes a work area for every call that is under way at the same time, and keeps it for later ones. Where the
/// system refuses one, it asks again for ever: so a call that may need another one first sees whether there is room.
class WorkArea {
 public:
  WorkArea() {
    const int wanted = ++under_way_;
    if (wanted <= granted_) return;
    const std::lock_guard lock(mutex_);
    if (wanted <= granted_) return;
    if (!there_is_room(wanted)) {
      --under_way_;
      throw TopicError(ErrorCode::input, Topic::memory,
                       "not enough memory: the linear algebra takes a work area of " + std::to_string(bytes_) +
                           " bytes for each thread, and the system refuses it");
    }
    granted_ = wanted;
  }
  ~WorkArea() { --under_way_; }
  WorkArea(const WorkArea&) = delete;
  WorkArea& operator=(const WorkArea&) = delete;

 private:
  /// For all of them: whether OpenBLAS has taken what was granted before, nobody knows.
  static bool there_is_room(int areas) {
    std::vector<void*> taken;
    while (static_cast<int>(taken.size()) < areas) {
      void* area = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (area == MAP_FAILED) break;
      taken.push_back(area);
    }
    for (void* area : taken) munmap(area, bytes_);
    return static_cast<int>(taken.size()) == areas;
  }

  static constexpr std::size_t bytes_ = (std::size_t{1} << 27U) + (std::size_t{1} << 16U);  // 128 MB and its margins
  inline static std::mutex mutex_;
  inline static std::atomic<int> under_way_{0};
  inline static std::atomic<int> granted_{0};
};

void check(lapack_int info, const char* routine) {
  if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR) throw std::bad_alloc();
  if (info != 0) throw Error(ErrorCode::numerical, std::string("LAPACK ") + routine + " failed");
}

}  // namespace

OneThread::OneThread() {
  const std::lock_guard lock(threads_mutex);
  if (users++ > 0) return;
  threads_before = openblas_get_num_threads();
  openblas_set_num_threads(1);
}

OneThread::~OneThread() {
  const std::lock_guard lock(threads_mutex);
  if (--users == 0) openblas_set_num_threads(threads_before);
}

void gemm_rows(Shape a_shape, Shape b_shape, Index m, Index n, Index k, Real alpha, const Real* a, Index lda,
               const Real* b, Index ldb, Real beta, Real* c, Index ldc) {
  const WorkArea area;
#ifdef TRACENORM_DOUBLE
  cblas_dgemm(CblasRowMajor, order(a_shape), order(b_shape), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#else
  cblas_sgemm(CblasRowMajor, order(a_shape), order(b_shape), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#endif
}

void gemm(Shape a_shape, Shape b_shape, Index m, Index n, Index k, double alpha, const double* a, Index lda,
          const double* b, Index ldb, double beta, double* c, Index ldc) {
  const WorkArea area;
  cblas_dgemm(CblasColMajor, order(a_shape), order(b_shape), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void add_square(Shape a_shape, Index side, Index depth, const double* a, Index lda, double beta, double* c) {
  const WorkArea area;
  cblas_dsyrk(CblasColMajor, CblasLower, order(a_shape), side, depth, 1.0, a, lda, beta, c, side);
}

Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, bool transpose_b) {
  Eigen::MatrixXd out(a.rows(), transpose_b ? b.rows() : b.cols());
  if (a.cols() == 0) return Eigen::MatrixXd::Zero(out.rows(), out.cols());
  if (out.size() == 0) return out;
  gemm(Shape::plain, transpose_b ? Shape::transposed : Shape::plain, to_int(out.rows()), to_int(out.cols()),
       to_int(a.cols()), 1.0, a.data(), to_int(a.rows()), b.data(), to_int(b.rows()), 0.0, out.data(),
       to_int(out.rows()));
  return out;
}

Svd svd(Eigen::MatrixXd m) {
  const lapack_int rows = to_int(m.rows());
  const lapack_int cols = to_int(m.cols());
  const lapack_int side = std::min(rows, cols);
  Svd result{Eigen::MatrixXd(rows, side), Eigen::VectorXd(side), {}};
  Eigen::MatrixXd right_transposed(side, cols);
  const WorkArea area;
  check(LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', rows, cols, m.data(), rows, result.values.data(), result.left.data(),
                       rows, right_transposed.data(), side),
        "dgesdd");
  result.right = right_transposed.transpose();
  return result;
}

Qr::Qr(Eigen::MatrixXd m) : reflectors_(std::move(m)), tau_(std::min(reflectors_.rows(), reflectors_.cols())) {
  const lapack_int rows = to_int(reflectors_.rows());
  const WorkArea area;
  check(LAPACKE_dgeqrf(LAPACK_COL_MAJOR, rows, to_int(reflectors_.cols()), reflectors_.data(), rows, tau_.data()),
        "dgeqrf");
}

Eigen::MatrixXd Qr::r() const { return reflectors_.topRows(thin()).triangularView<Eigen::Upper>(); }

Eigen::MatrixXd Qr::times(const Eigen::MatrixXd& m) const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(reflectors_.rows(), m.cols());
  out.topRows(thin()) = m;
  const lapack_int rows = to_int(reflectors_.rows());
  const WorkArea area;
  check(LAPACKE_dormqr(LAPACK_COL_MAJOR, 'L', 'N', rows, to_int(m.cols()), to_int(thin()), reflectors_.data(), rows,
                       tau_.data(), out.data(), rows),
        "dormqr");
  return out;
}

Eigen::MatrixXd Qr::q() && {
  if (thin() < reflectors_.cols()) reflectors_.conservativeResize(Eigen::NoChange, thin());
  const lapack_int rows = to_int(reflectors_.rows());
  const WorkArea area;
  check(LAPACKE_dorgqr(LAPACK_COL_MAJOR, rows, to_int(thin()), to_int(thin()), reflectors_.data(), rows, tau_.data()),
        "dorgqr");
  return std::move(reflectors_);
}

namespace {

constexpr Index kLeastRows = 1024;
constexpr Index kLeastAspect = 4;  // so that the R's are a side matter
constexpr int kMostBlocks = 64;

/// The QR decomposition of a tall matrix by blocks of rows: those of the blocks, then that of their R's, one above the
/// other (Demmel, Grigori, Hoemmen and Langou 2012).
class TallQr {
 public:
  TallQr(Eigen::MatrixXd& m, const TallBlocks& where) : m_(m), where_(where), blocks_(where.cuts.size() - 1) {}

  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
  void decompose(std::size_t b) { blocks_[b].emplace(m_.middleRows(begin(b), begin(b + 1) - begin(b))); }
  /// After all blocks.
  Eigen::MatrixXd join() {
    places_.assign(blocks() + 1, 0);
    for (std::size_t b = 0; b < blocks(); ++b) places_[b + 1] = places_[b] + blocks_[b]->thin();
    const Eigen::Index shared = places_[where_.own];  // these R's come from elsewhere
    Eigen::MatrixXd mine(places_.back() - shared, m_.cols());
    for (std::size_t b = where_.own; b < blocks(); ++b) {
      mine.middleRows(places_[b] - shared, blocks_[b]->thin()) = blocks_[b]->r();
    }
    if (where_.stack) {
      Eigen::Index before = 0;
      mine = where_.stack(mine, before);
      for (Eigen::Index& place : places_) place += before - shared;
    }
    if (where_.all == 1) return mine;
    top_.emplace(std::move(mine));
    return top_->r();
  }
  /// The matrix becomes Q times `right`: this first, then every block.
  void turn(const Eigen::MatrixXd& right) {
    turned_ = top_ ? top_->times(right) : right;
    if (right.cols() < m_.cols()) m_.conservativeResize(Eigen::NoChange, right.cols());
  }
  void turn(std::size_t b) {
    m_.middleRows(begin(b), begin(b + 1) - begin(b)) =
        blocks_[b]->times(turned_.middleRows(places_[b], blocks_[b]->thin()));
  }

 private:
  [[nodiscard]] Index begin(std::size_t b) const { return where_.cuts[b]; }

  Eigen::MatrixXd& m_;
  const TallBlocks& where_;
  std::vector<std::optional<Qr>> blocks_;
  std::vector<Eigen::Index> places_;  // of their R's
  std::optional<Qr> top_;
  Eigen::MatrixXd turned_;
};

}  // namespace

std::vector<Index> tall_blocks(const std::vector<Index>& shard_cuts, Eigen::Index cols) {
  return join_shards(shard_cuts, std::max(kLeastRows, kLeastAspect * static_cast<Index>(cols)), kMostBlocks);
}

void decompose_product(Svd& product, const Execution& execution) {
  const std::vector<Index> whole{0, static_cast<Index>(product.left.rows())};
  decompose_product(product, {tall_blocks(whole, product.left.cols())}, execution);
}

void decompose_product(Svd& product, const TallBlocks& left_blocks, const Execution& execution) {
  // X = (Q1 R1) diag(s) (Q2 R2)'; the SVD of the small core R1 diag(s) R2' rotates both bases.
  const std::vector<Index> whole{0, static_cast<Index>(product.right.rows())};
  const TallBlocks right_blocks{tall_blocks(whole, product.right.cols())};
  TallQr left(product.left, left_blocks);
  TallQr right(product.right, right_blocks);
  const auto for_all_blocks = [&](auto&& work) {
    execution.for_each_shard(static_cast<int>(left.blocks() + right.blocks()), [&](int shard) {
      const auto b = static_cast<std::size_t>(shard);
      b < left.blocks() ? work(left, b) : work(right, b - left.blocks());
    });
  };
  for_all_blocks([](TallQr& side, std::size_t b) { side.decompose(b); });
  const auto for_both = [&](auto&& work) {
    execution.for_each_shard(2, [&](int side) { side == 0 ? work(left, side) : work(right, side); });
  };
  Eigen::MatrixXd upper[2];
  if (left_blocks.stack) {  // by whoever may speak to the others
    upper[0] = left.join();
    upper[1] = right.join();
  } else {
    for_both([&](TallQr& side, int which) { upper[which] = side.join(); });
  }
  const Svd core = svd(lapack::product(upper[0] * product.values.asDiagonal(), upper[1], true));
  product.values = core.values;
  for_both([&](TallQr& side, int which) { side.turn(which == 0 ? core.left : core.right); });
  for_all_blocks([](TallQr& side, std::size_t b) { side.turn(b); });
}

bool factor_cholesky(Eigen::MatrixXd& symmetric) {
  const lapack_int n = to_int(symmetric.rows());
  const WorkArea area;
  return LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, symmetric.data(), n) == 0;
}

Eigen::VectorXd eigenvectors(Eigen::MatrixXd& symmetric) {
  const lapack_int n = to_int(symmetric.rows());
  Eigen::VectorXd values(n);
  const WorkArea area;
  check(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', n, symmetric.data(), n, values.data()), "dsyevd");
  return values;
}

}  // namespace tracenorm::lapack
