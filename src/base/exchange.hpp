// One function says what of an object is kept, and the same one puts it back: nothing can be kept and then forgotten.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "tracenorm/state.hpp"

namespace tracenorm {

class Exchange {
 public:
  static Exchange keep(State& into) { return {into, false, {}}; }
  /// The state stays as it is.
  static Exchange restore(const State& from) { return {const_cast<State&>(from), true, {}}; }

  [[nodiscard]] bool restores() const { return restores_; }
  /// For a part of the object, whose names then begin with this one.
  [[nodiscard]] Exchange part(std::string_view name) const { return {state_, restores_, key(name) + "."}; }
  /// Whether there is something of that name, numbers or a text.
  [[nodiscard]] bool has(std::string_view name) const;

  /// A number, a count, a flag or an enum; counts up to 2^53.
  template <class Number>
  requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>) void number(std::string_view name, Number& value) {
    Eigen::MatrixXd one = Eigen::MatrixXd::Constant(1, 1, static_cast<double>(value));
    matrix(name, one);
    if constexpr (std::is_floating_point_v<Number>) {
      if (restores_) value = one(0, 0);
    } else if (restores_) {
      value = static_cast<Number>(whole(name, one(0, 0), sizeof(Number) > sizeof(int)));
    }
  }
  /// A vector or a matrix.
  template <class Derived>
  void matrix(std::string_view name, Eigen::PlainObjectBase<Derived>& value) {
    if (restores_) {
      value = found(name, Derived::RowsAtCompileTime, Derived::ColsAtCompileTime);
    } else {
      state_.numbers[key(name)] = value;
    }
  }
  void list(std::string_view name, std::vector<double>& values);
  template <std::size_t size>
  void list(std::string_view name, std::array<double, size>& values) {
    Eigen::Matrix<double, int{size}, 1> all = Eigen::Map<const Eigen::Matrix<double, int{size}, 1>>(values.data());
    matrix(name, all);
    std::copy(all.begin(), all.end(), values.begin());
  }
  void text(std::string_view name, std::string& value);
  void entries(std::string_view name, std::vector<Real>& values);
  void random(std::string_view name, Random& random);

 private:
  Exchange(State& state, bool restores, std::string prefix)
      : state_(state), restores_(restores), prefix_(std::move(prefix)) {}
  [[nodiscard]] std::string key(std::string_view name) const { return prefix_ + std::string(name); }
  /// Numbers of that name and, where these are not Eigen::Dynamic, so many rows and columns.
  [[nodiscard]] const Eigen::MatrixXd& found(std::string_view name, Eigen::Index rows, Eigen::Index cols) const;
  [[noreturn]] void miss(std::string_view name) const;
  /// The number as a count that an int, or a wider type, can hold.
  [[nodiscard]] std::int64_t whole(std::string_view name, double number, bool wide) const;

  State& state_;
  bool restores_;
  std::string prefix_;
};

}  // namespace tracenorm
