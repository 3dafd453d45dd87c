#include "tracenorm/model.hpp"

#include <cstdint>
#include <utility>

namespace tracenorm {

std::string Labels::name(Index index) const {
  if (names.empty()) return std::to_string(std::int64_t{index} + base);
  return names.at(static_cast<std::size_t>(index));
}

LowRankMatrix with_values(const LowRankMatrix& x, const std::vector<double>& values) {
  return {x.left(), Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size())),
          x.right()};
}

void Model::predict_by(Reading reading) {
  certified = Reading{{factors.values().begin(), factors.values().end()},
                      std::exchange(preparation.row_offset, std::move(reading.row_offset)),
                      std::exchange(preparation.col_offset, std::move(reading.col_offset))};
  factors = with_values(factors, reading.values);
}

Model Model::answer() const {
  Model result = *this;
  if (!certified) return result;
  result.factors = with_values(factors, certified->values);
  result.preparation.row_offset = certified->row_offset;
  result.preparation.col_offset = certified->col_offset;
  result.certified.reset();
  return result;
}

}  // namespace tracenorm
