// The way from a file of ratings to a problem, step by step: seconds, processor seconds of all threads, and the most
// memory so far. Prints a JSON object.
//
// Usage: tracenorm_reading FILE [THREADS]
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <string>

#include "base/memory.hpp"
#include "fit/split.hpp"
#include "model/offsets.hpp"
#include "tracenorm/io.hpp"

namespace {

class Steps {
 public:
  void end(const char* step) {
    using namespace std::chrono;
    const auto now = steady_clock::now();
    const std::clock_t processor = std::clock();
    text_ += fmt::format(R"(, "{}": {{"seconds": {:.4f}, "processor_seconds": {:.4f}, "peak_bytes": {:.0f}}})", step,
                         duration<double>(now - last_).count(),
                         static_cast<double>(processor - processor_) / CLOCKS_PER_SEC, tracenorm::peak_memory());
    last_ = steady_clock::now();
    processor_ = std::clock();
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::clock_t processor_ = std::clock();
};

}  // namespace

int main(int argc, char** argv) {
  using namespace tracenorm;
  if (argc < 2) {
    fmt::print(stderr, "usage: tracenorm_reading FILE [THREADS]\n");
    return 2;
  }
  io::ReadOptions options;
  options.threads = argc > 2 ? std::stoi(argv[2]) : 0;
  Steps steps;
  io::NamedEntries data = io::read_entries(argv[1], options);
  steps.end("read");
  const Offset entries = data.entries.size();
  Split split = split_entries(std::move(data.entries), {0.9, 0, 0.1}, 1, {}, options.threads);
  steps.end("split");
  const SparseObservations train = make_sparse(data.rows, data.cols, split.train, {}, options.threads);
  split.train = {};
  steps.end("rows");
  Preparation preparation{.kind = Preparation::Kind::both};
  fit_offsets(preparation, Averaging::robust, train, Execution(options.threads));
  steps.end("offsets");
  fmt::print("{{\"entries\": {}, \"rows\": {}, \"cols\": {}{}}}\n", entries, data.rows, data.cols, steps.text());
}
