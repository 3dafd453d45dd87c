#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "tracenorm/losses/custom.hpp"

namespace tracenorm::losses {

namespace {

/// The smallest half-width at which a difference quotient still has about eight good digits.
double least_width(double x, double w) { return std::max(w, 1e-8 * std::max(1.0, std::abs(x))); }

/// Minimises g(x) = f(x, y) - s x for many (s, y) in lock step: every round asks the function for one value of each
/// search that is still going on. Minus the minimum is the conjugate.
class Minimizations {
 public:
  Minimizations(const Custom& loss, const double* s, const double* y, std::size_t count)
      : loss_(loss), searches_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      searches_[i].s = loss.slope_range.clamp(s[i]);
      searches_[i].y = y[i];
    }
  }

  void run(double* conjugate) {
    restart();
    evaluate([](Search& search) { return search.middle; }, &Search::at_middle);
    walk(1.0);
    walk(-1.0);
    for (Search& search : searches_) {
      search.low = search.middle - search.step;
      search.high = search.middle + search.step;
    }
    widen(&Search::low, -1.0);
    widen(&Search::high, 1.0);
    shrink();
    for (std::size_t i = 0; i < searches_.size(); ++i) conjugate[i] = searches_[i].unbounded ? kInfinity : 0.0;
    bound(conjugate);
  }

 private:
  struct Search {
    double s;
    double y;
    double step = 1;
    double middle = 0;
    double at_middle = 0;
    double low = 0;  // the bracket [low, high] and two points inside it
    double high = 0;
    double a = 0;
    double b = 0;
    double at_a = 0;
    double at_b = 0;
    double best = 0;
    double far_below = 0;  // outside of the bracket
    double far_above = 0;
    bool unbounded = false;
  };

  static constexpr double kFar = 1e12;
  static constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();
  static constexpr double kGolden = 0.6180339887498949;

  /// Every search that has a minimum takes part in the rounds to come.
  void restart() {
    active_.clear();
    for (Search& search : searches_) {
      if (!search.unbounded) active_.push_back(&search);
    }
  }

  template <class Finished>
  void retire(Finished finished) {
    active_.erase(std::remove_if(active_.begin(), active_.end(), [&](Search* search) { return finished(*search); }),
                  active_.end());
  }

  /// f(point) of every active search.
  template <class Point>
  const std::vector<double>& ask(Point point) {
    const std::size_t count = active_.size();
    x_.resize(count);
    y_.resize(count);
    f_.resize(count);
    for (std::size_t k = 0; k < count; ++k) {
      x_[k] = point(*active_[k]);
      y_[k] = active_[k]->y;
    }
    if (count > 0) loss_.values(x_.data(), y_.data(), f_.data(), count);
    return f_;
  }

  /// g(point) of every active search, kept in `where`.
  template <class Point>
  void evaluate(Point point, double Search::*where) {
    ask(point);
    for (std::size_t k = 0; k < active_.size(); ++k) active_[k]->*where = f_[k] - active_[k]->s * x_[k];
  }

  /// Steps of doubling length, as long as they lead downhill.
  void walk(double direction) {
    restart();
    for (Search* search : active_) search->step = 1;
    while (!active_.empty()) {
      evaluate([&](Search& search) { return search.middle + direction * search.step; }, &Search::at_a);
      retire([&](Search& search) {
        if (!(search.at_a < search.at_middle)) return true;
        search.middle += direction * search.step;
        search.at_middle = search.at_a;
        search.step *= 2;
        search.unbounded = std::abs(search.middle) > kFar;  // still falling: no slope of the function is as steep as s
        return search.unbounded;
      });
    }
  }

  /// Moves one end of the bracket outward until g is above its middle there.
  void widen(double Search::*end, double direction) {
    restart();
    while (!active_.empty()) {
      evaluate([&](Search& search) { return search.*end; }, &Search::at_a);
      retire([](Search& search) { return !(search.at_a < search.at_middle); });
      for (Search* search : active_) search->*end += direction * (search->step *= 2);
    }
  }

  static double first_point(const Search& search) { return search.high - kGolden * (search.high - search.low); }
  static double second_point(const Search& search) { return search.low + kGolden * (search.high - search.low); }

  /// Golden sections.
  void shrink() {
    restart();
    evaluate([](Search& search) { return search.a = first_point(search); }, &Search::at_a);
    evaluate([](Search& search) { return search.b = second_point(search); }, &Search::at_b);
    for (Search* search : active_) search->best = std::min({search->at_middle, search->at_a, search->at_b});
    for (int i = 0; i < 100; ++i) {
      retire([](Search& search) { return !(search.high - search.low > 1e-12 * std::max(1.0, std::abs(search.low))); });
      if (active_.empty()) return;
      // Either b becomes the new end and a the new b, or the mirror image of that; the point that is new is asked for.
      ask([](Search& search) {
        if (search.at_a <= search.at_b) {
          search.high = std::exchange(search.b, search.a);
          search.at_b = search.at_a;
          return search.a = first_point(search);
        }
        search.low = std::exchange(search.a, search.b);
        search.at_a = search.at_b;
        return search.b = second_point(search);
      });
      for (std::size_t k = 0; k < active_.size(); ++k) {
        Search& search = *active_[k];
        const double g = f_[k] - search.s * x_[k];
        (x_[k] == search.a ? search.at_a : search.at_b) = g;
        search.best = std::min(search.best, g);
      }
    }
  }

