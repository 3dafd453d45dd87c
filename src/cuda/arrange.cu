#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "cuda/arrange.hpp"

namespace tracenorm::cuda {

namespace {

constexpr int kBlock = 256;
constexpr Offset kMostBlocks = 1 << 16;

/// work(k) for all k < count.
template <class Work>
__global__ void for_all_kernel(Offset count, const Work work) {
  const Offset step = static_cast<Offset>(gridDim.x) * blockDim.x;
  for (Offset k = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x; k < count; k += step) work(k);
}

template <class Work>
void for_all(Offset count, cudaStream_t stream, const Work& work) {
  if (count == 0) return;
  const auto blocks = static_cast<unsigned>(std::min((count + kBlock - 1) / kBlock, kMostBlocks));
  for_all_kernel<<<blocks, kBlock, 0, stream>>>(count, work);
  check(cudaGetLastError(), "putting entries in order");
}

__device__ Offset number(const Numbers& all, Offset k) {
  return all.narrow ? static_cast<Offset>(static_cast<const ShortIndex*>(all.data)[k])
                    : static_cast<Offset>(static_cast<const Index*>(all.data)[k]);
}

}  // namespace

template <class Number>
void list_rows(const Offset* begin, Index rows, Number* row, cudaStream_t stream) {
  constexpr int lanes = 32;  // of a row
  for_all(static_cast<Offset>(rows) * lanes, stream, [=] __device__(Offset k) {
    const Offset i = k / lanes;
    for (Offset e = begin[i] + k % lanes; e < begin[i + 1]; e += lanes) row[e] = static_cast<Number>(i);
  });
}
template void list_rows(const Offset*, Index, Index*, cudaStream_t);
template void list_rows(const Offset*, Index, ShortIndex*, cudaStream_t);

void shorten(const Index* from, std::size_t count, ShortIndex* to, cudaStream_t stream) {
  for_all(static_cast<Offset>(count), stream, [=] __device__(Offset k) { to[k] = static_cast<ShortIndex>(from[k]); });
}

void remainders(const Index* from, std::size_t count, Index divisor, ShortIndex* to, cudaStream_t stream) {
  for_all(static_cast<Offset>(count), stream,
          [=] __device__(Offset k) { to[k] = static_cast<ShortIndex>(from[k] % divisor); });
}

ByColumns sort_by_columns(Device& device, const Unsorted& entries) {
  const auto count = static_cast<std::size_t>(entries.count);
  const auto segments = static_cast<Offset>(entries.cols) * entries.bands;
  ByColumns sorted{{device, count}, {device, static_cast<std::size_t>(segments) + 1}};
  DeviceArray<Place> other_place(device, count);
  const DeviceArray<std::uint32_t> key(device, count);
  const DeviceArray<std::uint32_t> other_key(device, count);
  for_all(entries.count, device.stream(),
          [entries, key = key.data(), place = sorted.place.data()] __device__(Offset e) {
            const Offset band = number(entries.row, e) / entries.band;
            key[e] = static_cast<std::uint32_t>(band * entries.cols + number(entries.col, e));
            place[e] = static_cast<Place>(e);
          });
  cub::DoubleBuffer<std::uint32_t> keys(key.data(), other_key.data());
  cub::DoubleBuffer<Place> places(sorted.place.data(), other_place.data());
  const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(segments - 1))));
  const auto sort = [&](void* scratch, std::size_t& bytes) {
    check(cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, places, entries.count, 0, bits, device.stream()),
          "sorting entries");
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes);
  const DeviceArray<std::uint8_t> scratch(device, bytes);
  sort(scratch.data(), bytes);
  if (places.Current() != sorted.place.data()) std::swap(sorted.place, other_place);
  for_all(segments + 1, device.stream(),
          [begin = sorted.begin.data(), all = keys.Current(), entries] __device__(Offset segment) {
            Offset first = 0;  // the first entry that is not before the segment lies in [first, last]
            Offset last = entries.count;
            while (first < last) {
              const Offset middle = (first + last) / 2;
              if (static_cast<Offset>(all[middle]) < segment) {
                first = middle + 1;
              } else {
                last = middle;
              }
            }
            begin[segment] = first;
          });
  return sorted;
}

template <class T>
void gather(const T* from, const Place* place, std::size_t count, std::size_t size, T* to, cudaStream_t stream) {
  const auto entries = static_cast<Offset>(count);
  for_all(static_cast<Offset>(size), stream,
          [=] __device__(Offset k) { to[k] = from[k < entries ? static_cast<Offset>(place[k]) : k]; });
}
template void gather(const std::int8_t*, const Place*, std::size_t, std::size_t, std::int8_t*, cudaStream_t);
template void gather(const ShortIndex*, const Place*, std::size_t, std::size_t, ShortIndex*, cudaStream_t);
template void gather(const Index*, const Place*, std::size_t, std::size_t, Index*, cudaStream_t);
template void gather(const Real*, const Place*, std::size_t, std::size_t, Real*, cudaStream_t);

}  // namespace tracenorm::cuda
