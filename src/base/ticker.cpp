#include "base/ticker.hpp"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/fork.hpp"

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

  [[nodiscard]] bool is_ours() const { return forks_ == forks_so_far(); }

 private:
  unsigned forks_ = forks_so_far();
  std::mutex mutex_;
  std::condition_variable bell_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

Ticker::Ticker(std::chrono::milliseconds every, std::function<void()> work) {
  try {
    clockwork_ = std::make_unique<Clockwork>(every, std::move(work));
  } catch (const std::system_error&) {  // the machine gives no thread: nothing ticks
  }
}

Ticker::~Ticker() {
  if (clockwork_ && !clockwork_->is_ours()) leave_to_parent(clockwork_.release());
}

}  // namespace tracenorm
