// What the binding's files share. Bindings are thin: they turn NumPy arrays into the library's types and back, hand
// exceptions over, and mind the interpreter's lock. Checks of dtypes and shapes are Python's (tracenorm/_data.py).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tracenorm/ranks.hpp"
#include "tracenorm/tracenorm.hpp"

namespace tracenorm::python {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Data ready to be solved: the observations in prepared units, and how to undo the preparation.
struct Data {
  Observations observations;
  Preparation preparation;
};

/// The elements of a Python array, seen in place.
template <class T, class Source>
Array<T> borrow(const Source& source) {
  auto* held = new Source(source);
  // The last reference may be dropped by a thread that does not hold the interpreter's lock.
  const std::shared_ptr<const void> owner(held, [](const Source* array) {
    const nb::gil_scoped_acquire lock;
    delete array;
  });
  return Array<T>::borrow(source.data(), source.size(), owner);
}

template <class T>
std::vector<T> copy(const Vector<T>& source) {
  return {source.data(), source.data() + source.size()};
}

/// Rows, columns and values.
using EntryArrays = std::tuple<Vector<Index>, Vector<Index>, Vector<Real>>;

inline Entries entries_from(const EntryArrays& arrays) {
  return {copy(std::get<0>(arrays)), copy(std::get<1>(arrays)), copy(std::get<2>(arrays))};
}

/// What Python gets.
template <class T>
using Given = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using GivenMatrix = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
using Dict = nb::typed<nb::dict, nb::str, nb::any>;

/// A NumPy array that takes the elements over.
template <class T>
Given<T> give(std::vector<T> elements) {
  auto* held = new std::vector<T>(std::move(elements));
  const nb::capsule owner(held, [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
  return Given<T>(held->data(), {held->size()}, owner);
}

/// A number, or nothing for None; a TypeError that names the argument for anything else.
OptionValue number_from(const std::string& name, nb::handle value);

/// An option struct from keywords; their names are those of its table.
template <class Options>
void set_options(Options& options, const Dict& keywords) {
  for (const auto& [key, value] : keywords) {
    const auto name = nb::cast<std::string>(key);
    const bool word = nb::isinstance<nb::str>(value) && !words_of(options, name).empty();
    if (!set_option(options, name, word ? OptionValue(nb::cast<std::string>(value)) : number_from(name, value))) {
      throw nb::type_error(("unexpected keyword argument '" + name + "'").c_str());
    }
  }
}

/// Processes that make the same calls together, as Python holds them.
class ProcessRanks {
 public:
  /// Those that this one was started among, or those of a communicator by its number in Fortran.
  explicit ProcessRanks(std::optional<int> communicator);
  ProcessRanks(const ProcessRanks&) = delete;
  ProcessRanks& operator=(const ProcessRanks&) = delete;
  ~ProcessRanks();

  /// Null for a process alone.
  [[nodiscard]] Ranks* ranks() const { return ranks_; }
  /// An input error on all of them where one was given other data than the first.
  void expect_same(std::uint64_t fingerprint) const;

 private:
  std::unique_ptr<Ranks> own_;
  Ranks* ranks_ = nullptr;
};

void bind_data(nb::module_& module);
void bind_loss(nb::module_& module);
void bind_method(nb::module_& module);
void bind_model(nb::module_& module);
void bind_ranking(nb::module_& module);
void bind_ranks(nb::module_& module);
void bind_solve(nb::module_& module);
void bind_verify(nb::module_& module);

}  // namespace tracenorm::python
