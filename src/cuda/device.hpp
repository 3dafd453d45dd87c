// A CUDA device as the backend uses it: one stream of work, memory that follows it, and a letter box in which kernels
// leave a few numbers for the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/report.hpp"

namespace tracenorm::cuda {

/// Throws what went wrong while doing that.
void check(cudaError_t status, const char* doing);

class Device {
 public:
  /// The first device. Throws a usage error where there is none that works.
  static std::shared_ptr<Device> open();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  /// How much the threads of a block may share.
  [[nodiscard]] std::size_t shared_bytes() const { return shared_bytes_; }
  /// Zeros. They live as long as somebody holds them, and until the work that was given before is done.
  std::shared_ptr<void> allocate(std::size_t bytes);
  void upload(const void* from, std::size_t bytes, void* to);
  void download(const void* from, std::size_t bytes, void* to);
  /// Waits until everything is done.
  void finish();

  /// A report of so many numbers, made of so many parts and counted with so many counters. Several may be on their way,
  /// the later ones behind the earlier ones in the box.
  Report report(std::size_t numbers, std::size_t parts, std::size_t counters = 1, std::size_t behind = 0);
  /// A report to somebody on the device.
  Report local_report(double* out, std::size_t parts, std::size_t counters = 1);
  /// Waits until the last one has arrived.
  const double* wait();

 private:
  Device();

  std::shared_ptr<CUstream_st> stream_;  // which memory holds, too: it is given back there
  std::size_t shared_bytes_ = 0;
  std::shared_ptr<void> parts_;
  std::size_t parts_size_ = 0;
  std::shared_ptr<void> counters_;
  std::size_t counters_size_ = 0;
  std::shared_ptr<void> local_flag_;
  double* box_ = nullptr;  // in the host's memory, where the device writes
  std::size_t box_size_ = 0;
  unsigned long long* flag_ = nullptr;  // the number of the last report that has arrived
  unsigned long long number_ = 0;
};

/// An array on the device; empty until it is made.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(Device& device, std::size_t size) : memory_(device.allocate(size * sizeof(T))), size_(size) {}
  DeviceArray(Device& device, const T* from, std::size_t size) : DeviceArray(device, size) {
    device.upload(from, size * sizeof(T), memory_.get());
  }
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.get()); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

 private:
  std::shared_ptr<void> memory_;
  std::size_t size_ = 0;
};

}  // namespace tracenorm::cuda
