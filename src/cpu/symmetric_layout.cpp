// One triangle of a symmetric matrix: half the entries, and half the work of every pass. The diagonal comes first,
// whose entries count once, then what is above it, whose entries stand for two.
//
// A full matrix has its triangle in blocks of rows: what a block has beyond its own columns is a rectangle, met by the
// kernels of full rows, and what is left are small triangles along the diagonal, row by row. A sparse one is a pattern.
#include <cassert>
#include <utility>

#include "cpu/layout.hpp"

namespace tracenorm::cpu {

void Layout::apply_symmetric(RowRange, const Real*, const double*, double*) const { assert(false); }
void Layout::apply_symmetric(RowRange, const Real*, const Real*, Real*) const { assert(false); }
void Layout::take(const Real* data, Real* stored) const { std::copy_n(data, entries(), stored); }
void Layout::take(const std::int8_t* data, std::int8_t* stored) const { std::copy_n(data, entries(), stored); }
void Layout::give(const Real* stored, Real* data) const { std::copy_n(stored, entries(), data); }

namespace {

/// Rows of a block of a full matrix.
constexpr Index kBlockRows = 32;

class SymmetricLayout : public Layout {
 public:
  explicit SymmetricLayout(Index size) : Layout(size, size) {}

  [[nodiscard]] Index stored_rows() const override { return static_cast<Index>(begin_.size()) - 1; }
  [[nodiscard]] Index doubled_from() const override { return rows_; }
  [[nodiscard]] Offset row_begin(Index row) const override { return begin_[static_cast<std::size_t>(row)]; }
  [[nodiscard]] const Offset* row_begins() const override { return begin_.data(); }

  void apply(RowRange, const Real*, const double*, double*) const override { assert(false); }
  void apply_transpose(RowRange, const Real*, const double*, double*) const override { assert(false); }
  void apply_block(RowRange, const Real*, const double*, Index, double*) const override { assert(false); }
  void normal(RowRange, const Real*, const double*, const kernels::RowTerms<double>&, double*) const override {
    assert(false);
  }
  void normal(RowRange, const Real*, const Real*, Index, const kernels::RowTerms<Real>&, Real*) const override {
    assert(false);
  }
  void apply_both(RowRange, const Real*, const double*, const double*, double*, double*) const override {
    assert(false);
  }
  void apply_both(RowRange, const Real*, const Real*, const Real*, Real*, Real*) const override { assert(false); }
  [[nodiscard]] Index search_columns() const override { return 1; }

  void apply_symmetric(RowRange r, const Real* m, const double* v, double* out) const override {
    multiply(r, m, v, out);
  }
  void apply_symmetric(RowRange r, const Real* m, const Real* v, Real* out) const override { multiply(r, m, v, out); }

  double move(RowRange r, Real* x, const Real* kink_mask, const double* u, const Real* v, double t) const override {
    const Part& p = part(r);
    const Real* mask = kink_mask != nullptr ? kink_mask + p.begin : nullptr;
    return p.layout->move(p.rows(r), x + p.begin, mask, u, v, t);
  }

  void sample(Offset from, Offset to, const double* u, const double* v, Real* out) const override {
    for (const Part& p : parts_) {
      const Offset first = std::max(from, p.begin);
      const Offset last = std::min(to, p.begin + p.layout->entries());
      if (first < last) p.layout->sample(first - p.begin, last - p.begin, u, v, out + (first - from));
    }
  }

  void load(RowRange r, const ExactFactors& factors, double* x, double* error) const override {
    const Part& p = part(r);
    p.layout->load(p.rows(r), factors, x, error);
  }

  void factor_entries(Offset from, Offset to, const FactorRows& at, Real scale, Real* x) const override {
    const Part& p = part_of_entry(from);
    p.layout->factor_entries(from - p.begin, to - p.begin, at, scale, x);
  }

  void factor_products(Offset from, Offset to, const Real* m, const FactorRows& at, Real* left,
                       Real* right) const override {
    const Part& p = part_of_entry(from);
    p.layout->factor_products(from - p.begin, to - p.begin, m, at, left, p.diagonal ? nullptr : right);
  }

  [[nodiscard]] Offset factor_block() const override {
    Offset most = 0;
    for (const Part& p : parts_) most = std::max(most, p.layout->factor_block());
    return most;
  }
  [[nodiscard]] Offset factor_block_end(Offset from) const override {
    const Part& p = part_of_entry(from);
    return p.begin + p.layout->factor_block_end(from - p.begin);
  }

  void scale(RowRange r, const double* u, const double* v, Real* m) const override {
    const Part& p = part(r);
    p.layout->scale(p.rows(r), u, v, m + p.begin);
  }

  // Proofs need the matrix itself.
  void add_gram(RowRange, const Real*, Index, Index, Eigen::MatrixXd&) const override { assert(false); }
  [[nodiscard]] Eigen::MatrixXd gram_of_rows(const Real*) const override {
    assert(false);
    return {};
  }

  [[nodiscard]] WorkModel work() const override { return {0, 0, 0, 20}; }

 protected:
  void add(std::unique_ptr<Layout> layout) {
    Part p{std::move(layout), begin_.back(), static_cast<Index>(begin_.size()) - 1, parts_.empty()};
    for (Index i = 1; i <= rows_; ++i) begin_.push_back(p.begin + p.layout->row_begin(i));
    parts_.push_back(std::move(p));
  }

