// A program of its own: the peak of a process knows no before.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "methods/baselines/problems.hpp"
#include "support/sanitizers.hpp"

namespace tracenorm {
namespace {

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

/// A million entries: a full matrix of this size would need 80 GB.
Problem wide_problem() {
  Random random(1);
  const Index rows = 200000;
  const Index cols = 100000;
  std::vector<Offset> begin{0};
  std::vector<Index> col;
  std::vector<Real> value;
  for (Index i = 0; i < rows; ++i) {
    for (Index part = 0; part < 5; ++part) {
      col.push_back(part * (cols / 5) + static_cast<Index>(random.below(cols / 5)));
      value.push_back(Real(random.normal() + (part < 2 ? 1 : -1)));
    }
    begin.push_back(static_cast<Offset>(col.size()));
  }
  return {SparseObservations{SparsePattern(rows, cols, std::move(begin), std::move(col)), std::move(value), {}},
          losses::Absolute{}, ComplementSquaredPenalty{0.001}, TraceNormBall{1}};
}

TEST(Memory, StaysFarBelowAFullMatrix) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers need memory of their own; the plain build measures";
  const Problem problem = wide_problem();
  const double before = resident_megabytes();
  for (const Method& method :
       {Method{methods::Rlrmc{.rank = 5}}, Method{methods::Glrl{.rank = 10}}, Method{methods::RankDrop{}}}) {
    const Result result = solve(problem, method, test::at_most(1));
    EXPECT_LT(result.objective, result.trace.front().objective);
    const double growth = peak_megabytes() - before;
    RecordProperty(method_name(method) + "_megabytes", static_cast<int>(growth));
    EXPECT_LT(growth, 400) << method_name(method);
  }
}

}  // namespace
}  // namespace tracenorm
