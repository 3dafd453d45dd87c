#include "base/memory.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tracenorm/error.hpp"

namespace tracenorm {
namespace {

class Memory : public testing::Test {
 protected:
  Memory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tracenorm-memory-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~Memory() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  std::string root_;
};

TEST_F(Memory, IsUnlimitedWhereNobodySays) { EXPECT_TRUE(std::isinf(available_memory(root_))); }

TEST_F(Memory, OfAMachine) {
  write("/proc/meminfo", "MemTotal:       24576000 kB\nMemFree:  1 kB\nMemAvailable:   20000000 kB\n");
  EXPECT_EQ(available_memory(root_), 20'000'000.0 * 1024);
}

TEST_F(Memory, OfAGroupAndTheGroupsAroundIt) {
  write("/proc/meminfo", "MemAvailable:   20000000 kB\n");
  write("/proc/self/cgroup", "0::/jobs/one\n");
  write("/sys/fs/cgroup/jobs/one/memory.max", "max\n");
  write("/sys/fs/cgroup/jobs/one/memory.current", "500\n");
  EXPECT_EQ(available_memory(root_), 20'000'000.0 * 1024) << "no limit";
  write("/sys/fs/cgroup/jobs/memory.max", "1000000\n");
  write("/sys/fs/cgroup/jobs/memory.current", "400000\n");
  write("/sys/fs/cgroup/jobs/memory.stat", "anon 300000\ninactive_file 50000\n");
  EXPECT_EQ(available_memory(root_), 650'000) << "caches can be dropped";
  write("/sys/fs/cgroup/jobs/one/memory.max", "1000\n");
  EXPECT_EQ(available_memory(root_), 500);
}

TEST_F(Memory, OfAnOldGroup) {
  write("/proc/meminfo", "MemAvailable:   20000000 kB\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "3000\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "4000\n");
  EXPECT_EQ(available_memory(root_), 0);
}

TEST_F(Memory, OfThisMachineIsKnown) {
  EXPECT_GT(available_memory(), 1e6);
  EXPECT_LT(available_memory(), 1e15);
  const double before = peak_memory();
  const std::vector<char> more(static_cast<std::size_t>(before) + 50'000'000, 'x');
  EXPECT_GE(peak_memory(), before + 4e7) << more.size();
}

TEST_F(Memory, WhatDoesNotFitIsRefusedWithBothNumbers) {
  EXPECT_NO_THROW(require_memory(1e9, 1e9, "here"));
  try {
    require_memory(6.25e9, 420e6, "for 5 entries");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input);
    EXPECT_EQ(std::string(error.what()).substr(0, 87),
              "for 5 entries about 6.25 GB of memory are needed, but 420 MB are available; take a part");
  }
}

}  // namespace
}  // namespace tracenorm
