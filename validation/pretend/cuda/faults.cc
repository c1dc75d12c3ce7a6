#include "validation/pretend/cuda/core.h"

#include <time.h>

namespace pretend {

bool lost() { return cfg().lost_after && st().work >= cfg().lost_after; }

void take_time() {
  if (!cfg().slow_us) return;
  timespec t{time_t(cfg().slow_us / 1000000), long(cfg().slow_us % 1000000 * 1000)};
  nanosleep(&t, nullptr);
}

bool refuse_memory() {
  Lock l(st().mu);
  const uint64_t call = ++st().memory_calls;
  take_time();
  return cfg().fail_first && call >= cfg().fail_first && call <= cfg().fail_last;
}

void work_given() {
  Lock l(st().mu);
  st().work++;
}

}  // namespace pretend
