// Random matrices, vectors and entries, all with standard normal numbers.
#pragma once

#include <Eigen/Core>

#include "base/random.hpp"
#include "tracenorm/observations.hpp"

namespace tracenorm::test {

inline Eigen::MatrixXd normal_matrix(Eigen::Index rows, Eigen::Index cols, Random& random) {
  Eigen::MatrixXd matrix(rows, cols);
  for (double& x : matrix.reshaped()) x = random.normal();
  return matrix;
}

inline Eigen::VectorXd unit(Random& random, Eigen::Index n) { return normal_matrix(n, 1, random).normalized(); }

/// m' m of a matrix with n columns and `inner` rows.
inline Eigen::MatrixXd random_gram(Random& random, Eigen::Index n, Eigen::Index inner) {
  const Eigen::MatrixXd m = normal_matrix(inner, n, random);
  return m.transpose() * m;
}

/// About this share of the entries of a matrix, which are value(row, column).
template <class Value>
SparseObservations drawn_entries(Index rows, Index cols, double share, Random& random, const Value& value) {
  Entries entries;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (random.uniform() > share) continue;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(Real(value(i, j)));
    }
  }
  return make_sparse(rows, cols, entries);
}
inline SparseObservations normal_entries(Index rows, Index cols, double share, Random& random) {
  return drawn_entries(rows, cols, share, random, [&](Index, Index) { return random.normal(); });
}

}  // namespace tracenorm::test
