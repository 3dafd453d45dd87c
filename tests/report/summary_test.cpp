#include <gtest/gtest.h>

#include "report/example.hpp"

namespace tracenorm::report {
namespace {

/// The value behind a label; fails when there is none.
std::string value_of(const RunReport& report, const std::string& label) {
  for (const SummaryLine& line : summary(report)) {
    if (line.label == label) return line.value;
  }
  ADD_FAILURE() << "no line " << label;
  return {};
}

TEST(Summary, SaysWhatWasSolvedAndHow) {
  const RunReport report = example_report();
  EXPECT_EQ(value_of(report, "data"), "ratings.tsv: 4 x 5, 3 observed (15 %)");
  EXPECT_EQ(value_of(report, "problem"), "absolute loss, trace norm at most 7");
  EXPECT_EQ(value_of(report, "method"), "fwua (balanced width)");
  EXPECT_EQ(value_of(report, "status"), "all iterations done");
  EXPECT_EQ(value_of(report, "objective"), "10");
  EXPECT_EQ(value_of(report, "lower bound"), "8");
  EXPECT_EQ(value_of(report, "rank"), "1");
  EXPECT_EQ(value_of(report, "iterations"), "40");
  EXPECT_EQ(value_of(report, "seconds"), "0.125");
}

TEST(Summary, TextIsTheLinesAndTheCertificate) {
  const RunReport report = example_report();
  std::string expected;
  for (const SummaryLine& line : summary(report)) {
    const std::string where = line.label == "status" ? " (docs: troubleshooting#iteration_limit)" : "";
    expected += line.label + std::string(19 - line.label.size(), ' ') + line.value + where + "\n";
  }
  EXPECT_EQ(to_text(report), expected + certificate_sentence(report) + "\n");
}

TEST(Summary, SaysWhereTimeAndMemoryWent) {
  RunReport report = example_report();
  report.profile = {{"read", 12.34, 0, 2e8}, {"iterations", 123.4, 56, 2.5e9}};
  EXPECT_EQ(value_of(report, "profile"), "read 12.3 s, iterations 123 s (56 passes); at most 2.5 GB");
}

TEST(Summary, UnitsAreNamed) {
  RunReport report = example_report();
  report.preparation = {Preparation::Kind::zscore, 3.5, 0.5};
  EXPECT_TRUE(value_of(report, "data").ends_with(", z-scores (mean 3.5, deviation 0.5)"));
  report.preparation.kind = Preparation::Kind::both;
  EXPECT_TRUE(
      value_of(report, "data").ends_with(", minus offsets of rows and columns (around 3.5), in deviations of 0.5"));
}

TEST(Summary, HeldOutErrors) {
  RunReport report = example_report();
  report.result.solution_iteration = 30;
  report.preparation = {Preparation::Kind::zscore, 0, 2};
  report.validation = HeldOut{9, 0, 1.0, 0.5, 0.5, 0.25, {}};
  report.test = HeldOut{8, 0, {}, {}, {}, {}, std::nan("")};
  EXPECT_EQ(value_of(report, "iterations"), "40 (best on validation: 30)");
  EXPECT_EQ(value_of(report, "validation"), "RMSE 1.0000, MAE 0.5000; z-RMSE 0.5000, z-MAE 0.2500 (9 entries)");
  EXPECT_EQ(value_of(report, "test"), "AUC undefined (only one class) (8 entries)");
  report.validation->unknown = 2;
  EXPECT_TRUE(
      value_of(report, "validation")
          .ends_with("(9 entries; 2 of them of a row or column without training data, predicted by what else is "
                     "known)"));
}

TEST(Summary, PathIsAChart) {
  RunReport report = example_report();
  report.path = {{.radius = 3.5, .validation_error = 0.9, .seconds = 1},
                 {.radius = 7, .validation_error = 0.8, .seconds = 2},
                 {.radius = 14, .validation_error = 0.85, .seconds = 3}};
  report.path_best = 1;
  EXPECT_EQ(value_of(report, "problem"), "absolute loss, trace norm at most 7 (chosen)");
  EXPECT_EQ(value_of(report, "radius path"), "3.5        validation error 0.90000    ##############################");
  const std::vector<SummaryLine> lines = summary(report);
  EXPECT_EQ(lines[4].value, "7          validation error 0.80000 <- ");
  EXPECT_EQ(lines[5].value, "14         validation error 0.85000    ###############");
  EXPECT_EQ(lines[6].value, "3 settings in 6 seconds");
  EXPECT_EQ(lines[6].label, "");
}

TEST(Certificate, Sentence) {
  RunReport report = example_report();
  EXPECT_EQ(certificate_sentence(report), "certified: objective is at most 25 % above the optimum (proof: cholesky)");
  report.result.certificate = {SpectralBound::Proof::probabilistic, 1e-9, Slopes::current};
  EXPECT_TRUE(certificate_sentence(report).ends_with("(proof: probabilistic, wrong with probability at most 1e-09)"));
  report.result.lower_bound = -2;  // a share of it would say nothing
  EXPECT_TRUE(certificate_sentence(report).starts_with("certified: objective is at most 12 above the optimum"));
  report.result.certificate.proof = SpectralBound::Proof::none;
  EXPECT_EQ(certificate_sentence(report), "not certified: no lower bound of the optimum was found");
  EXPECT_EQ(certificate_sentence(example_report("rlrmc")), "no certificate: rlrmc is nonconvex");
}

/// The bound of the entries' own minima.
RunReport trivially_bounded(double objective, double first) {
  RunReport report = example_report();
  report.result.objective = objective;
  report.result.lower_bound = 0;
  report.result.certificate = {SpectralBound::Proof::exact, 0, Slopes::zero};
  report.result.trace.resize(2);
  report.result.trace[0].objective = first;
  return report;
}

TEST(Certificate, ABoundThatSaysNothingIsNoProof) {
  const RunReport report = trivially_bounded(10, 100);
  EXPECT_FALSE(has_useful_bound(report));
  EXPECT_EQ(
      certificate_sentence(report),
      "no useful bound yet: all that is known is that no objective is below 0; more iterations, or a gap to reach "
      "(--gap 0.01), would prove more");
  EXPECT_EQ(value_of(report, "lower bound"), "none yet");
}

TEST(Certificate, TheEntriesMinimaAreAProofWhereTheyAreReached) {
  const RunReport report = trivially_bounded(0.01, 100);
  EXPECT_TRUE(has_useful_bound(report));
  EXPECT_TRUE(certificate_sentence(report).starts_with("certified: objective is at most 0.01 above the optimum"));
}

TEST(Summary, TheRangeIsSaid) {
  RunReport report = example_report();
  report.preparation.range = {1, 5};
  EXPECT_EQ(value_of(report, "predictions"), "kept within 1 to 5, the ends of the data");
}

TEST(Certificate, OfAPenalisedProblem) {
  RunReport report = example_report("genfb");
  std::get<methods::GenFB>(report.method).trace_penalty = 0.5;
  EXPECT_EQ(value_of(report, "objective"), "10 (7 without the trace norm)");
  EXPECT_EQ(value_of(report, "trace norm"), "6 (radius for the bounded methods, but not converged)");
  report.result.status = Status::converged;
  EXPECT_EQ(value_of(report, "trace norm"), "6 (radius for the bounded methods)");
  EXPECT_EQ(radius(report), std::nullopt);
  EXPECT_NE(certificate_sentence(report).find("above the optimum of the penalised problem"), std::string::npos);
}

}  // namespace
}  // namespace tracenorm::report
