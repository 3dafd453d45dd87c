#include "report/progress_bar.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

namespace tracenorm::report {
namespace {

Iteration halfway() {
  Iteration iteration;
  iteration.k = 50;
  iteration.seconds = 30;
  iteration.objective = 1234.5678;
  iteration.relative_gap = 0.0325;
  iteration.rank = 7;
  return iteration;
}

RunOptions hundred() {
  RunOptions options;
  options.iterations = 100;
  return options;
}

TEST(ProgressLine, SaysHowFar) {
  EXPECT_EQ(progress_line(halfway(), hundred(), 200),
            "[##########----------] 50/100  objective 1234.6  gap 3.25 %  rank 7  0:30 left");
}

TEST(ProgressLine, TimeMayBeTheNearerLimit) {
  RunOptions options = hundred();
  options.seconds = 40;
  const std::string line = progress_line(halfway(), options, 200);
  EXPECT_TRUE(line.starts_with("[###############-----] 50/100"));
  EXPECT_TRUE(line.ends_with("0:10 left"));
}

TEST(ProgressLine, PromisesNothingAtFirstAndKnowsHours) {
  Iteration iteration = halfway();
  iteration.k = 2;
  EXPECT_EQ(progress_line(iteration, hundred(), 200).find("left"), std::string::npos);
  iteration.k = 50;
  iteration.seconds = 3723;
  iteration.relative_gap = std::numeric_limits<double>::infinity();
  const std::string line = progress_line(iteration, hundred(), 200);
  EXPECT_TRUE(line.ends_with("1:02:03 left"));
  EXPECT_NE(line.find("gap -  rank"), std::string::npos);
}

TEST(ProgressLine, FitsTheTerminal) {
  EXPECT_EQ(progress_line(halfway(), hundred(), 30).size(), 29);  // the last column belongs to the cursor
  EXPECT_EQ(progress_line(halfway(), hundred(), 0).size(), 1);
}

/// What was written to a file so far; the writer's place in it stays where it is.
std::string content(std::FILE* file) {
  std::string text(4096, '\0');
  const ssize_t size = ::pread(::fileno(file), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

TEST(ProgressBar, DrawsNotTooOftenAndWipes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  ASSERT_NE(file, nullptr);
  {
    ProgressBar bar(file.get(), 200);
    EXPECT_TRUE(bar.on_iteration(halfway(), hundred()));
    EXPECT_TRUE(bar.on_iteration(halfway(), hundred()));  // within a tenth of a second: not drawn
  }
  EXPECT_EQ(content(file.get()), fmt::format("\r{}\x1b[K\r\x1b[K", progress_line(halfway(), hundred(), 200)));
}

TEST(ProgressBar, LeavesNothingWithoutARun) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  ASSERT_NE(file, nullptr);
  { const ProgressBar bar(file.get(), 200); }
  EXPECT_EQ(content(file.get()), "");
}

/// What was written, once it contains these words.
std::string wait_for(std::FILE* file, const std::string& words) {
  for (int tries = 0; tries < 2000; ++tries) {
    std::string text = content(file);
    if (text.find(words) != std::string::npos) return text;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return content(file);
}

TEST(ProgressBar, PhasesShowThemselves) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  ASSERT_NE(file, nullptr);
  ProgressBar bar(file.get(), 60);
  bar.on_phase("reading ratings.csv");
  EXPECT_EQ(content(file.get()), "\rreading ratings.csv  0:00\x1b[K");
}

TEST(ProgressBar, WithoutATerminalALineNowAndThen) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  ASSERT_NE(file, nullptr);
  {
    ProgressBar bar(file.get(), 0, std::chrono::milliseconds(20));
    bar.set_series("fold 2 of 5");
    bar.on_phase("radius 3 of about 9");
    EXPECT_NE(wait_for(file.get(), "9  0:").find("tracenorm: fold 2 of 5, radius 3 of about 9  0:"), std::string::npos);
    bar.on_iteration(halfway(), hundred());
    const std::string line =
        fmt::format("tracenorm: fold 2 of 5, radius 3 of about 9  {}\n", progress_line(halfway(), hundred(), 1000));
    EXPECT_NE(wait_for(file.get(), line).find(line), std::string::npos);
  }
  EXPECT_EQ(content(file.get()).find('\r'), std::string::npos);
}

TEST(ProgressBar, NothingBeforeAnythingHasBegun) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  ASSERT_NE(file, nullptr);
  {
    const ProgressBar bar(file.get(), 0, std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
  }
  EXPECT_EQ(content(file.get()), "");
}

}  // namespace
}  // namespace tracenorm::report
