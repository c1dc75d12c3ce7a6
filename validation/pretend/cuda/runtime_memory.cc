#include "validation/pretend/cuda/core.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <algorithm>

using namespace pretend;

EXPORT cudaError_t cudaMalloc(void** p, size_t n) { return ret(dev_malloc(p, n, t_device)); }
EXPORT cudaError_t cudaFree(void* p) {
  if (!p) {
    Lock l(st().mu);
    context(t_device);
  }
  return ret(dev_free(p));
}
EXPORT cudaError_t cudaMallocManaged(void** p, size_t n, unsigned) {
  return ret(dev_malloc(p, n, t_device));
}
EXPORT cudaError_t cudaMallocPitch(void** p, size_t* pitch, size_t w, size_t h) {
  *pitch = (w + 511) / 512 * 512;
  return ret(dev_malloc(p, *pitch * h, t_device));
}
EXPORT cudaError_t cudaMallocAsync(void** p, size_t n, cudaStream_t s) {
  Lock l(st().mu);
  int d = as_stream(s)->dev;
  return ret(dev_malloc(p, n, d, &st().dev[d]->pool));
}
EXPORT cudaError_t cudaMallocFromPoolAsync(void** p, size_t n, cudaMemPool_t pool, cudaStream_t s) {
  Lock l(st().mu);
  return ret(dev_malloc(p, n, as_stream(s)->dev, (Pool*)pool));
}
// In the order of its stream: what that stream still does with the memory comes before.
EXPORT cudaError_t cudaFreeAsync(void* p, cudaStream_t s) {
  Lock l(st().mu);
  Stream* q = as_stream(s);
  q->touched.erase((uint64_t)p);
  return ret(dev_free(p, false));
}
EXPORT cudaError_t cudaMemGetInfo(size_t* f, size_t* t) {
  Lock l(st().mu);
  context(t_device);
  if (lost()) return ret(cudaErrorLaunchFailure);
  if (f) *f = free_bytes(t_device);
  if (t) *t = cfg().p.total;
  return cudaSuccess;
}
EXPORT cudaError_t cudaHostAlloc(void** p, size_t n, unsigned) {
  Lock l(st().mu);
  context(t_device);
  size_t m = std::max<size_t>(4096, (n + 4095) / 4096 * 4096);
  void* a =
      mmap(nullptr, m, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (a == MAP_FAILED) return ret(cudaErrorMemoryAllocation);
  st().host[(uint64_t)a] = m;
  st().host_owned[(uint64_t)a] = m;
  logf("hostalloc", t_device, 0, (uint64_t)a, n, 0);
  *p = a;
  return cudaSuccess;
}
EXPORT cudaError_t cudaMallocHost(void** p, size_t n) { return cudaHostAlloc(p, n, 0); }
EXPORT cudaError_t cudaFreeHost(void* p) {
  Lock l(st().mu);
  auto it = st().host_owned.find((uint64_t)p);
  if (it == st().host_owned.end()) return p ? ret(cudaErrorInvalidValue) : cudaSuccess;
  logf("hostfree", t_device, 0, (uint64_t)p, it->second, 0);
  munmap(p, it->second);
  st().host.erase((uint64_t)p);
  st().host_owned.erase(it);
  return cudaSuccess;
}
EXPORT cudaError_t cudaHostRegister(void* p, size_t n, unsigned) {
  Lock l(st().mu);
  st().host[(uint64_t)p] = n;
  return cudaSuccess;
}
EXPORT cudaError_t cudaHostUnregister(void* p) {
  Lock l(st().mu);
  st().host.erase((uint64_t)p);
  return cudaSuccess;
}
EXPORT cudaError_t cudaHostGetDevicePointer(void** d, void* h, unsigned) {
  *d = h;
  return cudaSuccess;
}
EXPORT cudaError_t cudaHostGetFlags(unsigned* f, void*) {
  *f = 0;
  return cudaSuccess;
}
EXPORT cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* a, const void* p) {
  Lock l(st().mu);
  memset(a, 0, sizeof *a);
  a->device = -2;
  if (in_device(p)) {
    a->type = cudaMemoryTypeDevice;
    a->devicePointer = (void*)p;
    a->device = 0;
    for (int i = 0; i < cfg().count; ++i) {
      auto* d = st().dev[i];
      if (d->base && (uint64_t)p >= d->base && (uint64_t)p < d->base + d->span) a->device = i;
    }
    return cudaSuccess;
  }
  auto it = st().host.upper_bound((uint64_t)p);
  if (it != st().host.begin()) {
    --it;
    if ((uint64_t)p < it->first + it->second) {
      a->type = cudaMemoryTypeHost;
      a->device = t_device;
      a->hostPointer = a->devicePointer = (void*)p;
      return cudaSuccess;
    }
  }
  a->type = cudaMemoryTypeUnregistered;
  a->hostPointer = (void*)p;
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemcpy(void* d, const void* s, size_t n, cudaMemcpyKind) {
  return copy_on(d, s, n, nullptr, true);
}
EXPORT cudaError_t cudaMemcpyAsync(void* d, const void* s, size_t n, cudaMemcpyKind,
                                   cudaStream_t q) {
  return copy_on(d, s, n, q, false);
}
EXPORT cudaError_t cudaMemcpyPeer(void* d, int, const void* s, int, size_t n) {
  return copy_on(d, s, n, nullptr, true);
}
EXPORT cudaError_t cudaMemcpyPeerAsync(void* d, int, const void* s, int, size_t n, cudaStream_t q) {
  return copy_on(d, s, n, q, false);
}
EXPORT cudaError_t cudaMemcpy2DAsync(void* d, size_t dp, const void* s, size_t sp, size_t w,
                                     size_t h, cudaMemcpyKind, cudaStream_t q) {
  if (w * h <= cfg().copy_max)
    for (size_t i = 0; i < h; ++i) {
      Lock l(st().mu);
      do_copy((char*)d + i * dp, (const char*)s + i * sp, w);
    }
  Lock l(st().mu);
  enqueue(as_stream(q));
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemset(void* d, int v, size_t n) { return set_on(d, v, n, nullptr); }
EXPORT cudaError_t cudaMemsetAsync(void* d, int v, size_t n, cudaStream_t q) {
  return set_on(d, v, n, q);
}
EXPORT cudaError_t cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, cudaMemcpyKind) {
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemcpyToSymbolAsync(const void*, const void*, size_t, size_t, cudaMemcpyKind,
                                           cudaStream_t) {
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemcpyFromSymbol(void* d, const void*, size_t n, size_t, cudaMemcpyKind) {
  if (!in_device(d)) memset(d, 0, n);
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemcpyFromSymbolAsync(void* d, const void*, size_t n, size_t, cudaMemcpyKind,
                                             cudaStream_t) {
  if (!in_device(d)) memset(d, 0, n);
  return cudaSuccess;
}
EXPORT cudaError_t cudaGetSymbolAddress(void** p, const void* sym) {
  Lock l(st().mu);
  auto& e = st().symbols[sym];
  if (!e.first) {
    void* a = nullptr;
    cudaError_t r = dev_malloc(&a, std::max<size_t>(e.second, 16), t_device);
    if (r) return ret(r);
    e.first = (uint64_t)a;
  }
  *p = (void*)e.first;
  return cudaSuccess;
}
EXPORT cudaError_t cudaGetSymbolSize(size_t* n, const void* sym) {
  Lock l(st().mu);
  *n = st().symbols[sym].second;
  return cudaSuccess;
}

EXPORT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) {
  return ret(cudaErrorNotSupported);
}
EXPORT cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) {
  return ret(cudaErrorNotSupported);
}
EXPORT cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return ret(cudaErrorNotSupported);
}
EXPORT cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return ret(cudaErrorNotSupported);
}

