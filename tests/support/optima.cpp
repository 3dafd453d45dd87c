#include "support/optima.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tracenorm::test {

namespace {

nlohmann::json load(const char* path = TRACENORM_FIXTURES "/optima.json") {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("cannot open ") + path);
  return nlohmann::json::parse(file);
}

SparseObservations observations(const nlohmann::json& j) {
  const Entries entries{j["row"], j["col"], j["value"]};
  const auto weight =
      !j.contains("weight") || j["weight"].is_null() ? std::vector<Real>{} : j["weight"].get<std::vector<Real>>();
  return make_sparse(j["rows"], j["cols"], entries, weight);
}

}  // namespace

const std::vector<SolvedProblem>& solved_problems() {
  static const std::vector<SolvedProblem> all = [] {
    std::vector<SolvedProblem> list;
    const nlohmann::json document = load();
    for (const auto& j : document["constrained"]) {
      list.push_back({j["name"],
                      {observations(j), parse_loss(j["loss"].get<std::string>()),
                       parse_penalty(j["penalty"].get<std::string>()), TraceNormBall{j["radius"]}},
                      j["optimum"],
                      j["accuracy"]});
    }
    return list;
  }();
  return all;
}

const std::vector<SolvedProblem>& weighted_problems() {
  static const std::vector<SolvedProblem> all = [] {
    std::vector<SolvedProblem> list;
    for (const auto& j : load(TRACENORM_FIXTURES "/weighted_optima.json")) {
      list.push_back(
          {j["name"],
           {observations(j), parse_loss(j["loss"].get<std::string>()), parse_penalty(j["penalty"].get<std::string>()),
            TraceNormBall{j["radius"], j["row_weight"], j["col_weight"]}},
           j["optimum"],
           j["accuracy"]});
    }
    return list;
  }();
  return all;
}

const std::vector<SolvedProblem>& semidefinite_problems() {
  static const std::vector<SolvedProblem> all = [] {
    std::vector<SolvedProblem> list;
    for (const auto& j : load(TRACENORM_FIXTURES "/psd_optima.json")) {
      list.push_back(
          {j["name"],
           {observations(j), parse_loss(j["loss"].get<std::string>()), parse_penalty(j["penalty"].get<std::string>()),
            TraceNormBall{j["radius"], {}, {}, Symmetry::semidefinite}},
           j["optimum"],
           j["accuracy"]});
    }
    return list;
  }();
  return all;
}

const std::vector<SolvedProblem>& offset_problems() {
  static const std::vector<SolvedProblem> all = [] {
    std::vector<SolvedProblem> list;
    for (const auto& j : load(TRACENORM_FIXTURES "/offset_optima.json")) {
      list.push_back(
          {j["name"],
           {observations(j), parse_loss(j["loss"].get<std::string>()), NoPenalty{},
            TraceNormBall{j["radius"], j["row_weight"], j["col_weight"]}, OffsetRidge{j["row_ridge"], j["col_ridge"]}},
           j["optimum"],
           j["accuracy"]});
    }
    return list;
  }();
  return all;
}

const std::vector<PenalizedProblem>& penalized_problems() {
  static const std::vector<PenalizedProblem> all = [] {
    std::vector<PenalizedProblem> list;
    const nlohmann::json document = load();
    for (const auto& j : document["penalized"]) {
      list.push_back({j["name"],
                      {observations(j), parse_loss(j["loss"].get<std::string>()), L1Penalty{j["lambda1"]},
                       TraceNormBall{j["trace_norm"]}},
                      j["lambda1"],
                      j["lambda2"],
                      j["optimum"],
                      j["accuracy"]});
    }
    return list;
  }();
  return all;
}

}  // namespace tracenorm::test
