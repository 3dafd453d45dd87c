#include "cuda/order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "model/coded_data.hpp"

namespace tracenorm::cuda {

namespace {

constexpr std::size_t kAtOnce = 4;  // entries of a thread

std::size_t rounded_up(Offset count) { return (static_cast<std::size_t>(count) + kAtOnce - 1) / kAtOnce * kAtOnce; }

/// Numbers below `most`, in 16 bits if that is enough.
template <class Number>
DeviceArray<std::uint8_t> numbers(Device& device, const std::vector<Number>& all, std::size_t size, bool narrow) {
  const auto copy = [&]<class To>(To) {
    std::vector<To> to(size);
    std::transform(all.begin(), all.end(), to.begin(), [](Number n) { return static_cast<To>(n); });
    DeviceArray<std::uint8_t> there(device, size * sizeof(To));
    device.upload(to.data(), size * sizeof(To), there.data());
    return there;
  };
  return narrow ? copy(ShortIndex{}) : copy(Index{});
}

bool fits_short(Index count) { return count <= std::numeric_limits<ShortIndex>::max() + 1; }

/// What comes after the last entry has no datum.
DeviceArray<Real> padded(Device& device, const Real* from, std::size_t count, std::size_t size, Real rest) {
  std::vector<Real> all(size, rest);
  std::copy_n(from, count, all.begin());
  return {device, all.data(), size};
}

/// value[k] = all[place[k]].
std::vector<Real> permuted(const Array<Real>& all, const std::vector<Offset>& place) {
  std::vector<Real> result(place.size());
  for (std::size_t k = 0; k < place.size(); ++k) result[k] = all[static_cast<std::size_t>(place[k])];
  return result;
}

void put_data(Device& device, const Array<Real>& value, const Array<Real>& weight, Order& order) {
  if (const DenseValues coded = coded_where_possible(value); !coded.code().empty()) {
    std::vector<std::int8_t> all(order.size, DenseValues::kMissing);
    std::copy(coded.code().begin(), coded.code().end(), all.begin());
    order.code = {device, all.data(), all.size()};
    order.code_offset = coded.offset();
    order.code_scale = coded.scale();
  } else {
    order.y = padded(device, value.data(), value.size(), order.size, std::numeric_limits<Real>::quiet_NaN());
  }
  if (!weight.empty()) order.w = padded(device, weight.data(), weight.size(), order.size, Real(1));
}

void put_pieces(Device& device, const std::vector<Offset>& begin, Order& order) {
  order.rows = static_cast<Index>(begin.size()) - 1;
  std::vector<Offset> start;
  std::vector<Index> first{0};
  for (std::size_t r = 0; r + 1 < begin.size(); ++r) {
    for (Offset e = begin[r]; e < begin[r + 1]; e += kPieceEntries) start.push_back(e);
    first.push_back(static_cast<Index>(start.size()));
  }
  order.pieces = static_cast<Index>(start.size());
  const Offset mean = begin.back() / std::max<Offset>(1, order.pieces);
  order.lanes = mean > 48 ? 32 : mean > 8 ? 8 : 2;
  start.push_back(begin.back());
  order.piece_start = {device, start.data(), start.size()};
  order.piece_first = {device, first.data(), first.size()};
}

/// X and slopes, all zero.
void put_state(Device& device, Order& order) {
  order.x = {device, order.size};
  order.slope = {device, order.size};
}

}  // namespace

EntryArrays Order::arrays() const {
  EntryArrays a;
  a.count = count;
  if (!row.empty()) a.places = {{row.data(), narrow_row}, {col.data(), narrow_col}};
  a.places.cols = cols;
  a.places.pitch = pitch;
  a.y = y.data();
  a.coded = {code.data(), code_offset, code_scale};
  a.w = w.data();
  a.x = x.data();
  a.slope = slope.data();
  a.target = target.data();
  a.loss_shift = loss_shift.data();
  a.penalty_shift = penalty_shift.data();
  return a;
}

SparseRows Order::sparse(const Real* m) const {
  const Numbers met = transposed ? Numbers{row.data(), narrow_row} : Numbers{col.data(), narrow_col};
  return {piece_start.data(), piece_first.data(), pieces, rows, lanes, met, m};
}

Order order_by_rows(Device& device, const SparseObservations& data) {
  const SparsePattern& pattern = data.pattern;
  Order order;
  order.count = pattern.entries();
  order.size = rounded_up(order.count);
  std::vector<Index> row(static_cast<std::size_t>(order.count));
  std::vector<Index> col(row.size());
  for (Index i = 0; i < pattern.rows(); ++i) {
    for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
      row[static_cast<std::size_t>(e)] = i;
      col[static_cast<std::size_t>(e)] = pattern.col()[e];
    }
  }
  order.narrow_row = fits_short(pattern.rows());
  order.narrow_col = fits_short(pattern.cols());
  order.row = numbers(device, row, order.size, order.narrow_row);
  order.col = numbers(device, col, order.size, order.narrow_col);
  put_data(device, data.value, data.weight, order);
  put_pieces(device, {pattern.begin(), pattern.begin() + pattern.rows() + 1}, order);
  put_state(device, order);
  return order;
}