EXPORT cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* p, int d) {
  if (bad_dev(d)) return ret(cudaErrorInvalidDevice);
  *p = (cudaMemPool_t)&st().dev[d]->pool;
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* p, int d) {
  return cudaDeviceGetDefaultMemPool(p, d);
}
EXPORT cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t) { return cudaSuccess; }
EXPORT cudaError_t cudaMemPoolCreate(cudaMemPool_t* p, const cudaMemPoolProps* q) {
  auto* n = new Pool;
  n->dev = q ? q->location.id : 0;
  *p = (cudaMemPool_t)n;
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }
EXPORT cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
EXPORT cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, size_t) {
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t p, cudaMemPoolAttr a, void* v) {
  auto* q = (Pool*)p;
  if (a == cudaMemPoolAttrReleaseThreshold) q->threshold = *(uint64_t*)v;
  if (a == cudaMemPoolAttrUsedMemHigh) q->used_high = q->used;
  if (a == cudaMemPoolAttrReservedMemHigh) q->reserved_high = q->used;
  return cudaSuccess;
}
EXPORT cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t p, cudaMemPoolAttr a, void* v) {
  auto* q = (Pool*)p;
  switch (a) {
    case cudaMemPoolAttrReleaseThreshold:
      *(uint64_t*)v = q->threshold;
      break;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      *(uint64_t*)v = q->used;
      break;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      *(uint64_t*)v = q->used_high;
      break;
    default:
      *(int*)v = 1;
  }
  return cudaSuccess;
}
