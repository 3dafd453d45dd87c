#include "tracenorm/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tracenorm {
namespace {

std::string complaint(const std::optional<std::string>& name, const GivenOptions& given) {
  try {
    make_method(name, given);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "nobody complained";
  return "";
}

OptionValue value_of(const std::vector<Option>& options, std::string_view name) {
  const auto at = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.field.name == name; });
  EXPECT_NE(at, options.end()) << name;
  return at->value;
}

TEST(Fields, CountsAreWhole) {
  methods::Corrective options;
  EXPECT_TRUE(set_option(options, "steps", std::int64_t{7}));
  EXPECT_EQ(options.steps, 7);
  EXPECT_TRUE(set_option(options, "steps", 8.0));
  EXPECT_EQ(options.steps, 8);
  try {
    set_option(options, "steps", 2.5);
    FAIL() << "2.5 steps";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("steps = 2.5; it must be a whole number from 0 to 1000000"), 0U);
    EXPECT_EQ(error.option(), "steps");
  }
  EXPECT_EQ(options.steps, 8);
  EXPECT_TRUE(set_option(options, "tolerance", 0.5));
  EXPECT_EQ(options.tolerance, 0.5);
  EXPECT_FALSE(set_option(options, "mu", 1.0));
}

TEST(Fields, LimitsHoldAndNanIsRefused) {
  RunOptions run;
  for (const auto& [name, value] : GivenOptions{{"gap", 0.0},
                                                {"gap", std::numeric_limits<double>::quiet_NaN()},
                                                {"iterations", std::int64_t{-1}},
                                                {"iterations", 1e8},
                                                {"certificate_share", 1.5},
                                                {"threads", std::string("many")}}) {
    EXPECT_THROW(set_option(run, name, value), Error) << name << " = " << to_string(value);
  }
  EXPECT_TRUE(set_option(run, "gap", 0.25));
  EXPECT_EQ(run.gap, 0.25);
  EXPECT_TRUE(set_option(run, "gap", OptionValue{}));
  EXPECT_FALSE(run.gap);
  EXPECT_TRUE(set_option(run, "seed", std::int64_t{(1LL << 60) + 1}));
  EXPECT_EQ(run.seed, (1ULL << 60) + 1) << "a seed keeps every bit";
}

TEST(Fields, RangesInWords) {
  EXPECT_EQ(describe_range({"", 1, 10, "", true}), "a whole number from 1 to 10");
  EXPECT_EQ(describe_range({"", kAboveZero, kUnlimited, "", false}), "a number above 0");
  EXPECT_EQ(describe_range({"", kAboveZero, 1, "", false}), "a number above 0 and at most 1");
  EXPECT_EQ(describe_range({"", 0, kUnlimited, "", false}), "a number that is 0 or more");
  EXPECT_EQ(describe_range({"", 0.001, 1.999, "", false}), "a number from 0.001 to 1.999");
}

/// Every default of every table lies in its range, and what is read can be written back.
TEST(Fields, DefaultsFitTheirTables) {
  for (const MethodHelp& help : method_help()) {
    GivenOptions same;
    for (const Option& option : options_of(parse_method(help.name))) {
      same.emplace_back(option.field.name, option.value);
    }
    const std::vector<Option> again = options_of(make_method(std::string(help.name), same));
    for (const auto& [name, value] : same) EXPECT_EQ(value_of(again, name), value) << help.name << " " << name;
  }
  check_fields(RunOptions{});
}

TEST(MakeMethod, ChoosesByWhatIsAsked) {
  EXPECT_EQ(method_name(make_method({}, {})), "fwua");
  EXPECT_EQ(method_name(make_method({}, {}, true)), "corrective");
  EXPECT_EQ(method_name(make_method({}, {{"steps", std::int64_t{5}}}, true)), "corrective");
  EXPECT_EQ(method_name(make_method({}, {{"width", std::string("paper")}}, true)), "fwua");
  EXPECT_EQ(method_name(make_method("rdfw", {}, true)), "rdfw");
}

TEST(MakeMethod, SetsOptionsInAnyOrder) {
  // The width rule brings its fields and its steps; a step that is said stays.
  const Method method = make_method("rdfw", {{"epsilon", 0.5},
                                             {"step", std::string("line-search")},
                                             {"rank", std::int64_t{3}},
                                             {"width", std::string("paper")}});
  const auto& options = std::get<methods::RankDrop>(method);
  EXPECT_EQ(options.rank, 3);
  EXPECT_EQ(options.frank_wolfe.step, methods::StepRule::line_search);
  EXPECT_EQ(std::get<PaperWidth>(options.frank_wolfe.width).epsilon, 0.5);
  const Method paper = make_method("fwua", {{"width", std::string("paper")}});
  EXPECT_EQ(std::get<methods::FrankWolfe>(paper).step, methods::StepRule::open_loop);
  EXPECT_EQ(value_of(options_of(make_method("genfb", {{"step", 0.5}})), "step"), OptionValue(0.5));
}

TEST(MakeMethod, WhatAMethodDoesNotHave) {
  const std::string stranger = complaint("fwua", {{"mu", 1.0}});
  EXPECT_NE(stranger.find("method fwua does not have this option"), std::string::npos) << stranger;
  EXPECT_NE(stranger.find("it belongs to sccg"), std::string::npos) << stranger;
  EXPECT_NE(stranger.find("it has: width, step, oracle_tolerance"), std::string::npos) << stranger;
  EXPECT_NE(complaint("fwua", {{"epsilon", 1.0}}).find("fwua with width paper"), std::string::npos);
  EXPECT_NE(complaint("fwua", {{"width", std::string("constant")}}).find("one of balanced, paper, hybrid"),
            std::string::npos);
  EXPECT_NE(complaint("sccg", {{"width", std::string("paper")}}).find("one of constant"), std::string::npos);
  EXPECT_NE(complaint("rlrmc", {{"width", std::string("paper")}}).find("does not have"), std::string::npos);
  EXPECT_NE(complaint("fwua", {{"step", 0.5}}).find("open-loop, measured, line-search"), std::string::npos);
  EXPECT_NE(complaint("newton", {}).find("unknown method 'newton'; there are: fwua"), std::string::npos);
}

TEST(MethodOptions, NameTheWidthWhereItMatters) {
  std::vector<std::string> owners;
  for (const MethodOption& known : method_options()) {
    if (known.option.field.name == "epsilon") owners.push_back(known.owner);
  }
  EXPECT_EQ(owners, (std::vector<std::string>{"fwua with width paper", "rdfw with width paper"}));
}

}  // namespace
}  // namespace tracenorm