Order order_by_columns(Device& device, const SparseObservations& data) {
  const SparsePattern& pattern = data.pattern;
  const auto entries = static_cast<std::size_t>(pattern.entries());
  std::vector<Offset> begin(static_cast<std::size_t>(pattern.cols()) + 1, 0);
  for (Offset e = 0; e < pattern.entries(); ++e) ++begin[static_cast<std::size_t>(pattern.col()[e]) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Offset> next(begin.begin(), begin.end() - 1);
  std::vector<Offset> place(entries);  // of each entry here, where it is in the data
  std::vector<Index> own(entries);     // its column
  std::vector<Index> met(entries);     // its row
  for (Index i = 0; i < pattern.rows(); ++i) {
    for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
      const Index j = pattern.col()[e];
      const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(j)]++);
      place[to] = e;
      own[to] = j;
      met[to] = i;
    }
  }
  Order order;
  order.count = pattern.entries();
  order.size = rounded_up(order.count);
  order.narrow_row = fits_short(pattern.rows());
  order.narrow_col = fits_short(pattern.cols());
  order.row = numbers(device, met, order.size, order.narrow_row);
  order.col = numbers(device, own, order.size, order.narrow_col);
  put_data(device, permuted(data.value, place),
           data.weight.empty() ? Array<Real>() : Array<Real>(permuted(data.weight, place)), order);
  put_pieces(device, begin, order);
  put_state(device, order);
  order.transposed = true;
  return order;
}

Order full_order(Device& device, const DenseObservations& data) {
  Order order;
  order.rows = data.rows;
  order.cols = data.cols;
  order.pitch = static_cast<Index>(rounded_up(data.cols));
  order.count = static_cast<Offset>(data.rows) * order.pitch;
  order.size = static_cast<std::size_t>(order.count);
  const auto spread = [&](const Array<Real>& from, Real rest) {
    if (from.empty() || order.pitch == data.cols) return from;
    std::vector<Real> to(order.size, rest);
    const auto cols = static_cast<std::size_t>(data.cols);
    for (std::size_t i = 0; i < static_cast<std::size_t>(data.rows); ++i) {
      std::copy_n(from.data() + i * cols, cols, to.begin() + static_cast<std::ptrdiff_t>(i * std::size_t(order.pitch)));
    }
    return Array<Real>(std::move(to));
  };
  put_data(device, spread(data.value.plain(), std::numeric_limits<Real>::quiet_NaN()), spread(data.weight, Real(1)),
           order);
  put_state(device, order);
  return order;
}

Order listed_order(Device& device, const Entries& entries) {
  Order order;
  order.count = entries.size();
  order.size = rounded_up(order.count);
  order.row = numbers(device, entries.row, order.size, false);
  order.col = numbers(device, entries.col, order.size, false);
  order.y = padded(device, entries.value.data(), entries.value.size(), order.size, Real(0));
  order.x = {device, order.size};
  return order;
}

}  // namespace tracenorm::cuda
