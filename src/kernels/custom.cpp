// The entrywise kernels of the custom loss. It is asked about whole blocks of entries, because a call may be expensive;
// the entrywise templates then meet a loss that repeats its answers, one entry at a time.
#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/kernels.hpp"

namespace tracenorm::kernels {
namespace {

#include "kernels/entrywise.inc"

/// What the custom loss said about one entry, in the shape of a loss.
struct Answer {
  double at_x = 0;
  double slope = 0;
  double slope_at_zero = 0;
  double dual = 0;
  double* wanted = nullptr;  ///< where given, notes the slope whose conjugate is wanted

  [[nodiscard]] double value(double, double) const { return at_x; }
  [[nodiscard]] double chord(double, double, double) const { return slope; }
  [[nodiscard]] double subgradient(double, double) const { return slope_at_zero; }
  [[nodiscard]] double conjugate(double s, double) const {
    if (wanted != nullptr) *wanted = s;
    return dual;
  }
};

constexpr Offset kBlock = 8192;

/// Slopes are taken a little shorter than they are: nobody knows where those of this loss end, and one that rounding
/// leads beyond the end would have an infinite conjugate. Zero is never outside.
constexpr double kShorter = 1 - 4 * double(std::numeric_limits<Real>::epsilon());

EntryRange part(const EntryRange& r, Offset from, Offset count) {
  EntryRange range{r.y + from, r.w != nullptr ? r.w + from : nullptr,
                   r.x + from, r.slope != nullptr ? r.slope + from : nullptr,
                   count,      r.lambda};
  range.penalty_x = r.at_penalty() + from;
  return range;
}

/// Calls work(block, first entry) for every block of a range.
template <class Work>
void for_each_block(const EntryRange& r, Work&& work) {
  for (Offset from = 0; from < r.count; from += kBlock) work(part(r, from, std::min(kBlock, r.count - from)), from);
}

/// Questions about the observed entries of a block.
template <Mode mode, bool weighted>
class Block {
 public:
  using OneEntry = Entry<Answer, mode, weighted>;

  Block(const losses::Custom& loss, const EntryRange& range)
      : loss_(loss), range_(range), answers(static_cast<std::size_t>(range.count)) {
    for (Offset i = 0; i < range.count; ++i) {
      if (range.y[i] != range.y[i]) continue;  // missing
      place_.push_back(static_cast<std::size_t>(i));
      y_.push_back(double(range.y[i]));
    }
    x_.resize(place_.size());
    out_.resize(place_.size());
  }

  void ask_values(const Real* x) {
    gather(x);
    loss_.values(x_.data(), y_.data(), out_.data(), x_.size());
    keep(&Answer::at_x);
  }

  void ask_slopes(const Real* x, double width) {
    gather(x);
    loss_.chords(x_.data(), width, y_.data(), out_.data(), x_.size());
    for (double& slope : out_) slope *= kShorter;
    keep(&Answer::slope);
  }

  /// The conjugate of each entry's loss at the place where the whole entry's conjugate at `slope(i)` needs it.
  template <class Slope>
  void ask_conjugates(Slope slope) {
    if constexpr (mode == Mode::masked_l1) {
      ask_slopes_at_zero();
    }
    for (std::size_t k = 0; k < place_.size(); ++k) {
      const auto i = static_cast<Offset>(place_[k]);
      Answer question = answers[place_[k]];
      question.wanted = &x_[k];
      const OneEntry h{question, Real(range_.lambda), range_.lambda};
      h.conjugate(slope(i), range_.y[i], h.weight(range_.w, i));
    }
    loss_.conjugates(x_.data(), y_.data(), out_.data(), x_.size());
    keep(&Answer::dual);
  }

  /// The entry's whole function, made of the answers.
  [[nodiscard]] OneEntry entry(Offset i) const {
    return {answers[static_cast<std::size_t>(i)], Real(range_.lambda), range_.lambda};
  }

 private:
  /// They only choose between points that all give a valid bound, so a chord that is not too short will do.
  void ask_slopes_at_zero() {
    double size = 0;
    for (const double y : y_) size += std::abs(y) / static_cast<double>(y_.size());
    std::fill(x_.begin(), x_.end(), 0.0);
    loss_.chords(x_.data(), 1e-3 * size, y_.data(), out_.data(), x_.size());
    for (double& slope : out_) slope = double(Real(slope * kShorter));
    keep(&Answer::slope_at_zero);
  }
  void gather(const Real* x) {
    for (std::size_t k = 0; k < place_.size(); ++k) x_[k] = double(x[place_[k]]);
  }
  void keep(double Answer::*answer) {
    for (std::size_t k = 0; k < place_.size(); ++k) answers[place_[k]].*answer = out_[k];
  }

  const losses::Custom& loss_;
  const EntryRange& range_;
  std::vector<std::size_t> place_;
  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<double> out_;

