#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "validation/cuda/results.h"

namespace harness {

/// A call of the driver failed otherwise than for lack of memory: the device is not to be used any
/// more.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws DeviceError.
void check(cudaError_t error, const char* what);

/// What the driver says is held by this process, by NVML; 0 where it does not tell.
class Nvml {
 public:
  Nvml();
  [[nodiscard]] std::uint64_t process_bytes() const;
  [[nodiscard]] std::string driver_version() const;

 private:
  void* library_ = nullptr;
  void* device_ = nullptr;
};

/// The device's memory through the calls that PyTorch's allocator makes, each timed and kept.
class Memory {
 public:
  explicit Memory(Results& results);

  /// cudaMalloc; 0 when there is not enough. Throws DeviceError for any other failure.
  std::uint64_t allocate(std::uint64_t bytes);
  void free(std::uint64_t address);
  /// cudaMallocAsync and cudaFreeAsync.
  std::uint64_t allocate_async(std::uint64_t bytes, cudaStream_t stream);
  void free_async(std::uint64_t address, cudaStream_t stream);
  /// Addresses for `bytes` without memory behind them.
  std::uint64_t reserve(std::uint64_t bytes);
  /// Memory behind [address, address + bytes) of a reservation; false when there is not enough.
  bool map(std::uint64_t address, std::uint64_t bytes);
  void unmap(std::uint64_t address, std::uint64_t bytes);

  [[nodiscard]] std::uint64_t least_free() const { return least_free_; }
  [[nodiscard]] std::uint64_t free_at_start() const { return free_at_start_; }
  [[nodiscard]] std::uint64_t free_now() const;
  [[nodiscard]] const Nvml& nvml() const { return nvml_; }

 private:
  void keep(const char* what, std::uint64_t bytes, std::uint64_t address, std::uint64_t ns);
  Results& results_;
  Nvml nvml_;
  std::uint64_t free_at_start_ = 0;
  std::uint64_t least_free_ = 0;
  std::map<std::uint64_t, CUmemGenericAllocationHandle> mapped_;
};

}  // namespace harness
