#include "sim/base/budget.h"

#include <malloc.h>

#include <atomic>

namespace tidemark {

namespace {

// A request of less is granted a little longer, so that the run ends between two of its steps.
constexpr std::size_t kLargeRequest = std::size_t{1} << 20U;
constexpr std::int64_t kGrace = std::int64_t{256} << 20U;

constinit std::atomic<bool> returns_large_{false};

thread_local constinit MemoryWatch* watch_ = nullptr;

}  // namespace

Budget& budget() {
  static constinit Budget the_budget;
  return the_budget;
}

MemoryWatch::MemoryWatch(Tell tell, void* owner) : tell_(tell), owner_(owner), outer_(watch_) {
  watch_ = this;
}

MemoryWatch::~MemoryWatch() { watch_ = outer_; }

MemoryPause::MemoryPause() noexcept : watch_(::tidemark::watch_) {
  if (watch_ != nullptr) ++watch_->pauses_;
}

MemoryPause::~MemoryPause() {
  if (watch_ != nullptr) --watch_->pauses_;
}

void take_memory(std::size_t bytes) {
  MemoryWatch* const watch = watch_;
  if (watch == nullptr) return;
  watch->taken_ += static_cast<std::int64_t>(bytes);
  const std::int64_t excess = watch->taken_ - static_cast<std::int64_t>(budget().memory);
  if (excess <= 0 || watch->has_thrown_ || watch->pauses_ > 0) return;
  const bool is_urgent = bytes >= kLargeRequest || excess > kGrace;
  if (is_urgent) {
    watch->taken_ -= static_cast<std::int64_t>(bytes);
    watch->has_thrown_ = true;
  }
  watch->tell_(watch->owner_, is_urgent);
}

void give_memory(std::size_t bytes) noexcept {
  if (watch_ != nullptr) watch_->taken_ -= static_cast<std::int64_t>(bytes);
}

void return_large_memory() {
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // a fixed one: left alone, it grows with what is freed
#endif
  returns_large_.store(true, std::memory_order_relaxed);
}

bool returns_large_memory() noexcept { return returns_large_.load(std::memory_order_relaxed); }

}  // namespace tidemark