 public:
  std::vector<Answer> answers;  ///< one per entry; missing ones keep zeros, which nobody reads
};

template <Mode mode, bool weighted, bool with_conjugate>
EntrySums linearize_custom(const losses::Custom& loss, const EntryRange& r, double width) {
  EntrySums sums;
  for_each_block(r, [&](const EntryRange& range, Offset) {
    Block<mode, weighted> block(loss, range);
    block.ask_values(range.x);
    block.ask_slopes(range.x, width);
    if constexpr (with_conjugate) {
      block.ask_conjugates([&](Offset i) {
        const auto h = block.entry(i);
        const Real w = h.weight(range.w, i);
        return double(h.loss_slope(range.x[i], range.y[i], w, Real(width)) +
                      h.penalty_slope(range.penalty_x[i], range.y[i], Real(width)));
      });
    }
    for (Offset i = 0; i < range.count; ++i) {
      const Answer& answer = block.answers[static_cast<std::size_t>(i)];
      sums += linearize<Answer, mode, weighted, with_conjugate>(answer, part(range, i, 1), width);
    }
  });
  return sums;
}

template <Mode mode, bool weighted>
double objective_custom(const losses::Custom& loss, const EntryRange& r) {
  double sum = 0;
  for_each_block(r, [&](const EntryRange& range, Offset) {
    Block<mode, weighted> block(loss, range);
    block.ask_values(range.x);
    for (Offset i = 0; i < range.count; ++i) {
      const auto h = block.entry(i);
      sum += double(h.value(range.x[i], range.y[i], h.weight(range.w, i)));
    }
  });
  return sum;
}

template <Mode mode, bool weighted>
void smoothed_segment_custom(const losses::Custom& loss, const EntryRange& r, const Real* target, const double* t,
                             double width, SegmentSums& sums) {
  std::vector<Real> there;
  for_each_block(r, [&](const EntryRange& range, Offset from) {
    Block<mode, weighted> block(loss, range);
    there.resize(static_cast<std::size_t>(range.count));
    for (int p = 0; p < kSegmentPoints; ++p) {
      for (Offset i = 0; i < range.count; ++i) {
        there[static_cast<std::size_t>(i)] = range.x[i] + Real(t[p]) * (target[from + i] - range.x[i]);
      }
      block.ask_values(there.data());
      block.ask_slopes(there.data(), width);
      for (Offset i = 0; i < range.count; ++i) {
        const auto h = block.entry(i);
        const Real x = there[static_cast<std::size_t>(i)];
        const Real w = h.weight(range.w, i);
        const Real direction = target[from + i] - range.x[i];
        const Real slope = h.loss_slope(x, range.y[i], w, Real(width)) +
                           h.penalty_slope(range.penalty_x[i] + Real(t[p]) * direction, range.y[i], Real(width));
        sums.value[p] += double(h.value(x, range.y[i], w));
        sums.derivative[p] += double(slope) * double(direction);
        if constexpr (mode == Mode::observed_complement) {
          sums.square[p] += double(x) * double(x);
          sums.square_derivative[p] += 2 * double(x) * double(direction);
        }
      }
    }
  });
}

template <Mode mode, bool weighted>
void segment_custom(const losses::Custom& loss, const EntryRange& r, const Real* target, const double* t,
                    SegmentSums& sums) {
  smoothed_segment_custom<mode, weighted>(loss, r, target, t, 0.0, sums);
}

template <Mode mode, bool weighted>
constexpr LossKernels<losses::Custom> custom_table() {
  return {linearize_custom<mode, weighted, false>,
          linearize_custom<mode, weighted, true>,
          nullptr,
          objective_custom<mode, weighted>,
          segment_custom<mode, weighted>,
          smoothed_segment_custom<mode, weighted>};
}

template <Mode mode>
const LossKernels<losses::Custom>& custom_kernels(bool weighted) {
  static constexpr LossKernels<losses::Custom> tables[] = {custom_table<mode, false>(), custom_table<mode, true>()};
  return tables[weighted ? 1 : 0];
}

}  // namespace

/// The same for every instruction set: none can speed up calls of a stranger's function.
template <>
const LossKernels<losses::Custom>& loss_kernels<losses::Custom>(InstructionSet, Mode mode, bool weighted) {
  switch (mode) {
    case Mode::observed_complement:
      return custom_kernels<Mode::observed_complement>(weighted);
    case Mode::masked:
      return custom_kernels<Mode::masked>(weighted);
    case Mode::masked_l1:
      return custom_kernels<Mode::masked_l1>(weighted);
    case Mode::masked_complement:
      return custom_kernels<Mode::masked_complement>(weighted);
    case Mode::observed:
      break;
  }
  return custom_kernels<Mode::observed>(weighted);
}

}  // namespace tracenorm::kernels