  /// The minimum from below. What was compared so far was rounded, so the bracket is opened until the function is
  /// certainly higher at both of its ends than between them: then it has its minimum inside. There a convex function
  /// lies above the lines that go on from outside: g(x) >= g(a) + q (x - a) with q the quotient from a - h to a, and
  /// likewise from the other end.
  void bound(double* conjugate) {
    restart();
    for (Search* search : active_) {
      const double size = std::max(std::abs(search->low), std::abs(search->high));
      search->step = least_width(size, search->high - search->low);
    }
    while (!active_.empty()) {
      evaluate([](Search& search) { return search.low - 2 * search.step; }, &Search::far_below);
      evaluate([](Search& search) { return search.low - search.step; }, &Search::at_a);
      evaluate([](Search& search) { return search.high + search.step; }, &Search::at_b);
      evaluate([](Search& search) { return search.high + 2 * search.step; }, &Search::far_above);
      retire([&](Search& search) {
        double& answer = conjugate[&search - searches_.data()];
        const double rounding = rounding_of(search);
        if (search.at_a > search.best + rounding && search.at_b > search.best + rounding) {
          answer = 8 * rounding - least_between(search);  // the lines go on for at most three steps
          return true;
        }
        search.step *= 8;
        answer = kInfinity;
        return !(search.step < kFar);
      });
    }
  }

  /// How much the values of g may be rounded by: f - s x, at the outermost places.
  static double rounding_of(const Search& search) {
    const double farthest = std::max(std::abs(search.low), std::abs(search.high)) + 2 * search.step;
    const double values = std::max(std::abs(search.far_below), std::abs(search.far_above)) + std::abs(search.best);
    return kRounding * (values + 2 * std::abs(search.s) * farthest);
  }

  /// The least value of the higher one of both lines.
  static double least_between(const Search& search) {
    const double width = search.high - search.low + 2 * search.step;
    const double fall = std::max(0.0, (search.far_below - search.at_a) / search.step);
    const double rise = std::max(0.0, (search.far_above - search.at_b) / search.step);
    const double meet = fall + rise > 0 ? (search.at_a - search.at_b + rise * width) / (fall + rise) : 0.0;
    const double at = std::clamp(meet, 0.0, width);
    // Where the lines start is rounded, too.
    const double farthest = std::max(std::abs(search.low), std::abs(search.high)) + 2 * search.step;
    const double places = kRounding * farthest * (fall + rise);
    return std::min({search.at_a - fall * at, search.at_b - rise * (width - at), search.best}) - places;
  }

  const Custom& loss_;
  std::vector<Search> searches_;
  std::vector<Search*> active_;
  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<double> f_;
};

}  // namespace

Custom Custom::on_blocks(Block block, std::string label) {
  Custom loss;
  loss.block = std::move(block);
  loss.label = std::move(label);
  loss.function = [on_block = loss.block](double x, double y) {
    double value = 0;
    on_block(&x, &y, &value, 1);
    return value;
  };
  return loss;
}

void Custom::values(const double* x, const double* y, double* out, std::size_t count) const {
  if (block) return block(x, y, out, count);
  for (std::size_t i = 0; i < count; ++i) out[i] = function(x[i], y[i]);
}

void Custom::chords(const double* x, double w, const double* y, double* out, std::size_t count) const {
  std::vector<double> shifted(count);
  std::vector<double> below(count);
  for (std::size_t i = 0; i < count; ++i) shifted[i] = x[i] - least_width(x[i], w);
  values(shifted.data(), y, below.data(), count);
  for (std::size_t i = 0; i < count; ++i) shifted[i] = x[i] + least_width(x[i], w);
  values(shifted.data(), y, out, count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = slope_range.clamp((out[i] - below[i]) / (2 * least_width(x[i], w)));
  }
}

void Custom::conjugates(const double* s, const double* y, double* out, std::size_t count) const {
  Minimizations(*this, s, y, count).run(out);
}

double Custom::chord(double x, double w, double y) const {
  const double h = least_width(x, w);
  return slope_range.clamp((function(x + h, y) - function(x - h, y)) / (2 * h));
}

double Custom::subgradient(double x, double y) const { return chord(x, 0.0, y); }

double Custom::conjugate(double s, double y) const {
  double value = 0;
  conjugates(&s, &y, &value, 1);
  return value;
}

}  // namespace tracenorm::losses
