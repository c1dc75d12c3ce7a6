#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "sim/base/bytes.h"

namespace tidemark::ops {

using RequestNumber = std::uint32_t;
inline constexpr RequestNumber kNoMemory = 0xffffffffU;

/// Where a tensor lives: the host, or GPU `index`. Host storages take no device memory.
struct Device {
  std::int8_t index = -1;
  [[nodiscard]] bool is_cuda() const { return index >= 0; }
  friend bool operator==(Device, Device) = default;
};
inline constexpr Device kHost{-1};

/// What a storage's memory turned out to be for, in rising rank; a storage keeps the highest it was
/// given.
enum class Role : std::uint8_t {
  kTemporary,
  kActivation,
  kInput,
  kWorkspace,
  kGradient,
  kOptimizerState,
  kParameter,
};

/// The device could not serve a request: torch.OutOfMemoryError, an outcome the model's code may
/// handle.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Who serves the requests of kernels. One request an allocation; the order of calls is the
/// product.
class Memory {
 public:
  virtual ~Memory() = default;
  /// Requires: bytes > 0, a CUDA device. Errors: OutOfMemory.
  virtual RequestNumber allocate(Bytes bytes, Device device, std::uint16_t stream) = 0;
  virtual void release(RequestNumber request) = 0;
  virtual void set_role(RequestNumber request, Role role) = 0;
  /// Gives the cache's unused memory back to the driver, as a library may ask for in the middle of
  /// an operator.
  virtual void empty_cache(Device /*device*/) {}
};

}  // namespace tidemark::ops
