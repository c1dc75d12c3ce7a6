#include "validation/pretend/cuda/core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

namespace pretend {

State::State() {
  clock_gettime(CLOCK_MONOTONIC, &t0);
  for (int i = 0; i < cfg().count; ++i) {
    auto* d = new Device;
    d->null_stream.dev = i;
    d->pool.dev = i;
    dev.push_back(d);
  }
  vmm_va.add(0x300000000000ull, 0x100000000000ull);  // 16 TiB of addresses
}

State& st() {
  static State* s = new State;
  return *s;
}

thread_local cudaError_t t_last = cudaSuccess;
thread_local int t_device = 0;
thread_local CUcontext t_ctx_override = nullptr;

cudaError_t ret(cudaError_t e) {
  if (e != cudaSuccess && e != cudaErrorNotReady) t_last = e;
  return e;
}

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec - st().t0.tv_sec) * 1000000000ull + uint64_t(t.tv_nsec) -
         uint64_t(st().t0.tv_nsec);
}

size_t free_bytes(int d) {
  Device& v = *st().dev[d];
  size_t gone = v.used + cfg().other + (v.context ? cfg().p.context : 0);
  if (cfg().other_more && st().memory_calls >= cfg().other_from) gone += cfg().other_more;
  return gone >= cfg().p.total ? 0 : cfg().p.total - gone;
}

void logf(const char* op, int dev, uint64_t stream, uint64_t addr, uint64_t bytes, uint64_t taken,
          const char* note) {
  FILE* f = cfg().log;
  if (!f) return;
  fprintf(f, "%llu\t%llu\t%s\t%d\t%llu\t0x%llx\t%llu\t%llu\t%zu\t%s\n",
          (unsigned long long)st().seq++, (unsigned long long)now_ns(), op, dev,
          (unsigned long long)stream, (unsigned long long)addr, (unsigned long long)bytes,
          (unsigned long long)taken, free_bytes(dev), note);
}

namespace {

struct AtExit {
  ~AtExit() {
    if (cfg().log) {
      logf("exit", 0, 0, 0, 0, 0,
           ("work=" + std::to_string(st().work) + " flops=" + std::to_string(uint64_t(st().flops)) +
            " bytes=" + std::to_string(uint64_t(st().bytes)))
               .c_str());
      fflush(cfg().log);
    }
  }
} at_exit;

}  // namespace

bool bad_dev(int d) { return d < 0 || d >= cfg().count; }

Device& context(int d) {
  Device& v = *st().dev[d];
  if (!v.context) {
    v.context = true;
    v.span = 2 * cfg().p.total + 64 * kGiB;
    v.span = (v.span + kGiB - 1) / kGiB * kGiB;
    uint64_t want = 0x200000000000ull + uint64_t(d) * 0x10000000000ull;
    void* m = mmap((void*)want, v.span, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (m == MAP_FAILED)
      m = mmap(nullptr, v.span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED) {
      fprintf(stderr, "fakecuda: cannot reserve %zu bytes of addresses: %s\n", size_t(v.span),
              strerror(errno));
      abort();
    }
    v.base = (uint64_t)m;
    v.fresh = v.base;
    v.va.add(v.base, v.span);
    logf("context", d, 0, v.base, cfg().p.context, cfg().p.context, cfg().name.c_str());
  }
  return v;
}

}  // namespace pretend
