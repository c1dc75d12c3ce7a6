#include "validation/pretend/cuda/core.h"

#include <sys/mman.h>
#include <algorithm>

namespace pretend {

void open_range(uint64_t a, size_t n) {
  if (cfg().backed) mprotect((void*)a, n, PROT_READ | PROT_WRITE);
}
void close_range(uint64_t a, size_t n) {
  if (cfg().backed) {
    madvise((void*)a, n, MADV_DONTNEED);
    mprotect((void*)a, n, PROT_NONE);
  }
}

cudaError_t dev_malloc(void** out, size_t bytes, int d, Pool* pool) {
  Lock l(st().mu);
  if (!out) return cudaErrorInvalidValue;
  Device& v = context(d);
  if (lost()) return cudaErrorLaunchFailure;
  if (bytes == 0) {
    *out = nullptr;
    return cudaSuccess;
  }
  if (refuse_memory()) {
    logf("oom", d, 0, 0, bytes, 0, "by FAKECUDA_FAIL_MEMORY");
    return cudaErrorMemoryAllocation;
  }
  const size_t g = cfg().granularity;
  uint64_t a = 0;
  size_t taken = 0;
  if (bytes <= cfg().small_limit && cfg().small_limit) {
    size_t n = (bytes + 511) / 512 * 512;
    for (auto& b : v.small)
      if ((a = b.second.take_low(n, 512))) break;
    if (!a) {
      if (free_bytes(d) < g) {
        logf("oom", d, 0, 0, bytes, g);
        return cudaErrorMemoryAllocation;
      }
      uint64_t b = take_va(v, g);
      if (!b) return cudaErrorMemoryAllocation;
      open_range(b, g);
      v.used += g;
      taken = g;
      v.small_blocks[b] = g;
      v.small[b].add(b, g);
      a = v.small[b].take_low(n, 512);
    }
    auto blk = std::prev(v.small_blocks.upper_bound(a));
    v.small_live[blk->first]++;
    st().live[a] = Alloc{bytes, n, d, true, pool};
  } else {
    size_t n = (bytes + g - 1) / g * g;
    if (n < bytes || free_bytes(d) < n) {
      logf("oom", d, 0, 0, bytes, n);
      return cudaErrorMemoryAllocation;
    }
    a = take_va(v, n);
    if (!a) return cudaErrorMemoryAllocation;
    open_range(a, n);
    v.used += n;
    taken = n;
    st().live[a] = Alloc{bytes, n, d, false, pool};
  }
  if (pool) {
    pool->used += bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
  }
  *out = (void*)a;
  logf("malloc", d, 0, a, bytes, taken);
  return cudaSuccess;
}

cudaError_t dev_free(void* p, bool syncs) {
  Lock l(st().mu);
  if (lost()) return cudaErrorLaunchFailure;
  if (!p) return cudaSuccess;
  take_time();
  auto it = st().live.find((uint64_t)p);
  if (it == st().live.end()) return cudaErrorInvalidValue;
  Alloc al = it->second;
  uint64_t a = it->first;
  st().live.erase(it);
  Device& v = *st().dev[al.dev];
  if (syncs) {
    finish_device(al.dev);
  } else {
    refuse_in_flight(a, al.taken);
  }
  size_t gave = 0;
  if (al.small) {
    auto blk = std::prev(v.small_blocks.upper_bound(a));
    v.small[blk->first].add(a, al.taken);
    uint64_t b = blk->first;
    if (--v.small_live[b] == 0) {
      size_t n = blk->second;
      v.small.erase(b);
      v.small_blocks.erase(blk);
      v.small_live.erase(b);
      close_range(b, n);
      v.used -= n;
      gave = n;
      give_va(v, b, n);
    }
  } else {
    close_range(a, al.taken);
    v.used -= al.taken;
    gave = al.taken;
    give_va(v, a, al.taken);
  }
  if (al.pool) al.pool->used -= al.asked;
  logf("free", al.dev, 0, a, al.asked, gave);
  return cudaSuccess;
}

bool in_device(const void* p) {
  uint64_t a = (uint64_t)p;
  if (a >= 0x300000000000ull && a < 0x400000000000ull) return true;
  for (auto* d : st().dev)
    if (d->base && a >= d->base && a < d->base + d->span) return true;
  return false;
}

bool device_accessible(const void* p, size_t n) {
  if (!cfg().backed) return false;
  uint64_t a = (uint64_t)p;
  State& S = st();
  if (a >= 0x300000000000ull && a < 0x400000000000ull) {
    while (n) {
      auto it = S.mapped.upper_bound(a);
      if (it == S.mapped.begin()) return false;
      --it;
      uint64_t end = it->first + it->second.size;
      if (a >= end) return false;
      size_t step = std::min<uint64_t>(n, end - a);
      a += step;
      n -= step;
    }
    return true;
  }
  auto it = S.live.upper_bound(a);
  if (it == S.live.begin()) return false;
  --it;
  return a + n <= it->first + it->second.taken;
}

CUresult mem_create(CUmemGenericAllocationHandle* h, size_t size, const CUmemAllocationProp* prop) {
  Lock l(st().mu);
  if (!h || !size || size % cfg().granularity) return CUDA_ERROR_INVALID_VALUE;
  int d = prop ? prop->location.id : 0;
  bool host = prop && prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE;
  if (!host) {
    if (bad_dev(d)) return CUDA_ERROR_INVALID_DEVICE;
    context(d);
    if (lost()) return CUDA_ERROR_LAUNCH_FAILED;
    if (refuse_memory()) {
      logf("memcreate_oom", d, 0, 0, size, 0, "by FAKECUDA_FAIL_MEMORY");
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (free_bytes(d) < size) {
      logf("memcreate_oom", d, 0, 0, size, size);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    st().dev[d]->used += size;
  } else
    d = 0;
  uint64_t id = st().next_handle++;
  st().phys[id] = Physical{size, d, 1, host};
  *h = id;
  logf("memcreate", d, 0, id, size, host ? 0 : size);
  return CUDA_SUCCESS;
}

void phys_unref(uint64_t id) {
  auto it = st().phys.find(id);
  if (it == st().phys.end()) return;
  if (--it->second.refs == 0) {
    if (!it->second.host) st().dev[it->second.dev]->used -= it->second.size;
    logf("memfreed", it->second.dev, 0, id, it->second.size, it->second.size);
    st().phys.erase(it);
  }
}

}  // namespace pretend
