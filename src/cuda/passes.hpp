// How the passes of a CUDA store are put together: room for what they make, sums over entries. Private to its files.
#pragma once

#include <algorithm>

#include "cuda/store.hpp"

namespace tracenorm::cuda {

/// Makes the array at least that long; what was there may be lost.
template <class T>
T* room(Device& device, DeviceArray<T>& array, std::size_t size) {
  if (array.size() < size) array = {device, size};
  return array.data();
}

template <class Work>
const double* CudaStore::sum(int numbers, Work&& work) const {
  const Order& first = orders_.front();
  const auto blocks = std::max(static_cast<std::size_t>(report_blocks(first.count)), first.shares.size());
  const Report report = device_->report(static_cast<std::size_t>(numbers), blocks * static_cast<std::size_t>(numbers));
  for (const Order& order : orders_) work(order, &order == &orders_.front() ? &report : nullptr);
  return device_->wait();
}

template <class Work>
void CudaStore::for_all_orders(Work&& work) {
  for (Order& order : orders_) work(order);
  if (held_out_) work(*held_out_);
}

}  // namespace tracenorm::cuda
