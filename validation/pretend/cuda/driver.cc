#include "validation/pretend/cuda/core.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <algorithm>

using namespace pretend;

// Looks a driver function up by the name a caller uses: the newest version
// that this file defines (cuMemAlloc -> cuMemAlloc_v2), else the plain name.
void* pretend::driver_symbol(const char* name) {
  static void* self = [] {
    Dl_info i;
    void* h = nullptr;
    if (dladdr((void*)&driver_symbol, &i) && i.dli_fname)
      h = dlopen(i.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    return h ? h : RTLD_DEFAULT;
  }();
  if (strncmp(name, "cu", 2) || !strncmp(name, "cuda", 4)) return nullptr;
  for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
    std::string s = std::string(name) + suffix;
    if (void* p = dlsym(self, s.c_str())) return p;
  }
  // the rest are the no-ops that genstubs.py put into libcuda.so.1
  static void* rest = dlopen("libcuda.so.1", RTLD_LAZY);
  return rest ? dlsym(rest, name) : nullptr;
}

static cudaError_t entry_point(const char* sym, void** fn, cudaDriverEntryPointQueryResult* q) {
  void* p = driver_symbol(sym);
  *fn = p;
  if (q) *q = p ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  if (!p && cfg().trace_unknown) fprintf(stderr, "fakecuda: no driver symbol %s\n", sym);
  return cudaSuccess;
}
#undef cudaGetDriverEntryPoint
EXPORT cudaError_t cudaGetDriverEntryPoint(const char* s, void** f, unsigned long long,
                                           cudaDriverEntryPointQueryResult* q) {
  return entry_point(s, f, q);
}
EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char* s, void** f, unsigned,
                                                    unsigned long long,
                                                    cudaDriverEntryPointQueryResult* q) {
  return entry_point(s, f, q);
}

#undef cuGetProcAddress
#undef cuDeviceTotalMem
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemGetInfo
#undef cuDeviceGetUuid
#undef cuDevicePrimaryCtxRelease

