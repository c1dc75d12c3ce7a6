#include "validation/pretend/cuda/core.h"

#include <stdlib.h>
#include <string.h>
#include <algorithm>

using namespace pretend;

int pretend::sm_limit_blocks(int threads, size_t smem) {
  if (threads <= 0) threads = 1;
  int by_t = cfg().p.threads_sm / ((threads + 31) / 32 * 32);
  int by_s = smem ? int(cfg().p.smem_sm / (smem + 1024)) : 32;
  return std::max(1, std::min({by_t, by_s, 32}));
}

extern "C" {
__attribute__((visibility("default"))) void** __cudaRegisterFatBinary(void* fat) {
  return (void**)new void*(fat);
}
__attribute__((visibility("default"))) void __cudaRegisterFatBinaryEnd(void**) {}
__attribute__((visibility("default"))) void __cudaUnregisterFatBinary(void**) {}
__attribute__((visibility("default"))) char __cudaInitModule(void**) { return 1; }
__attribute__((visibility("default"))) void __cudaRegisterFunction(void** fat, const char* host,
                                                                   char*, const char* dev, int,
                                                                   uint3*, uint3*, dim3*, dim3*,
                                                                   int*) {
  Lock l(st().mu);
  auto& k = st().kernels[host];
  if (!k) k = new Kernel{host, dev ? dev : "", fat};
  st().kernel_handles.insert(k);
}
__attribute__((visibility("default"))) void __cudaRegisterVar(void**, char* host, char*,
                                                              const char*, int, size_t n, int,
                                                              int) {
  Lock l(st().mu);
  st().symbols[host] = {0, n};
}
__attribute__((visibility("default"))) void __cudaRegisterManagedVar(void**, void** host, char*,
                                                                     const char*, int, size_t n,
                                                                     int, int) {
  static char dummy[256];
  if (host) *host = n <= sizeof dummy ? dummy : calloc(1, n);
}
struct CallConf {
  dim3 g, b;
  size_t sm;
  void* s;
};
static thread_local std::vector<CallConf> t_conf;
__attribute__((visibility("default"))) unsigned __cudaPushCallConfiguration(dim3 g, dim3 b,
                                                                            size_t sm,
                                                                            struct CUstream_st* s) {
  t_conf.push_back({g, b, sm, s});
  return 0;
}
__attribute__((visibility("default"))) cudaError_t __cudaPopCallConfiguration(dim3* g, dim3* b,
                                                                              size_t* sm, void* s) {
  if (t_conf.empty()) return cudaErrorMissingConfiguration;
  CallConf c = t_conf.back();
  t_conf.pop_back();
  *g = c.g;
  *b = c.b;
  *sm = c.sm;
  *(void**)s = c.s;
  return cudaSuccess;
}
__attribute__((visibility("default"))) cudaError_t __cudaGetKernel(cudaKernel_t* k, const void* f) {
  Lock l(st().mu);
  auto& x = st().kernels[f];
  if (!x) {
    x = new Kernel{f, "?"};
    st().kernel_handles.insert(x);
  }
  *k = (cudaKernel_t)x;
  return cudaSuccess;
}
__attribute__((visibility("default"))) cudaError_t __cudaLaunchKernel(cudaKernel_t k, dim3 g,
                                                                      dim3 b, void** args, size_t,
                                                                      cudaStream_t s) {
  return launch(k, s, g, b, args);
}
}
EXPORT cudaError_t cudaLaunchKernel(const void* f, dim3 g, dim3 b, void** args, size_t,
                                    cudaStream_t s) {
  return launch(f, s, g, b, args);
}
EXPORT cudaError_t cudaLaunchCooperativeKernel(const void* f, dim3 g, dim3 b, void**, size_t,
                                               cudaStream_t s) {
  return launch(f, s, g, b);
}
EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void* f, void** args) {
  return launch(f, c->stream, c->gridDim, c->blockDim, args);
}

// The architecture whose code the device would run: the highest one in the
// kernel's fat binary that is of the device's generation and not above it.
// CUB picks its tile sizes by it and refuses one it was not compiled for.
static int code_arch(const void* f) {
  static std::map<void**, int> known;
  Lock l(st().mu);
  auto k = st().kernels.find((const char*)f);
  if (k == st().kernels.end() || !k->second || !k->second->fat) return cfg().p.cc;
  auto seen = known.find(k->second->fat);
  if (seen != known.end()) return seen->second;
  struct Wrapper {
    uint32_t magic, version;
    const char* data;
  } w;
  memcpy(&w, *k->second->fat, sizeof w);
  int best = 0, cc = cfg().p.cc;
  uint32_t magic = 0;
  if (w.magic == 0x466243b1 && w.data) memcpy(&magic, w.data, 4);
  if (magic == 0xba55ed50) {
    uint16_t head;
    uint64_t size;
    memcpy(&head, w.data + 6, 2);
    memcpy(&size, w.data + 8, 8);
    for (const char *p = w.data + head, *end = p + size; p + 32 <= end;) {
      uint16_t kind;
      uint32_t skip, arch;
      uint64_t bytes;
      memcpy(&kind, p, 2);
      memcpy(&skip, p + 4, 4);
      memcpy(&bytes, p + 8, 8);
      memcpy(&arch, p + 28, 4);
      if (kind == 2 && int(arch) <= cc && int(arch) / 10 == cc / 10)
        best = std::max(best, int(arch));
      p += skip + bytes;
      if (!skip) break;
    }
  }
  return known[k->second->fat] = best ? best : cc;
}
EXPORT cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, const void* f) {
  memset(a, 0, sizeof *a);
  a->maxThreadsPerBlock = 1024;
  a->numRegs = 32;
  a->ptxVersion = a->binaryVersion = code_arch(f);
  a->maxDynamicSharedSizeBytes = 49152;
  return cudaSuccess;
}
EXPORT cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
EXPORT cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }
EXPORT cudaError_t cudaGetFuncBySymbol(cudaFunction_t* f, const void* s) {
  cudaKernel_t k;
  __cudaGetKernel(&k, s);
  *f = (cudaFunction_t)k;
  return cudaSuccess;
}
EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* n, const void*, int t,
                                                                 size_t sm) {
  *n = sm_limit_blocks(t, sm);
  return cudaSuccess;
}
EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* n, const void* f,
                                                                          int t, size_t sm,
                                                                          unsigned) {
  *n = sm_limit_blocks(t, sm);
  return cudaSuccess;
}
EXPORT cudaError_t cudaOccupancyMaxActiveClusters(int* n, const void*, const cudaLaunchConfig_t*) {
  *n = cfg().p.sms / 2;
  return cudaSuccess;
}
EXPORT cudaError_t cudaOccupancyMaxPotentialClusterSize(int* n, const void*,
                                                        const cudaLaunchConfig_t*) {
  *n = 8;
  return cudaSuccess;
}
EXPORT cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* n, const void*, int, int) {
  *n = 49152;
  return cudaSuccess;
}
EXPORT cudaError_t cudaProfilerStart() { return cudaSuccess; }
EXPORT cudaError_t cudaProfilerStop() { return cudaSuccess; }
