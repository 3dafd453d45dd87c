// Whether data are symmetric, and making them so.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tracenorm/error.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm {

namespace {

std::string differ(const char* what, Index i, Index j, Real a, Real b) {
  const auto shown = [](Real x) { return std::isnan(x) ? std::string("nothing") : fmt::format("{}", x); };
  return fmt::format("{} at row {}, column {} is {}, at row {}, column {} it is {}", what, i, j, shown(a), j, i,
                     shown(b));
}

bool same(Real a, Real b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::string asymmetry_of(const DenseObservations& dense) {
  constexpr Index kBlock = 64;  // what is read across rows stays in the first cache
  const Index n = dense.rows;
  const auto at = [&](const auto& values, Index i, Index j) {
    return values[static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)];
  };
  const auto compare = [&](const char* what, const auto& values, const auto& shown, bool seen_only) -> std::string {
    if (values.size() != static_cast<std::size_t>(n) * static_cast<std::size_t>(n)) return {};
    for (Index top = 0; top < n; top += kBlock) {
      for (Index left = top; left < n; left += kBlock) {
        for (Index i = top; i < std::min(n, top + kBlock); ++i) {
          for (Index j = std::max(left, i + 1); j < std::min(n, left + kBlock); ++j) {
            if (seen_only && std::isnan(at(dense.value, i, j))) continue;
            if (!same(at(values, i, j), at(values, j, i))) return differ(what, i, j, at(shown, i, j), at(shown, j, i));
          }
        }
      }
    }
    return {};
  };
  const Array<std::int8_t>& code = dense.value.code();
  std::string fault = code.empty() ? compare("the value", dense.value, dense.value, false)
                                   : compare("the value", code, dense.value, false);
  return fault.empty() ? compare("the weight", dense.weight, dense.weight, true) : fault;
}

std::string asymmetry_of(const SparseObservations& sparse) {
  const SparsePattern& pattern = sparse.pattern;
  const Real nothing = std::numeric_limits<Real>::quiet_NaN();
  for (Index i = 0; i < pattern.rows(); ++i) {
    for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
      const Index j = pattern.col()[e];
      const Offset mirrored = pattern.find(j, i);
      const auto compare = [&](const char* what, const Array<Real>& values) {
        const Real other = mirrored < 0 ? nothing : values[static_cast<std::size_t>(mirrored)];
        const Real own = values[static_cast<std::size_t>(e)];
        return same(own, other) ? std::string() : differ(what, i, j, own, other);
      };
      std::string fault = compare("the value", sparse.value);
      if (fault.empty() && !sparse.weight.empty()) fault = compare("the weight", sparse.weight);
      if (!fault.empty()) return fault;
    }
  }
  return {};
}

void require_square(const Observations& observations) {
  if (rows(observations) == cols(observations)) return;
  throw Error(ErrorCode::input,
              fmt::format("the matrix is {} x {}; a symmetric one is square", rows(observations), cols(observations)));
}

Real middle(Real a, Real b) {
  if (std::isnan(a) || a == b) return b;
  return std::isnan(b) ? a : Real((double(a) + double(b)) / 2);
}

DenseObservations symmetrized_dense(const DenseObservations& dense) {
  const auto n = static_cast<std::size_t>(dense.rows);
  std::vector<Real> value(dense.value.begin(), dense.value.end());
  std::vector<Real> weight(dense.weight.begin(), dense.weight.end());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      Real& a = value[i * n + j];
      Real& b = value[j * n + i];
      if (!weight.empty()) {
        Real& wa = weight[i * n + j];
        Real& wb = weight[j * n + i];
        wa = wb = std::isnan(a) ? wb : std::isnan(b) ? wa : middle(wa, wb);
      }
      a = b = middle(a, b);
    }
  }
  return {dense.rows, dense.cols, std::move(value), std::move(weight)};
}

SparseObservations symmetrized_sparse(const SparseObservations& sparse) {
  const SparsePattern& pattern = sparse.pattern;
  Entries entries;
  std::vector<Real> weight;
  const auto add = [&](Index i, Index j, Real value, Real w) {
    entries.row.push_back(i);
    entries.col.push_back(j);
    entries.value.push_back(value);
    if (!sparse.weight.empty()) weight.push_back(w);
  };
  for (Index i = 0; i < pattern.rows(); ++i) {
    for (Offset e = pattern.begin()[i]; e < pattern.begin()[i + 1]; ++e) {
      const Index j = pattern.col()[e];
      const Offset mirrored = pattern.find(j, i);
      if (j < i && mirrored >= 0) continue;  // met as (j, i)
      const auto mean = [&](const Array<Real>& values) {
        if (values.empty()) return Real(1);
        const Real own = values[static_cast<std::size_t>(e)];
        return mirrored < 0 ? own : middle(own, values[static_cast<std::size_t>(mirrored)]);
      };
      add(i, j, mean(sparse.value), mean(sparse.weight));
      if (i != j) add(j, i, entries.value.back(), weight.empty() ? Real(1) : weight.back());
    }
  }
  return make_sparse(pattern.rows(), pattern.cols(), entries, weight);
}

}  // namespace

std::string asymmetry(const Observations& observations) {
  if (rows(observations) != cols(observations)) {
    return fmt::format("the matrix is {} x {}", rows(observations), cols(observations));
  }
  return std::visit([](const auto& data) { return asymmetry_of(data); }, observations);
}

Observations symmetrized(const Observations& observations) {
  require_square(observations);
  if (const auto* dense = std::get_if<DenseObservations>(&observations)) return symmetrized_dense(*dense);
  return symmetrized_sparse(std::get<SparseObservations>(observations));
}

}  // namespace tracenorm