EXPORT CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
EXPORT CUresult cuDriverGetVersion(int* v) {
  *v = CUDA_VERSION;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetCount(int* n) {
  *n = cfg().count;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGet(CUdevice* d, int i) {
  *d = i;
  return bad_dev(i) ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetName(char* s, int n, CUdevice) {
  snprintf(s, n, "%s", cfg().name.c_str());
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceTotalMem_v2(size_t* n, CUdevice) {
  *n = cfg().p.total;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* u, CUdevice d) {
  memset(u, 0, sizeof *u);
  u->bytes[0] = 0x46;
  u->bytes[15] = char(d);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetAttribute(int* v, CUdevice_attribute a, CUdevice d) {
  if (bad_dev(d)) return CUDA_ERROR_INVALID_DEVICE;
  *v = attribute(int(a), d);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice d, unsigned* f, int* active) {
  if (bad_dev(d)) return CUDA_ERROR_INVALID_DEVICE;
  if (f) *f = 0;
  if (active) *active = st().dev[d]->context;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* c, CUdevice d) {
  if (bad_dev(d)) return CUDA_ERROR_INVALID_DEVICE;
  Lock l(st().mu);
  context(d);
  *c = (CUcontext)st().dev[d];
  return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
EXPORT CUresult cuCtxGetCurrent(CUcontext* c) {
  *c = t_ctx_override ? t_ctx_override
                      : (st().dev[t_device]->context ? (CUcontext)st().dev[t_device] : nullptr);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSetCurrent(CUcontext c) {
  for (int i = 0; i < cfg().count; ++i)
    if ((CUcontext)st().dev[i] == c) t_device = i;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxGetDevice(CUdevice* d) {
  *d = t_device;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxPushCurrent_v2(CUcontext c) { return cuCtxSetCurrent(c); }
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext* c) { return c ? cuCtxGetCurrent(c) : CUDA_SUCCESS; }
EXPORT CUresult cuCtxSynchronize() {
  cudaDeviceSynchronize();
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGetErrorString(CUresult e, const char** s) {
  *s = e == CUDA_SUCCESS               ? "no error"
       : e == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory"
       : e == CUDA_ERROR_INVALID_VALUE ? "invalid argument"
                                       : "fakecuda driver error";
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGetErrorName(CUresult e, const char** s) {
  *s = e == CUDA_SUCCESS               ? "CUDA_SUCCESS"
       : e == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                       : "CUDA_ERROR_OTHER";
  return CUDA_SUCCESS;
}
EXPORT CUresult cuGetProcAddress_v2(const char* s, void** f, int, cuuint64_t,
                                    CUdriverProcAddressQueryResult* q) {
  *f = driver_symbol(s);
  if (q) *q = *f ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *f ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
EXPORT CUresult cuGetProcAddress(const char* s, void** f, int v, cuuint64_t fl) {
  return cuGetProcAddress_v2(s, f, v, fl, nullptr);
}
EXPORT CUresult cuGetExportTable(const void** t, const CUuuid*) {
  *t = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* p, size_t n) {
  void* a = nullptr;
  cudaError_t e = dev_malloc(&a, n, t_device);
  *p = (CUdeviceptr)a;
  return e == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr p) {
  return dev_free((void*)p) == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT CUresult cuMemGetInfo_v2(size_t* f, size_t* t) {
  cudaMemGetInfo(f, t);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr* b, size_t* n, CUdeviceptr p) {
  Lock l(st().mu);
  auto it = st().live.upper_bound((uint64_t)p);
  if (it != st().live.begin()) {
    --it;
    if ((uint64_t)p < it->first + it->second.taken) {
      if (b) *b = it->first;
      if (n) *n = it->second.asked;
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_NOT_FOUND;
}
EXPORT CUresult cuMemsetD32Async(CUdeviceptr p, unsigned v, size_t n, CUstream s) {
  Lock l(st().mu);
  if (n * 4 <= cfg().copy_max && device_accessible((void*)p, n * 4))
    std::fill_n((unsigned*)p, n, v);
  enqueue(as_stream((cudaStream_t)s));
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream s) {
  set_on((void*)p, v, n, (cudaStream_t)s);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream q) {
  copy_on((void*)d, (void*)s, n, (cudaStream_t)q, false);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr d, const void* s, size_t n, CUstream q) {
  copy_on((void*)d, s, n, (cudaStream_t)q, false);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyDtoHAsync_v2(void* d, CUdeviceptr s, size_t n, CUstream q) {
  copy_on(d, (void*)s, n, (cudaStream_t)q, false);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream q) {
  copy_on((void*)d, (void*)s, n, (cudaStream_t)q, false);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamWriteValue32_v2(CUstream, CUdeviceptr, cuuint32_t, unsigned) {
  return CUDA_SUCCESS;
}
#undef cuStreamWriteValue32
EXPORT CUresult cuStreamWriteValue32(CUstream, CUdeviceptr, cuuint32_t, unsigned) {
  return CUDA_SUCCESS;
}
EXPORT CUresult cuPointerGetAttribute(void* out, CUpointer_attribute a, CUdeviceptr p) {
  switch (a) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *(unsigned*)out = in_device((void*)p) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *(CUdeviceptr*)out = p;
      return in_device((void*)p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *(int*)out = 0;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// virtual memory management
EXPORT CUresult cuMemGetAllocationGranularity(size_t* g, const CUmemAllocationProp*,
                                              CUmemAllocationGranularity_flags) {
  *g = cfg().granularity;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemAddressReserve(CUdeviceptr* p, size_t n, size_t align, CUdeviceptr want,
                                    unsigned long long) {
  Lock l(st().mu);
  const size_t g = cfg().granularity;
  if (!n || n % g) return CUDA_ERROR_INVALID_VALUE;
  if (align < g) align = g;
  uint64_t a = 0;
  if (want && st().vmm_va.take_at(want, n)) a = want;
  if (!a) a = st().vmm_va.take_low(n, align);
  if (!a) return CUDA_ERROR_OUT_OF_MEMORY;
  void* m = mmap((void*)a, n, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (m == MAP_FAILED) {
    st().vmm_va.add(a, n);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  st().reserved[a] = n;
  *p = a;
  logf("reserve", t_device, 0, a, n, 0);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemAddressFree(CUdeviceptr p, size_t n) {
  Lock l(st().mu);
  auto it = st().reserved.find(p);
  if (it == st().reserved.end() || it->second != n) return CUDA_ERROR_INVALID_VALUE;
  munmap((void*)p, n);
  st().vmm_va.add(p, n);
  st().reserved.erase(it);
  logf("unreserve", t_device, 0, p, n, 0);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* h, size_t n,
                            const CUmemAllocationProp* prop, unsigned long long) {
  return mem_create(h, n, prop);
}
EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle h) {
  Lock l(st().mu);
  if (!st().phys.count(h)) return CUDA_ERROR_INVALID_VALUE;
  phys_unref(h);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemMap(CUdeviceptr p, size_t n, size_t off, CUmemGenericAllocationHandle h,
                         unsigned long long) {
  Lock l(st().mu);
  auto it = st().phys.find(h);
  if (it == st().phys.end() || off != 0 || n != it->second.size) return CUDA_ERROR_INVALID_VALUE;
  auto r = st().reserved.upper_bound(p);
  if (r == st().reserved.begin()) return CUDA_ERROR_INVALID_VALUE;
  --r;
  if (p + n > r->first + r->second) return CUDA_ERROR_INVALID_VALUE;
  auto m = st().mapped.lower_bound(p);
  if (m != st().mapped.end() && m->first < p + n) return CUDA_ERROR_INVALID_VALUE;
  if (m != st().mapped.begin() && std::prev(m)->first + std::prev(m)->second.size > p)
    return CUDA_ERROR_INVALID_VALUE;
  it->second.refs++;
  st().mapped[p] = Mapping{n, h};
  logf("map", it->second.dev, 0, p, n, 0);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemSetAccess(CUdeviceptr p, size_t n, const CUmemAccessDesc*, size_t) {
  Lock l(st().mu);
  open_range(p, n);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemUnmap(CUdeviceptr p, size_t n) {
  Lock l(st().mu);
  if (lost()) return CUDA_ERROR_LAUNCH_FAILED;
  auto it = st().mapped.lower_bound(p);
  if (it == st().mapped.end() || it->first != p) return CUDA_ERROR_INVALID_VALUE;
  refuse_in_flight(p, n);
  while (it != st().mapped.end() && it->first < p + n) {
    uint64_t h = it->second.handle;
    int d = st().phys.count(h) ? st().phys[h].dev : 0;
    close_range(it->first, it->second.size);
    logf("unmap", d, 0, it->first, it->second.size, 0);
    it = st().mapped.erase(it);
    phys_unref(h);
  }
  return CUDA_SUCCESS;
}
EXPORT CUresult cuMemExportToShareableHandle(void*, CUmemGenericAllocationHandle,
                                             CUmemAllocationHandleType, unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle*, void*,
                                               CUmemAllocationHandleType) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
EXPORT CUresult cuMulticastCreate(CUmemGenericAllocationHandle*, const CUmulticastObjectProp*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
EXPORT CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle, CUdevice) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
EXPORT CUresult cuMulticastBindMem(CUmemGenericAllocationHandle, size_t,
                                   CUmemGenericAllocationHandle, size_t, size_t,
                                   unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}

// modules and launches
EXPORT CUresult cuModuleLoadData(CUmodule* m, const void*) {
  *m = (CUmodule) new int(0);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleLoadDataEx(CUmodule* m, const void*, unsigned, CUjit_option*, void**) {
  *m = (CUmodule) new int(0);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
EXPORT CUresult cuModuleGetFunction(CUfunction* f, CUmodule, const char* n) {
  Lock l(st().mu);
  auto* k = new Kernel{nullptr, n};
  st().kernel_handles.insert(k);
  *f = (CUfunction)k;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuFuncGetAttribute(int* v, CUfunction_attribute a, CUfunction) {
  *v = a == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
       : a == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 32
                                                    : 0;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
EXPORT CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }
EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned, CUstream s, void** args,
                               void**) {
  launch(f, (cudaStream_t)s, dim3{gx, gy, gz}, dim3{bx, by, bz}, args);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                          unsigned bx, unsigned by, unsigned bz, unsigned,
                                          CUstream s, void**) {
  launch(f, (cudaStream_t)s, dim3{gx, gy, gz}, dim3{bx, by, bz});
  return CUDA_SUCCESS;
}
EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction f, void**, void**) {
  launch(f, (cudaStream_t)c->hStream, dim3{c->gridDimX, c->gridDimY, c->gridDimZ},
         dim3{c->blockDimX, c->blockDimY, c->blockDimZ});
  return CUDA_SUCCESS;
}
EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* n, CUfunction, int t, size_t sm) {
  *n = sm_limit_blocks(t, sm);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuOccupancyMaxActiveClusters(int* n, CUfunction, const CUlaunchConfig*) {
  *n = cfg().p.sms / 2;
  return CUDA_SUCCESS;
}
EXPORT CUresult cuTensorMapEncodeTiled(CUtensorMap* m, CUtensorMapDataType, cuuint32_t, void*,
                                       const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                       const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                       CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  memset(m, 0, sizeof *m);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamGetCtx(CUstream, CUcontext* c) { return cuCtxGetCurrent(c); }
