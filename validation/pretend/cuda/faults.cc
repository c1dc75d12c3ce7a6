#include "validation/pretend/cuda/core.h"

#include <time.h>

namespace pretend {

bool lost() { return st().faulted || (cfg().lost_after && st().work >= cfg().lost_after); }

void refuse_in_flight(uint64_t a, size_t n) {
  std::vector<Stream*> all(st().streams.begin(), st().streams.end());
  for (Device* d : st().dev) all.push_back(&d->null_stream);
  for (Stream* s : all) {
    for (auto at = s->touched.lower_bound(a); at != s->touched.end() && at->first < a + n; ++at) {
      if (at->second <= s->done) continue;
      st().faulted = true;
      fprintf(stderr, "fakecuda: 0x%llx is taken away while stream %llu works on it\n",
              (unsigned long long)at->first, (unsigned long long)s->id);
      return;
    }
  }
}

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
