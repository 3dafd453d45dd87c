#include "base/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>

#include "base/topic.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

/// The number behind a word, in a file of lines "word number".
std::optional<double> number_of(const std::string& path, std::string_view wanted) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t end = line.find_first_of(" \t");
    if (end == std::string::npos || line.compare(0, end, wanted) != 0) continue;
    return std::strtod(line.c_str() + end, nullptr);
  }
  return std::nullopt;
}

/// The number that a file consists of; "max" is none.
std::optional<double> lone_number(const std::string& path) {
  std::ifstream file(path);
  double number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

/// What a control group leaves: its limit less what it uses, caches that can be dropped not counted.
double left_in_group(const std::string& folder, const char* limit_name, const char* usage_name,
                     const char* cache_name) {
  const std::optional<double> limit = lone_number(folder + limit_name);
  const std::optional<double> usage = lone_number(folder + usage_name);
  if (!limit || !usage) return kUnknown;
  return std::max(0.0, *limit - *usage + number_of(folder + "memory.stat", cache_name).value_or(0));
}

/// Where the process stands in the tree of groups of the second version.
std::string own_group(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return "/";
}

}  // namespace

double available_memory(const std::string& root) {
  const std::optional<double> machine = number_of(root + "/proc/meminfo", "MemAvailable:");
  double available = machine ? 1024 * *machine : kUnknown;
  // A group's limit holds for all groups inside of it.
  const std::string tree = root + "/sys/fs/cgroup";
  for (std::string group = own_group(root);; group.resize(group.rfind('/'))) {
    const std::string folder = tree + group + (group.ends_with('/') ? "" : "/");
    available = std::min(available, left_in_group(folder, "memory.max", "memory.current", "inactive_file"));
    if (group.empty() || group == "/") break;
  }
  return std::min(available, left_in_group(tree + "/memory/", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                           "total_inactive_file"));
}

double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.3g} GB", bytes / 1e9);
  return fmt::format("{:.3g} MB", bytes / 1e6);
}

void require_memory(double needed, double available, const std::string& what) {
  if (needed <= available) return;
  throw TopicError(
      ErrorCode::input, Topic::memory,
      fmt::format("{} about {} of memory are needed, but {} are available; take a part of the data, or a machine "
                  "with more memory",
                  what, bytes_text(needed), bytes_text(available)));
}

}  // namespace tracenorm
