// Whole problems on a CUDA device, and what is said where there is none.
#include "cuda/every_case.hpp"
#include "support/identifier.hpp"

namespace tracenorm::test {
namespace {

/// Answers of the same quality, and the same bits every time.
TEST_P(EveryCase, SolvesAsTheHostDoes) {
  const Problem& problem = GetParam().problem;
  RunOptions options;
  options.iterations = 60;
  options.backend = "cuda";
  options.keep_dual = true;
  const Result found = solve(problem, parse_method("fwua"), options);
  const Result again = solve(problem, parse_method("fwua"), options);
  options.backend = "cpu";
  const Result expected = solve(problem, parse_method("fwua"), options);
  EXPECT_EQ(found.environment.backend, "cuda");
  EXPECT_NE(found.status, Status::numerical_failure) << found.message;
  EXPECT_EQ(found.objective, again.objective);
  EXPECT_EQ(found.lower_bound, again.lower_bound);
  EXPECT_EQ(found.solution.left(), again.solution.left());
  EXPECT_LE(found.trace_norm, problem.radius() * (1 + 1e-9));
  EXPECT_LE(found.lower_bound, expected.objective);
  EXPECT_LE(expected.lower_bound, found.objective);
  // Other random vectors start the searches, so steps differ after the first ones.
  EXPECT_NEAR(found.objective, expected.objective, 0.02 * (1 + std::abs(expected.objective)));
  const double on_cpu = objective(problem, found.solution);
  EXPECT_NEAR(found.objective, on_cpu, 1e-9 * on_cpu) << "the same answer in both places";
}

/// To small gaps both come to the same optimum.
TEST_P(EveryCase, CorrectiveComesToTheSameOptimum) {
  RunOptions options;
  options.iterations = 400;
  options.seconds = 20;
  options.gap = 1e-6;
  options.backend = "cuda";
  const Result found = solve(GetParam().problem, parse_method("corrective"), options);
  options.backend = "cpu";
  const Result expected = solve(GetParam().problem, parse_method("corrective"), options);
  EXPECT_NE(found.status, Status::numerical_failure) << found.message;
  EXPECT_LE(found.lower_bound, expected.objective);
  EXPECT_LE(expected.lower_bound, found.objective);
  if (found.relative_gap > 5e-6 || expected.relative_gap > 5e-6) return;  // neither claims more
  EXPECT_NEAR(found.objective, expected.objective, 1e-5 * std::abs(expected.objective));
}

INSTANTIATE_TEST_SUITE_P(Cuda, EveryCase, testing::ValuesIn(cases()),
                         [](const auto& tested) { return identifier(tested.param.name); });

Problem small_problem() {
  Problem problem{observations(20, 30, 0.5, false, false, false), losses::Absolute{}, NoPenalty{}, {}};
  problem.constraint.radius = 5;
  return problem;
}

std::string refusal(const Problem& problem) {
  RunOptions options;
  options.backend = "cuda";
  options.iterations = 3;
  try {
    static_cast<void>(solve(problem, parse_method("fwua"), options));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(error.option(), "backend");
    return error.what();
  }
  return {};
}

TEST(CudaBackend, SaysWhyThereIsNone) {
  const CudaDevices devices = cuda_devices();
  EXPECT_EQ(devices.none.empty(), !devices.names.empty());
  EXPECT_EQ(refusal(small_problem()).find(devices.none) != std::string::npos, true) << devices.none;
}

TEST(CudaBackend, RefusesLossesOfTheHost) {
  Problem problem = small_problem();
  losses::Custom custom;
  custom.function = [](double x, double y) { return std::abs(x - y); };
  problem.loss = custom;
  if (cuda_devices().none.find("no CUDA backend") != std::string::npos) GTEST_SKIP() << cuda_devices().none;
  EXPECT_NE(refusal(problem).find("custom loss"), std::string::npos);
}

TEST(CudaBackend, AutomaticChoiceLeavesSmallProblemsToTheHost) {
  EXPECT_FALSE(worth_a_device(small_problem()));
  RunOptions options;
  options.iterations = 3;
  EXPECT_EQ(solve(small_problem(), parse_method("fwua"), options).environment.backend, "cpu");
}

TEST(CudaBackend, OtherWordsAreRefused) {
  RunOptions options;
  options.backend = "gpu";
  EXPECT_THROW(static_cast<void>(solve(small_problem(), parse_method("fwua"), options)), Error);
}

}  // namespace
}  // namespace tracenorm::test
