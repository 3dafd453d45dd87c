// What passes over the entries cost on a CUDA device, next to a copy there. Prints a JSON object.
//
// Usage: tracenorm_cuda_passes dense SIDE | sparse ROWS COLS ENTRIES
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "cuda/backend.hpp"
#include "cuda/device.hpp"
#include "patterns.hpp"

namespace {

using namespace tracenorm;

/// Of a few rounds of many calls each, the median, per call. Calls are followed by one that waits for all of them.
double seconds_of(const std::function<void()>& call, const std::function<void()>& wait, int calls) {
  constexpr int rounds = 7;
  std::vector<double> seconds;
  for (int round = 0; round <= rounds; ++round) {
    const auto began = std::chrono::steady_clock::now();
    for (int k = 0; k < calls; ++k) call();
    wait();
    const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (round > 0) seconds.push_back(all / calls);  // the first one warms up
  }
  std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
  return seconds[rounds / 2];
}

double copy_rate() {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  const std::shared_ptr<cuda::Device> device = cuda::Device::open();
  const cuda::DeviceArray<char> from(*device, bytes);
  const cuda::DeviceArray<char> to(*device, bytes);
  const double seconds = seconds_of(
      [&] {
        cuda::check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, device->stream()), "copy");
      },
      [&] { device->finish(); }, 20);
  return 2 * static_cast<double>(bytes) / seconds;
}

/// Links that are seen or not: levels in a byte, and a penalty that acts on all entries, as in the paper's experiment.
Problem dense_problem(Index side) {
  Random random(1);
  std::vector<Real> value(static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
  for (Real& y : value) {
    y = random.uniform() < 0.5 ? std::numeric_limits<Real>::quiet_NaN() : Real(random.uniform() < 0.01);
  }
  return {DenseObservations{side, side, std::move(value), {}}, losses::Squared{}, L1Penalty{0.01}, {.radius = 1000}};
}

}  // namespace

int main(int argc, char** argv) {
  const bool dense = argc == 3 && std::strcmp(argv[1], "dense") == 0;
  if (!dense && argc != 5) {
    fmt::print(stderr, "usage: tracenorm_cuda_passes dense SIDE | sparse ROWS COLS ENTRIES\n");
    return 2;
  }
  try {
    const double copy = copy_rate();
    const Problem problem = dense ? dense_problem(std::stoi(argv[2]))
                                  : Problem{bench::make_ratings(std::stoi(argv[2]), std::stoi(argv[3]),
                                                                static_cast<Offset>(std::stod(argv[4]))),
                                            losses::Absolute{},
                                            NoPenalty{},
                                            {.radius = 1000}};
    const Execution execution(0);
    const Place place = cuda_backend().open(problem, execution);
    EntryStore& store = *place.store;
    Panels& panels = *place.panels;
    Random random(2);
    const Index columns = store.facts().search_columns;
    const auto drawn = [&](Side side, Use use, Index count) {
      const Panel panel = panels.make(side, use, count);
      panels.draw(0.01, random, panel);
      return panel;
    };
    const NormalProduct product{drawn(Side::right, Use::search, columns), drawn(Side::right, Use::search, columns),
                                drawn(Side::left, Use::search, columns)};
    NormalProduct rough = product;
    rough.rough = true;
    const Panel u = drawn(Side::left, Use::exact, 1);
    const Panel v = drawn(Side::right, Use::exact, 1);
    const Panel w = drawn(Side::right, Use::exact, 1);
    const Product factors{drawn(Side::left, Use::descent, 32), drawn(Side::right, Use::descent, 32)};
    const Product gradient{drawn(Side::left, Use::descent, 32), drawn(Side::right, Use::descent, 32)};
    store.aim({u, v});
    const double points[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8};
    const auto wait = [&] { static_cast<void>(panels.dot(u, u)); };
    // Bytes an entry, by what a pass has to read and write: a pattern is kept by rows and by columns, places are two
    // bytes or four, data one byte where they are levels, rough slopes two bytes (products of a pattern read floats).
    const double index = !dense ? (store.facts().rows > 65536 ? 4.0 : 2.0) + 2.0 : 0.0;
    const double orders = dense ? 1 : 2;
    const double datum = dense ? 1 : 4;
    struct Pass {
      const char* name;
      double bytes;
      std::function<void()> call;
    };
    const std::vector<Pass> passes{
        {"linearize", orders * (8 + datum), [&] { static_cast<void>(store.linearize(0.1, false, nullptr)); }},
        {"linearize and product", orders * (8 + datum) + (dense ? 0 : 2 * 4 + index),
         [&] { static_cast<void>(store.linearize(0.1, false, &product)); }},
        {"linearize and rough product", dense ? 5 + datum : orders * (8 + datum) + 2 * 4 + index,
         [&] { static_cast<void>(store.linearize(0.1, false, &rough)); }},
        {"rough product", dense ? 2 : 2 * 4 + index, [&] { store.multiply(Slopes::current, rough); }},
        {"move", orders * (8 + index), [&] { static_cast<void>(store.move(0.1)); }},
        {"product", dense ? 4 : 2 * 4 + index, [&] { store.multiply(Slopes::current, product); }},
        {"product in double", dense ? 8 : 2 * 4 + index,
         [&] {
           store.multiply(Slopes::current, NormalProduct{v, w, u});
         }},
        {"eight points of a segment", 4 + datum + index,
         [&] { static_cast<void>(store.segment(points, std::nullopt)); }},
        {"average", orders * 12, [&] { store.average(0.1); }},
        {"conjugates", orders * (8 + datum), [&] { static_cast<void>(store.conjugates(Slopes::current, nullptr)); }},
        {"gradient of 32 columns", orders * (12 + datum + index),
         [&] { static_cast<void>(store.factor_gradient(factors, 1, 0.1, gradient)); }}};
    std::string rows;
    for (const Pass& pass : passes) {
      const double seconds = seconds_of(pass.call, wait, 20);
      const double rate = pass.bytes * static_cast<double>(store.facts().entries) / seconds;
      rows +=
          fmt::format("{}{{\"pass\": \"{}\", \"microseconds\": {:.1f}, \"bytes_an_entry\": {}, \"of_a_copy\": {:.3f}}}",
                      rows.empty() ? "" : ",\n  ", pass.name, 1e6 * seconds, pass.bytes, rate / copy);
    }
    const double latency = seconds_of([&] { static_cast<void>(panels.dot(v, w)); }, [] {}, 200);
    fmt::print(
        "{{\"device\": \"{}\", \"copy_bytes_per_second\": {:.4g}, \"rows\": {}, \"cols\": {}, \"entries\": {},\n"
        " \"dot_microseconds\": {:.2f},\n \"passes\": [\n  {}]}}\n",
        cuda_devices().names.front(), copy, store.facts().rows, store.facts().cols, store.facts().entries,
        1e6 * latency, rows);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
