#include "base/ticker.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace tracenorm {

class Ticker::Clockwork {
 public:
  Clockwork(std::chrono::milliseconds every, std::function<void()> work)
      : thread_([this, every, work = std::move(work)] {
          std::unique_lock lock(mutex_);
          while (!bell_.wait_for(lock, every, [this] { return stop_; })) work();
        }) {}

  ~Clockwork() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    bell_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable bell_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

Ticker::Ticker(std::chrono::milliseconds every, std::function<void()> work)
    : clockwork_(std::make_unique<Clockwork>(every, std::move(work))) {}

Ticker::~Ticker() = default;

}  // namespace tracenorm
