#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark {

/// What the model code of one run may take. The program sets it once, before it runs any; every
/// thread reads it.
struct Budget {
  std::size_t memory = std::size_t{2} << 30U;  ///< bytes that the run asks the system for
  double seconds = 600;                        ///< of the clock on the wall
};
Budget& budget();

/// Counts the memory that a run takes, on the thread that made it, for as long as it lives; its
/// owner is told when that passes budget().memory. A second one on a thread counts for itself.
class MemoryWatch {
 public:
  /// `is_urgent`: the memory asked for is not to be had, and this must throw. Otherwise the owner
  /// ends the run where that does no harm, soon: code that cannot throw may be asking.
  using Tell = void (*)(void* owner, bool is_urgent);
  MemoryWatch(Tell tell, void* owner);
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

 private:
  friend void take_memory(std::size_t bytes);
  friend void give_memory(std::size_t bytes) noexcept;
  friend class MemoryPause;
  Tell tell_;
  void* owner_;
  MemoryWatch* outer_;
  std::int64_t taken_ = 0;
  int pauses_ = 0;
  bool has_thrown_ = false;  // from then on the run is left, which needs memory too
};

/// While one lives, what its thread takes is counted and nothing is thrown: for what destructors
/// do. The request after it is told.
class MemoryPause {
 public:
  MemoryPause() noexcept;
  ~MemoryPause();
  MemoryPause(const MemoryPause&) = delete;
  MemoryPause& operator=(const MemoryPause&) = delete;

 private:
  MemoryWatch* watch_;
};

/// What operator new takes from the system and gives back, in bytes. Errors: what Tell throws.
void take_memory(std::size_t bytes);
void give_memory(std::size_t bytes) noexcept;

/// From now on megabytes that are given up go back to the system at once: for files of any size,
/// whose tables grow one after another. Programs that make tensors, not tables, are faster without.
void return_large_memory();
[[nodiscard]] bool returns_large_memory() noexcept;

}  // namespace tidemark
