#include "base/ticker.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace tracenorm {
namespace {

using std::chrono::milliseconds;

TEST(Ticker, WorksUntilItEnds) {
  std::atomic<int> ticks{0};
  {
    const Ticker ticker(milliseconds(1), [&] {
      ++ticks;
      ticks.notify_one();
    });
    ticks.wait(0);  // the first, and
    ticks.wait(1);  // another one
  }
  const int before = ticks;
  EXPECT_GE(before, 2);
  EXPECT_EQ(ticks, before);  // nobody is left who could tick
}

TEST(Ticker, ALongWaitDoesNotDelayTheEnd) {
  const auto begin = std::chrono::steady_clock::now();
  {
    const Ticker ticker(std::chrono::hours(1), [] { FAIL() << "an hour cannot be over"; });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
}

}  // namespace
}  // namespace tracenorm
