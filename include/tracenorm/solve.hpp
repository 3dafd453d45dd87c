// The one way to solve a problem.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tracenorm/methods/corrective.hpp"
#include "tracenorm/methods/frank_wolfe.hpp"
#include "tracenorm/methods/genfb.hpp"
#include "tracenorm/methods/glrl.hpp"
#include "tracenorm/methods/rank_drop.hpp"
#include "tracenorm/methods/rlrmc.hpp"
#include "tracenorm/problem.hpp"
#include "tracenorm/run.hpp"

namespace tracenorm {

/// The closed set of methods. A new one is a file in methods/, one in src/methods/, and one line here.
using Method = std::variant<methods::FrankWolfe, methods::RankDrop, methods::Corrective, methods::GenFB, methods::Rlrmc,
                            methods::Glrl>;

/// A method by its name: fwua, rdfw, corrective, sccg, sccg-sg, hcgs, genfb, rlrmc, glrl. Throws a usage error that
/// lists the names there are.
Method parse_method(std::string_view name);
std::string method_name(const Method& method);
/// Whether the method solves the problem under the trace-norm bound. The others ignore the radius and give no bound.
bool is_bounded(const Method& method);
/// Whether the method can fit offsets together with X.
bool carries_offsets(const Method& method);
struct MethodHelp {
  std::string_view name;
  std::string_view help;
};
std::vector<MethodHelp> method_help();

/// Checks problem and options, runs the method, recomputes what is reported from the solution that is returned.
Result solve(const Problem& problem, const Method& method = methods::FrankWolfe{}, const RunOptions& options = {},
             const RunHooks& hooks = {});

/// f(X) for given factors. Zero threads means all cores, as in RunOptions.
double objective(const Problem& problem, const LowRankMatrix& x, int threads = 0);

}  // namespace tracenorm
