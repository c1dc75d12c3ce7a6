#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "sim/base/bytes.h"

namespace tidemark::ops {

using RequestNumber = std::uint32_t;
inline constexpr RequestNumber kNoMemory = 0xffffffffU;
/// Set in the numbers of pinned host memory, which are counted apart.
inline constexpr RequestNumber kPinned = 0x80000000U;
constexpr bool is_pinned(RequestNumber request) {
  return request != kNoMemory && (request & kPinned) != 0;
}

/// Where a tensor lives: the host, GPU `index`, or nowhere ("meta": it has a shape and no memory).
/// Host storages take no device memory.
struct Device {
  std::int8_t index = -1;
  [[nodiscard]] bool is_cuda() const { return index >= 0; }
  friend bool operator==(Device, Device) = default;
};
inline constexpr Device kHost{-1};
inline constexpr Device kMeta{-2};

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
  /// record_stream(): `stream` of the memory's device uses it too.
  virtual void use(RequestNumber /*request*/, Device /*device*/, std::uint16_t /*stream*/) {}
  /// `bytes` of pageable host memory are taken, or given back.
  virtual void take_host(Bytes /*bytes*/) {}
  virtual void give_host(Bytes /*bytes*/) {}
  /// Page-locked host memory, given back by release(). The number is one of kPinned.
  virtual RequestNumber allocate_pinned(Bytes /*bytes*/) { return kNoMemory; }
  /// A copy on `stream` of `device` reads or writes pinned memory, and nobody waits for it.
  virtual void use_pinned(RequestNumber /*request*/, Device /*device*/, std::uint16_t /*stream*/) {}
  /// Gives the cache's unused memory back to the driver, as a library may ask for in the middle of
  /// an operator.
  virtual void empty_cache(Device /*device*/) {}
};

}  // namespace tidemark::ops
