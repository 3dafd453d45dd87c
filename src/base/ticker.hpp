// Work that is done every so often on a thread of its own, whatever the others do.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace tracenorm {

class Ticker {
 public:
  /// Calls work() again and again, `every` apart, the first time after that long. Work must not throw. Where no thread
  /// can be started, nothing ticks.
  Ticker(std::chrono::milliseconds every, std::function<void()> work);
  /// Waits for work that is under way.
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  class Clockwork;
  std::unique_ptr<Clockwork> clockwork_;
};

}  // namespace tracenorm
