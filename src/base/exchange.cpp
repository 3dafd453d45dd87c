#include "base/exchange.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tracenorm/error.hpp"

namespace tracenorm {

void Exchange::miss(std::string_view name) const {
  throw Error(ErrorCode::input,
              fmt::format("the checkpoint has no '{}' as this version needs it; it was made by another "
                          "version, or is damaged",
                          key(name)));
}

std::int64_t Exchange::whole(std::string_view name, double number, bool wide) const {
  const double most = wide ? 0x1p53 : 0x1p31 - 1;
  if (!(std::abs(number) <= most) || number != std::floor(number)) miss(name);
  return static_cast<std::int64_t>(number);
}

bool Exchange::has(std::string_view name) const {
  return state_.numbers.contains(key(name)) || state_.texts.contains(key(name));
}

const Eigen::MatrixXd& Exchange::found(std::string_view name, Eigen::Index rows, Eigen::Index cols) const {
  const auto at = state_.numbers.find(key(name));
  if (at == state_.numbers.end()) miss(name);
  const Eigen::MatrixXd& numbers = at->second;
  if ((rows != Eigen::Dynamic && numbers.rows() != rows) || (cols != Eigen::Dynamic && numbers.cols() != cols)) {
    miss(name);
  }
  return numbers;
}

void Exchange::list(std::string_view name, std::vector<double>& values) {
  Eigen::VectorXd all = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  matrix(name, all);
  values.assign(all.begin(), all.end());
}

void Exchange::text(std::string_view name, std::string& value) {
  if (!restores_) {
    state_.texts[key(name)] = value;
    return;
  }
  const auto at = state_.texts.find(key(name));
  if (at == state_.texts.end()) miss(name);
  value = at->second;
}

void Exchange::entries(std::string_view name, std::vector<Real>& values) {
  if (!restores_) {
    state_.entries[key(name)] = values;
    return;
  }
  const auto at = state_.entries.find(key(name));
  if (at == state_.entries.end()) miss(name);
  values = at->second;
}

void Exchange::random(std::string_view name, Random& random) {
  Random::State state = random.state();
  list(name, state);
  if (!restores_) return;
  for (std::size_t half = 0; half < 8; ++half) {
    if (!(state[half] >= 0 && state[half] < 0x1p32)) miss(name);
  }
  random.restore(state);
}

}  // namespace tracenorm
