#include "cuda/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <string>

#include "base/topic.hpp"
#include "cuda/backend.hpp"
#include "tracenorm/error.hpp"

namespace tracenorm {

namespace {

/// Why no device can be used; empty where one can.
std::string obstacle(int& count) {
  count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (driver == 0) return "there is no NVIDIA driver on this machine";
    return fmt::format("the NVIDIA driver is too old: it knows CUDA {}.{}, this build needs {}.{}", driver / 1000,
                       driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) return "there is no CUDA device";
  if (status != cudaSuccess) return fmt::format("CUDA does not start: {}", cudaGetErrorString(status));
  return {};
}

}  // namespace

CudaDevices cuda_devices() {
  CudaDevices found;
  int count = 0;
  found.none = obstacle(count);
  for (int d = 0; found.none.empty() && d < count; ++d) {
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, d), "asking what it is");
    found.names.push_back(fmt::format("{} ({}.{}, {:.0f} GiB)", properties.name, properties.major, properties.minor,
                                      static_cast<double>(properties.totalGlobalMem) / (1 << 30)));
  }
  return found;
}

namespace cuda {

void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  throw TopicError(ErrorCode::numerical, Topic::device,
                   fmt::format("the CUDA device failed at {}: {}; start again, from the last model "
                               "that was saved if there is one, or with backend cpu",
                               doing, cudaGetErrorString(status)));
}

std::shared_ptr<Device> Device::open() {
  int count = 0;
  const std::string why = obstacle(count);
  if (!why.empty()) throw Error(ErrorCode::usage, fmt::format("backend: cuda cannot be used: {}", why), "backend");
  return std::shared_ptr<Device>(new Device());
}

Device::Device() {
  check(cudaSetDevice(0), "being chosen");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  stream_ = {stream, cudaStreamDestroy};
  int shared = 0;
  check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), "asking what threads share");
  shared_bytes_ = static_cast<std::size_t>(shared);
  // Memory that was given back stays ours until the end: asking the system for it takes longer than an iteration.
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, 0), "finding its memory");
  std::uint64_t keep = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "keeping memory");
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, sizeof(*flag_), cudaHostAllocMapped), "sharing memory with the host");
  flag_ = static_cast<unsigned long long*>(memory);
  *flag_ = 0;
  local_flag_ = allocate(sizeof(*flag_));
}

Device::~Device() {
  cudaStreamSynchronize(stream());  // kernels may still write there
  cudaFreeHost(box_);
  cudaFreeHost(flag_);
}

std::shared_ptr<void> Device::allocate(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 16);
  void* memory = nullptr;
  const cudaError_t status = cudaMallocAsync(&memory, bytes, stream());
  if (status == cudaErrorMemoryAllocation) {
    std::size_t free = 0;
    std::size_t total = 0;
    cudaMemGetInfo(&free, &total);
    throw Error(ErrorCode::usage,
                fmt::format("backend: the CUDA device has too little memory: {} bytes more are needed, {} of {} are "
                            "free; use backend cpu",
                            bytes, free, total),
                "backend");
  }
  check(status, "allocating memory");
  check(cudaMemsetAsync(memory, 0, bytes, stream()), "clearing memory");
  return {memory, [stream = stream_](void* unused) { cudaFreeAsync(unused, stream.get()); }};
}

void Device::upload(const void* from, std::size_t bytes, void* to) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream()), "receiving data");
}

void Device::download(const void* from, std::size_t bytes, void* to) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream()), "sending data");
  finish();
}

void Device::finish() { check(cudaStreamSynchronize(stream()), "finishing its work"); }

Report Device::local_report(double* out, std::size_t parts, std::size_t counters) {
  if (parts > parts_size_) {
    parts_ = allocate(parts * sizeof(double));
    parts_size_ = parts;
  }
  if (counters > counters_size_) {
    counters_ = allocate(counters * sizeof(unsigned));
    counters_size_ = counters;
  }
  return {static_cast<double*>(parts_.get()), static_cast<unsigned*>(counters_.get()), out,
          static_cast<unsigned long long*>(local_flag_.get()), 0};
}

Report Device::report(std::size_t numbers, std::size_t parts, std::size_t counters, std::size_t behind) {
  if (behind + numbers > box_size_) {
    assert(behind == 0);
    check(cudaFreeHost(box_), "growing the letter box");
    box_size_ = std::max<std::size_t>(numbers, 4096);
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, box_size_ * sizeof(double), cudaHostAllocMapped), "growing the letter box");
    box_ = static_cast<double*>(memory);
  }
  Report to = local_report(box_ + behind, parts, counters);
  to.flag = flag_;
  to.number = ++number_;
  return to;
}

const double* Device::wait() {
  // Watching takes a third of the time of a synchronisation; what goes wrong is seen by asking now and then.
  constexpr int patience = 1 << 16;
  const std::atomic_ref<unsigned long long> flag(*flag_);
  while (true) {
    for (int look = 0; look < patience; ++look) {
      if (flag.load(std::memory_order_acquire) == number_) return box_;
    }
    const cudaError_t status = cudaStreamQuery(stream());
    if (status == cudaErrorNotReady) continue;
    check(status, "a pass over the entries");
    check(cudaGetLastError(), "starting a pass over the entries");
    if (flag.load(std::memory_order_acquire) == number_) return box_;
    throw TopicError(ErrorCode::numerical, Topic::device, "the CUDA device ended a pass without its sums");
  }
}

}  // namespace cuda

}  // namespace tracenorm
