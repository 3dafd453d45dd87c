#include "base/rank_sums.hpp"

#include <algorithm>

namespace tracenorm {

namespace {

/// Fewer numbers than this go to everybody; of more, each rank adds up a part.
constexpr Offset kFewNumbers = 128;
/// Messages are kept below so many bytes.
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

}  // namespace

RankSums::RankSums(const std::vector<int>& cuts, Ranks& ranks) : ranks_(ranks) {
  std::vector<Branch> all;
  for (std::size_t r = 0; r < size(); ++r) {
    const std::vector<Branch> own = whole_branches(cuts[r], cuts[r + 1], cuts.back());
    branches_.push_back(own.size());
    most_ = std::max(most_, own.size());
    all.insert(all.end(), own.begin(), own.end());
  }
  plan({0, cuts.back()}, all);
  place_.resize(all.size());
  for (std::vector<std::size_t>* list : {&sent_, &received_, &result_}) list->resize(size() + 1);
}

std::size_t RankSums::plan(Branch sum, const std::vector<Branch>& branches) {
  for (std::size_t b = 0; b < branches.size(); ++b) {
    if (branches[b].first == sum.first && branches[b].last == sum.last) return b;
  }
  const auto [left, right] = halves(sum);
  const std::size_t to = plan(left, branches);
  plan_.emplace_back(to, plan(right, branches));
  return to;
}

template <class Number>
void RankSums::add_along_tree(std::vector<Number>& numbers, Offset count) const {
  for (const auto& [to, from] : plan_) {
    Number* sum = numbers.data() + place_[to];
    const Number* more = numbers.data() + place_[from];
    for (Offset k = 0; k < count; ++k) sum[k] += more[k];
  }
}

template <class Number>
void RankSums::add(std::span<const Number> mine, std::span<Number> out, Buffers<Number>& buffers) {
  const auto width = static_cast<Offset>(out.size());
  if (width <= kFewNumbers) return add_few(mine, out, buffers);
  const auto most = static_cast<Offset>(kMostBytes / sizeof(Number) / (most_ * size()));
  for (Offset first = 0; first < width; first += most) {
    add_many(mine, out, first, std::min(most, width - first), buffers);
  }
}

template <class Number>
void RankSums::add_few(std::span<const Number> mine, std::span<Number> out, Buffers<Number>& buffers) {
  const std::size_t each = most_ * out.size();  // all send as many
  buffers.sent.resize(each);
  std::copy(mine.begin(), mine.end(), buffers.sent.begin());
  buffers.received.resize(each * size());
  ranks_.collect(std::as_bytes(std::span(std::as_const(buffers.sent))),
                 std::as_writable_bytes(std::span(buffers.received)));
  std::size_t branch = 0;
  for (std::size_t r = 0; r < size(); ++r) {
    for (std::size_t b = 0; b < branches_[r]; ++b) place_[branch++] = static_cast<Offset>(r * each + b * out.size());
  }
  add_along_tree(buffers.received, static_cast<Offset>(out.size()));
  std::copy_n(buffers.received.begin() + place_.front(), out.size(), out.begin());
}

template <class Number>
void RankSums::add_many(std::span<const Number> mine, std::span<Number> out, Offset first, Offset count,
                        Buffers<Number>& buffers) {
  const auto begin = [&](std::size_t r) { return count * static_cast<Offset>(r) / static_cast<Offset>(size()); };
  const Offset own = begin(rank() + 1) - begin(rank());
  const std::size_t branches = branches_[rank()];
  buffers.sent.resize(branches * static_cast<std::size_t>(count));
  Number* to = buffers.sent.data();
  std::size_t arrived = 0;
  for (std::size_t r = 0; r < size(); ++r) {
    sent_[r] = branches * static_cast<std::size_t>(begin(r)) * sizeof(Number);
    received_[r] = arrived * sizeof(Number);
    result_[r] = static_cast<std::size_t>(begin(r)) * sizeof(Number);
    arrived += branches_[r] * static_cast<std::size_t>(own);
    for (std::size_t b = 0; b < branches; ++b) {
      const Number* from = mine.data() + b * out.size() + static_cast<std::size_t>(first + begin(r));
      to = std::copy_n(from, begin(r + 1) - begin(r), to);
    }
  }
  sent_.back() = buffers.sent.size() * sizeof(Number);
  received_.back() = arrived * sizeof(Number);
  result_.back() = static_cast<std::size_t>(count) * sizeof(Number);
  buffers.received.resize(arrived);
  ranks_.trade(std::as_bytes(std::span(std::as_const(buffers.sent))), sent_,
               std::as_writable_bytes(std::span(buffers.received)), received_);
  for (std::size_t b = 0; b < place_.size(); ++b) place_[b] = static_cast<Offset>(b) * own;
  add_along_tree(buffers.received, own);
  ranks_.collect(std::as_bytes(std::span(std::as_const(buffers.received)).first(static_cast<std::size_t>(own))),
                 std::as_writable_bytes(out.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count))),
                 result_);
}

void RankSums::add_up(std::span<const double> mine, std::span<double> out) { add(mine, out, doubles_); }
void RankSums::add_up(std::span<const float> mine, std::span<float> out) { add(mine, out, floats_); }

void RankSums::in_turn(std::span<double> numbers, FunctionRef<void()> add) {
  const int rank = ranks_.rank();
  if (rank > 0) ranks_.receive(rank - 1, std::as_writable_bytes(numbers));
  add();
  if (rank + 1 < ranks_.size()) ranks_.send(rank + 1, std::as_bytes(numbers));
}

void RankSums::share_last(std::span<double> numbers) {
  ranks_.broadcast(std::as_writable_bytes(numbers), ranks_.size() - 1);
}

}  // namespace tracenorm
