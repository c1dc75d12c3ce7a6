#include "sim/base/stack.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace tidemark {

namespace {

constexpr std::size_t kReserve = std::size_t{256} << 10U;
// Of a main thread without a limit, which grows as far as it finds room.
constexpr std::size_t kMostOfMain = std::size_t{64} << 20U;

/// The lowest address of this thread's stack. The main thread's grows up to its limit, and its top
/// is not far above what runs.
std::uintptr_t lowest(std::uintptr_t address) {
  if (gettid() == getpid()) {
    rlimit limit{};
    std::size_t size = kMostOfMain;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      size = std::min<std::size_t>(size, limit.rlim_cur);
    return address - std::min<std::uintptr_t>(address, size);
  }
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return address;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(low);
}

}  // namespace

std::size_t stack_below(std::uintptr_t address) {
  thread_local const std::uintptr_t end = lowest(address);
  const std::size_t below = address > end ? address - end : 0;
  return below > kReserve ? below - kReserve : 0;
}

}  // namespace tidemark
