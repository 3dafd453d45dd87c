#include "cuda/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda/arrange.hpp"
#include "cuda/rough.hpp"
#include "model/coded_data.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm::cuda {

namespace {

constexpr std::size_t kAtOnce = 4;  // entries of a thread

template <class T>
T* as(const DeviceArray<std::uint8_t>& bytes) {
  return reinterpret_cast<T*>(bytes.data());
}

std::size_t rounded_up(Offset count) { return (static_cast<std::size_t>(count) + kAtOnce - 1) / kAtOnce * kAtOnce; }

/// What comes after the last of them is `rest`.
template <class T>
DeviceArray<T> padded(Device& device, const T* from, std::size_t count, std::size_t size, T rest) {
  DeviceArray<T> there(device, size);
  device.upload(from, count * sizeof(T), there.data());
  const std::vector<T> behind(size - count, rest);
  device.upload(behind.data(), behind.size() * sizeof(T), there.data() + count);
  return there;
}

bool fits_short(Index count) { return count <= std::numeric_limits<ShortIndex>::max() + 1; }

struct KeptNumbers {
  DeviceArray<std::uint8_t> there;
  bool narrow;
};

/// Numbers in 16 bits if they come so, or if `narrow` says that they fit.
template <class Number>
KeptNumbers numbers(Device& device, const Number* from, std::size_t count, std::size_t size, bool narrow) {
  DeviceArray<std::uint8_t> there(device, size * sizeof(Number));
  device.upload(from, count * sizeof(Number), there.data());
  if constexpr (std::is_same_v<Number, ShortIndex>) {
    return {std::move(there), true};
  } else {
    if (!narrow) return {std::move(there), false};
    DeviceArray<std::uint8_t> shorter(device, size * sizeof(ShortIndex));
    shorten(as<Index>(there), size, as<ShortIndex>(shorter), device.stream());
    return {std::move(shorter), true};
  }
}

void put_data(Device& device, const Array<Real>& value, const Array<Real>& weight, const Execution& execution,
              Order& order) {
  if (const DenseValues coded = coded_where_possible(value, execution); !coded.code().empty()) {
    order.code = padded(device, coded.code().data(), coded.code().size(), order.size, DenseValues::kMissing);
    order.code_offset = coded.offset();
    order.code_scale = coded.scale();
  } else {
    order.y = padded(device, value.data(), value.size(), order.size, std::numeric_limits<Real>::quiet_NaN());
  }
  if (!weight.empty()) order.w = padded(device, weight.data(), weight.size(), order.size, Real(1));
}

/// The bands of `met` rows of a vector: as long as all others.
struct Bands {
  Index met;
  Index count;
  [[nodiscard]] Index length() const { return (met + count - 1) / count; }
};

/// Fewer entries than these for a piece, and dealing them out costs more than it saves.
constexpr Offset kLeastPiece = 12;

/// What a block may keep of a vector for `rough_times`. The rest is for its sums.
Index longest_share(Device& device) {
  constexpr std::size_t reserve = 4096;
  return static_cast<Index>((device.shared_bytes() - reserve) / kRoughBytes);
}

/// In so many bands, if the entries are worth it; otherwise in one, which then may be too long to be dealt out.
Bands bands_of(Device& device, Index met, Index own, Offset entries) {
  const Index most = longest_share(device);
  const Bands bands{met, (met + most - 1) / most};
  return entries >= kLeastPiece * bands.count * own ? bands : Bands{met, 1};
}

/// A block for each processor, but for more bands than processors; bands get blocks, and blocks pieces, by what they
/// cost.
std::vector<Share> deal(const std::vector<Offset>& start, const std::vector<Index>& band_first, const Bands& bands) {
  // A warp takes a piece in rounds, and those of short pieces are not full.
  std::vector<Offset> rounds{0};
  for (std::size_t piece = 0; piece + 1 < start.size(); ++piece) {
    rounds.push_back(rounds.back() + 1 + (start[piece + 1] - start[piece] - 1) / kRoundEntries);
  }
  const auto cost = [&](Index piece) { return rounds[static_cast<std::size_t>(piece)]; };
  const Offset all = rounds.back();
  std::vector<Share> shares;
  Offset left = std::max<Offset>(0, processors() - bands.count);  // blocks beyond one for each band
  for (Index b = 0; b < bands.count; ++b) {
    Index first = band_first[static_cast<std::size_t>(b)];
    const Index end = band_first[static_cast<std::size_t>(b) + 1];
    if (first == end) continue;
    const Offset own = cost(end) - cost(first);
    const Offset behind = all - cost(end);
    const Offset more = own + behind > 0 ? left * own / (own + behind) : 0;
    left -= more;
    const Index from = b * bands.length();
    const Index length = std::min(bands.length(), bands.met - from);
    for (Offset block = 0; block <= more && first < end; ++block) {
      const Offset until = cost(first) + (cost(end) - cost(first)) / (more + 1 - block);
      const auto last = std::lower_bound(rounds.begin() + first + 1, rounds.begin() + end, until) - rounds.begin();
      shares.push_back({first, static_cast<Index>(last), from, length});
      first = static_cast<Index>(last);
    }
    if (first < end) shares.back().last = end;
  }
  return shares;
}

/// `begin` of every row in every band, and the end.
void put_pieces(Device& device, const std::vector<Offset>& begin, const Bands& bands, Order& order) {
  const auto segments = static_cast<Index>(begin.size()) - 1;
  order.rows = segments / bands.count;
  order.bands = bands.count;
  std::vector<Offset> start;
  std::vector<Index> own;
  std::vector<Index> first{0};
  std::vector<Index> band_first{0};
  for (Index s = 0; s < segments; ++s) {
    for (Offset e = begin[static_cast<std::size_t>(s)]; e < begin[static_cast<std::size_t>(s) + 1];
         e += kPieceEntries) {
      start.push_back(e);
      own.push_back(s % order.rows);
    }
    first.push_back(static_cast<Index>(start.size()));
    if ((s + 1) % order.rows == 0) band_first.push_back(first.back());
  }
  order.pieces = static_cast<Index>(start.size());
  const Offset mean = begin.back() / std::max<Offset>(1, order.pieces);
  order.lanes = mean > 48 ? 32 : mean > 8 ? 8 : 2;
  start.push_back(begin.back());
  order.piece_start = {device, start.data(), start.size()};
  order.piece_first = {device, first.data(), first.size()};
  order.longest_share = bands.length();
  if (order.longest_share > longest_share(device) || mean < kLeastPiece) return;
  const std::vector<Share> shares = deal(start, band_first, bands);
  order.shares = {device, shares.data(), shares.size()};
  order.piece_own = {device, own.data(), own.size()};
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
  return {piece_start.data(), piece_first.data(), pieces, rows, bands, lanes, met, m};
}

Shares Order::dealt() const {
  Shares dealt{shares.data(),   static_cast<int>(shares.size()), longest_share, sparse(nullptr).col, false,
               piece_own.data()};
  if (local.empty()) return dealt;
  dealt.met = {local.data(), true};
  dealt.local = true;
  return dealt;
}

Order order_by_rows(Device& device, const SparseObservations& data, const Execution& execution) {
  const SparsePattern& pattern = data.pattern;
  if (pattern.entries() > std::numeric_limits<Place>::max()) {
    throw Error(ErrorCode::usage,
                fmt::format("backend: cuda puts at most {} entries in order, and {} are given; use backend cpu",
                            std::numeric_limits<Place>::max(), pattern.entries()),
                "backend");
  }
  Order order;
  order.count = pattern.entries();
  order.size = rounded_up(order.count);
  const auto count = static_cast<std::size_t>(order.count);
  std::vector<Offset> begin(pattern.begin(), pattern.begin() + pattern.rows() + 1);
  const DeviceArray<Offset> row_begin(device, begin.data(), begin.size());
  order.narrow_row = fits_short(pattern.rows());
  order.row = {device, order.size * (order.narrow_row ? sizeof(ShortIndex) : sizeof(Index))};
  if (order.narrow_row) {
    list_rows(row_begin.data(), pattern.rows(), as<ShortIndex>(order.row), device.stream());
  } else {
    list_rows(row_begin.data(), pattern.rows(), as<Index>(order.row), device.stream());
  }
  KeptNumbers col = pattern.col().visit(
      [&](const auto* from) { return numbers(device, from, count, order.size, fits_short(pattern.cols())); });
  order.col = std::move(col.there);
  order.narrow_col = col.narrow;
  put_data(device, data.value, data.weight, execution, order);
  put_pieces(device, begin, {pattern.cols(), 1}, order);
  put_state(device, order);
  return order;
}

Order order_by_columns(Device& device, const Order& by_rows, Index rows, Index cols) {
  const Bands bands = bands_of(device, rows, cols, by_rows.count);
  Order order;
  order.count = by_rows.count;
  order.size = by_rows.size;
  order.transposed = true;
  std::vector<Offset> begin;
  {
    const ByColumns sorted = sort_by_columns(device, {{by_rows.row.data(), by_rows.narrow_row},
                                                      {by_rows.col.data(), by_rows.narrow_col},
                                                      by_rows.count,
                                                      cols,
                                                      bands.length(),
                                                      bands.count});
    const auto gathered = [&]<class T>(const DeviceArray<T>& from) {
      if (from.empty()) return DeviceArray<T>();
      DeviceArray<T> to(device, order.size);
      gather(from.data(), sorted.place.data(), sorted.place.size(), order.size, to.data(), device.stream());
      return to;
    };
    const auto gathered_numbers = [&](const DeviceArray<std::uint8_t>& from, bool narrow) {
      DeviceArray<std::uint8_t> to(device, from.size());
      const auto with = [&]<class Number>(Number) {
        gather(as<Number>(from), sorted.place.data(), sorted.place.size(), order.size, as<Number>(to), device.stream());
      };
      narrow ? with(ShortIndex{}) : with(Index{});
      return to;
    };
    order.row = gathered_numbers(by_rows.row, by_rows.narrow_row);
    order.col = gathered_numbers(by_rows.col, by_rows.narrow_col);
    order.y = gathered(by_rows.y);
    order.code = gathered(by_rows.code);
    order.w = gathered(by_rows.w);
    begin.resize(sorted.begin.size());
    device.download(sorted.begin.data(), begin.size() * sizeof(Offset), begin.data());
  }
  order.narrow_row = by_rows.narrow_row;
  order.narrow_col = by_rows.narrow_col;
  order.code_offset = by_rows.code_offset;
  order.code_scale = by_rows.code_scale;
  put_pieces(device, begin, bands, order);
  if (!order.shares.empty() && !order.narrow_row) {
    order.local = {device, order.size * sizeof(ShortIndex)};
    remainders(as<Index>(order.row), order.size, bands.length(), as<ShortIndex>(order.local), device.stream());
  }
  put_state(device, order);
  return order;
}

Order full_order(Device& device, const DenseObservations& data, const Execution& execution) {
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
           execution, order);
  put_state(device, order);
  return order;
}

Order listed_order(Device& device, const Entries& entries) {
  Order order;
  order.count = entries.size();
  order.size = rounded_up(order.count);
  const auto count = static_cast<std::size_t>(order.count);
  order.row = numbers(device, entries.row.data(), count, order.size, false).there;
  order.col = numbers(device, entries.col.data(), count, order.size, false).there;
  order.y = padded(device, entries.value.data(), count, order.size, Real(0));
  order.x = {device, order.size};
  return order;
}

}  // namespace tracenorm::cuda
