#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "validation/cuda/results.h"

namespace harness {

/// A call of the driver failed otherwise than for lack of memory: the device is not to be used any
/// more.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether the device is the pretend one, and whether its events tell the times that it was given.
bool is_pretend();
bool has_given_times();

/// Throws DeviceError.
void check(cudaError_t error, const char* what);

/// Times of one piece of work on a stream by CUDA's events, in ns, the shortest first: `repeats`
/// after one that is not timed. Requires: repeats > 0.
std::vector<std::uint64_t> times_of(const std::function<void()>& give, int repeats,
                                    cudaStream_t stream);

/// What the driver says of the device that CUDA calls 0, by NVML. The two count devices in another
/// order: it is found by its UUID (of a slice of one, MIG, too), else by its place on the bus.
class Nvml {
 public:
  Nvml();
  /// What this process holds; 0: it is not told (under WSL, in a container with process numbers of
  /// its own).
  [[nodiscard]] std::uint64_t process_bytes() const;
  /// Other processes on the device; -1: it is not told.
  [[nodiscard]] int other_processes() const;
  [[nodiscard]] std::string driver_version() const;
  [[nodiscard]] bool found() const { return device_ != nullptr; }

 private:
  struct Process {
    unsigned pid;
    std::uint64_t bytes;
  };
  [[nodiscard]] std::vector<Process> processes(bool& told) const;
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
  /// Memory behind [address, address + bytes) of a reservation, a handle a page; false when there
  /// is not enough, and then there is none.
  bool map(std::uint64_t address, std::uint64_t bytes, std::uint64_t page);
  /// Gives back each page, once the stream is done: cuMemUnmap does not wait.
  void unmap(std::uint64_t address, std::uint64_t bytes, cudaStream_t stream);
  /// Whether so much is there in pages; nothing is kept.
  bool try_pages(std::uint64_t bytes, std::uint64_t page);

  [[nodiscard]] std::uint64_t least_free() const { return least_free_; }
  [[nodiscard]] std::uint64_t free_at_start() const { return free_at_start_; }
  [[nodiscard]] std::uint64_t free_now() const;
  [[nodiscard]] const Nvml& nvml() const { return nvml_; }
  /// What the last call took, of which asking for what is free is no part.
  [[nodiscard]] std::uint64_t last_ns() const { return last_ns_; }

 private:
  struct Page {
    CUmemGenericAllocationHandle handle{};
    std::uint64_t bytes = 0;
  };
  /// As many as are there, at most bytes / page.
  std::vector<Page> create(std::uint64_t bytes, std::uint64_t page);
  void keep(const char* what, std::uint64_t bytes, std::uint64_t address, std::uint64_t ns);
  Results& results_;
  Nvml nvml_;
  std::uint64_t free_at_start_ = 0;
  std::uint64_t least_free_ = 0;
  std::uint64_t last_ns_ = 0;
  std::map<std::uint64_t, Page> mapped_;
};

}  // namespace harness
