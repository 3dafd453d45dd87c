#include "reproduce/machine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

namespace tracenorm::app {

namespace {

/// Linux tells; elsewhere the name stays unknown.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace

std::string describe_machine() {
  const double bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  return fmt::format("{}, {} cores, {:.0f} GB", processor(), ::sysconf(_SC_NPROCESSORS_ONLN), bytes / 1e9);
}

}  // namespace tracenorm::app