  struct Part {
    std::unique_ptr<Layout> layout;
    Offset begin;  // its first entry,
    Index first;   // and its first stored row
    bool diagonal;
    [[nodiscard]] RowRange rows(RowRange r) const { return {r.first - first, r.last - first}; }
  };
  std::vector<Part> parts_;

 private:
  [[nodiscard]] const Part& part(RowRange r) const { return parts_[static_cast<std::size_t>(r.first / rows_)]; }
  [[nodiscard]] const Part& part_of_entry(Offset entry) const {
    std::size_t p = 0;
    while (p + 1 < parts_.size() && entry >= parts_[p + 1].begin) ++p;
    return parts_[p];
  }
  template <class Work>
  void multiply(RowRange r, const Real* m, const Work* v, Work* out) const {
    const Part& p = part(r);
    p.layout->apply_both(p.rows(r), m + p.begin, v, v, out, p.diagonal ? nullptr : out);
  }

  std::vector<Offset> begin_{0};
};

class SymmetricDense final : public SymmetricLayout {
 public:
  explicit SymmetricDense(Index size) : SymmetricLayout(size) {
    Staircase diagonal{1, {}, {}};
    Staircase near{1, {}, {}};
    Staircase far{kBlockRows, {}, {}};
    for (Index i = 0; i < size; ++i) {
      const Index next_block = std::min(size, (i / kBlockRows + 1) * kBlockRows);
      diagonal.first.push_back(i);
      diagonal.last.push_back(i + 1);
      near.first.push_back(i + 1);
      near.last.push_back(next_block);
      if (i % kBlockRows != 0) continue;
      far.first.push_back(next_block);
      far.last.push_back(size);
    }
    for (Staircase* steps : {&diagonal, &near, &far}) {
      add(make_staircase_layout(size, size, std::move(*steps)));
    }
  }
  void take(const Real* data, Real* stored) const override {
    for (const Part& p : parts_) p.layout->take(data, stored + p.begin);
  }
  void take(const std::int8_t* data, std::int8_t* stored) const override {
    for (const Part& p : parts_) p.layout->take(data, stored + p.begin);
  }
  void give(const Real* stored, Real* data) const override {
    for (const Part& p : parts_) p.layout->give(stored + p.begin, data);
    for (Index i = 0; i < rows_; ++i) {
      for (Index j = 0; j < i; ++j) {
        data[static_cast<Offset>(i) * cols_ + j] = data[static_cast<Offset>(j) * cols_ + i];
      }
    }
  }
};

class SymmetricSparse final : public SymmetricLayout {
 public:
  SymmetricSparse(const SparsePattern& whole, const Execution& execution)
      : SymmetricLayout(whole.rows()), whole_(whole), diagonal_(triangle(true)), upper_(triangle(false)) {
    add(make_sparse_layout(diagonal_, execution, nullptr, false));
    add(make_sparse_layout(upper_, execution, nullptr, false));
  }
  void take(const Real* data, Real* stored) const override {
    for_places([&](Offset data_place, Offset stored_place) { stored[stored_place] = data[data_place]; });
  }
  void take(const std::int8_t* data, std::int8_t* stored) const override {
    for_places([&](Offset data_place, Offset stored_place) { stored[stored_place] = data[data_place]; });
  }
  void give(const Real* stored, Real* data) const override {
    for_places([&](Offset data_place, Offset stored_place) { data[data_place] = stored[stored_place]; });
  }

 private:
  [[nodiscard]] SparsePattern triangle(bool diagonal) const {
    std::vector<Offset> begin{0};
    std::vector<Index> col;
    for (Index i = 0; i < rows_; ++i) {
      for (Offset e = whole_.begin()[i]; e < whole_.begin()[i + 1]; ++e) {
        const Index j = whole_.col()[e];
        if (diagonal ? j == i : j > i) col.push_back(j);
      }
      begin.push_back(static_cast<Offset>(col.size()));
    }
    return SparsePattern::unchecked(rows_, rows_, std::move(begin), std::move(col));
  }
  /// work(place in the data, place where it is stored) for every entry of the data.
  template <class Work>
  void for_places(Work&& work) const {
    // Rows below the diagonal are met in the order of the rows above it: one place each that moves on.
    std::vector<Offset> mirrored(whole_.begin(), whole_.begin() + rows_);
    for (Index i = 0; i < rows_; ++i) {
      Offset stored = diagonal_.entries() + upper_.begin()[i];
      for (Offset e = whole_.begin()[i]; e < whole_.begin()[i + 1]; ++e) {
        const Index j = whole_.col()[e];
        if (j < i) continue;
        if (j == i) {
          work(e, diagonal_.begin()[i]);
          continue;
        }
        work(e, stored);
        work(mirrored[static_cast<std::size_t>(j)]++, stored++);
      }
    }
  }

  const SparsePattern& whole_;
  SparsePattern diagonal_;
  SparsePattern upper_;
};

}  // namespace

std::unique_ptr<Layout> make_symmetric_layout(const SparsePattern& pattern, const Execution& execution) {
  return std::make_unique<SymmetricSparse>(pattern, execution);
}

std::unique_ptr<Layout> make_symmetric_layout(Index size) { return std::make_unique<SymmetricDense>(size); }

}  // namespace tracenorm::cpu
