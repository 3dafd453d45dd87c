#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/example.hpp"

namespace tracenorm::report {
namespace {

using Json = nlohmann::json;

TEST(RunJson, SaysTheNumbersOfTheRun) {
  const Json json = Json::parse(to_json(example_report()));
  EXPECT_EQ(json["status"], "iteration_limit");
  EXPECT_EQ(json["radius"], 7);
  EXPECT_EQ(json["objective"], 10);
  EXPECT_EQ(json["relative_gap"], 0.25);
  EXPECT_EQ(json["rank"], 1);
  EXPECT_EQ(json["certificate"], "cholesky");
  EXPECT_EQ(json["certificate_slopes"], "average");
  EXPECT_EQ(json["radius_path"], nullptr);
  EXPECT_EQ(json["test"], nullptr);
  EXPECT_EQ(json["trace"].size(), 2);
  EXPECT_EQ(json["trace"][1]["k"], 40);
  EXPECT_FALSE(json.contains("radius_for_bounded_methods"));
}

TEST(RunJson, WhatIsNotFiniteIsNull) {
  const Json json = Json::parse(to_json(example_report()));
  EXPECT_EQ(json["trace"][0]["lower_bound"], nullptr);
  EXPECT_EQ(json["trace"][0]["relative_gap"], nullptr);
  EXPECT_FALSE(json["trace"][0].contains("validation_rmse"));
}

TEST(RunJson, ProofIsNullWhereThereIsNone) {
  RunReport report = example_report();
  report.result.certificate = {};
  const Json json = Json::parse(to_json(report));
  EXPECT_EQ(json["certificate"], "none");
  EXPECT_EQ(json["certificate_level"], nullptr);
  EXPECT_EQ(json["certificate_slopes"], nullptr);
}

TEST(RunJson, PenalisedProblemNamesItsRadius) {
  RunReport report = example_report("genfb");
  std::get<methods::GenFB>(report.method).trace_penalty = 0.5;
  const Json json = Json::parse(to_json(report));
  EXPECT_EQ(json["radius"], nullptr);
  EXPECT_EQ(json["radius_for_bounded_methods"], 6);
  EXPECT_EQ(json["objective_without_trace_penalty"], 7);
  EXPECT_EQ(json["options"]["trace_penalty"], 0.5);
}

TEST(RunJson, OptionsAndEnvironment) {
  RunReport report = example_report();
  report.run.gap = 0.5;
  report.options = {{"split", std::string("0.5,0.25,0.25")}, {"outliers", std::monostate{}}};
  const Json json = Json::parse(to_json(report));
  EXPECT_EQ(json["options"]["width"], "balanced");
  EXPECT_EQ(json["options"]["gap"], 0.5);
  EXPECT_EQ(json["options"]["time"], nullptr);
  EXPECT_EQ(json["options"]["split"], "0.5,0.25,0.25");
  EXPECT_EQ(json["options"]["outliers"], nullptr);
  EXPECT_EQ(json["environment"]["seed"], 18446744073709551615U);  // every bit of it
  // The page lists the same names.
  for (const NamedValue& option : all_options(report))
    EXPECT_TRUE(json["options"].contains(option.name)) << option.name;
  report.path = {{.radius = 7}};
  EXPECT_EQ(Json::parse(to_json(report))["options"]["radius"], "auto");
}

TEST(RunJson, PathMarksWhatWasChosen) {
  RunReport report = example_report();
  report.path = {{.radius = 3.5}, {.radius = 7}};
  report.path_best = 1;
  const Json path = Json::parse(to_json(report))["radius_path"];
  EXPECT_FALSE(path[0]["chosen"]);
  EXPECT_TRUE(path[1]["chosen"]);
}

TEST(RunJson, SaysOnWhatShareOfTheRowsSettingsWereSearchedFor) {
  RunReport report = example_report();
  EXPECT_EQ(Json::parse(to_json(report))["searched"], nullptr);
  report.searched = SearchedShare{30, 1000, 2};
  const Json searched = Json::parse(to_json(report))["searched"];
  EXPECT_EQ(searched["rows"], 30);
  EXPECT_EQ(searched["entries"], 1000);
  EXPECT_EQ(searched["settings"], 2);
}

TEST(RunJson, FileNamesNeedNotBeText) {
  RunReport report = example_report();
  report.data = "r\xff.tsv";
  EXPECT_EQ(Json::parse(to_json(report))["options"]["data"], "r\xef\xbf\xbd.tsv");
}

TEST(ModelMetadata, IsOneLineOfJson) {
  const std::string text = make_model(example_report()).metadata;
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const Json json = Json::parse(text);
  EXPECT_EQ(json["loss"], "absolute");
  EXPECT_EQ(json["lower_bound"], 8);
  EXPECT_EQ(json["version"], "1.2.3");
}

TEST(NamedValues, AsJsonAndAsText) {
  const std::vector<NamedValue> values{{"a_number", 0.25},
                                       {"count", std::int64_t{3}},
                                       {"missing", std::monostate{}},
                                       {"endless", std::numeric_limits<double>::infinity()},
                                       {"flag", true},
                                       {"names", std::vector<std::string>{"x", "y"}}};
  EXPECT_EQ(Json::parse(to_json(values)), (Json{{"a_number", 0.25},
                                                {"count", 3},
                                                {"missing", nullptr},
                                                {"endless", nullptr},
                                                {"flag", true},
                                                {"names", {"x", "y"}}}));
  EXPECT_EQ(to_text(values),
            "a number           0.25\ncount              3\nmissing            none\nendless            inf\n"
            "flag               yes\nnames              x, y\n");
}

}  // namespace
}  // namespace tracenorm::report
