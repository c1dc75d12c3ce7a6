// What a program sees of the pretend device: memory, copies, streams, graphs, virtual memory.
// pretend_test.py builds and runs it.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

static int failures = 0, passes = 0;
#define CHECK(c)                                         \
  do {                                                   \
    if (c)                                               \
      ++passes;                                          \
    else {                                               \
      ++failures;                                        \
      printf("FAIL %s:%d %s\n", __FILE__, __LINE__, #c); \
    }                                                    \
  } while (0)

static char kernel;  // stands for one: launches only count
static cudaError_t work(cudaStream_t s) {
  return cudaLaunchKernel(&kernel, dim3(1), dim3(256), nullptr, 0, s);
}

template <class F>
static F entry(const char* name) {
  void* p = nullptr;
  cudaDriverEntryPointQueryResult q;
  if (cudaGetDriverEntryPointByVersion(name, &p, 12000, cudaEnableDefault, &q) != cudaSuccess ||
      q != cudaDriverEntryPointSuccess)
    return nullptr;
  return (F)p;
}

int main() {
  int n = 0, v = 0;
  CHECK(cudaGetDeviceCount(&n) == cudaSuccess && n >= 1);
  CHECK(cudaRuntimeGetVersion(&v) == cudaSuccess && v == CUDART_VERSION);
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0) == cudaSuccess);
  printf("%s cc %d.%d SMs %d total %zu\n", p.name, p.major, p.minor, p.multiProcessorCount,
         p.totalGlobalMem);
  CHECK(p.totalGlobalMem > 0 && p.warpSize == 32);

  size_t f0, t0, f1, t1;
  CHECK(cudaMemGetInfo(&f0, &t0) == cudaSuccess && t0 == p.totalGlobalMem && f0 < t0);
  printf("context takes %zu MiB\n", (t0 - f0) >> 20);

  // 2 MiB steps
  void *a, *b, *c;
  CHECK(cudaMalloc(&a, 3 << 20) == cudaSuccess);
  cudaMemGetInfo(&f1, &t1);
  CHECK(f0 - f1 == 4u << 20);
  // small requests share a block
  CHECK(cudaMalloc(&b, 1000) == cudaSuccess && cudaMalloc(&c, 1000) == cudaSuccess);
  cudaMemGetInfo(&f1, &t1);
  CHECK(f0 - f1 == 6u << 20);
  CHECK((char*)c - (char*)b == 1024);
  CHECK(cudaFree(b) == cudaSuccess && cudaFree(c) == cudaSuccess);
  cudaMemGetInfo(&f1, &t1);
  CHECK(f0 - f1 == 4u << 20);
  CHECK(cudaFree(a) == cudaSuccess);
  CHECK(cudaFree(a) == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue &&
        cudaGetLastError() == cudaSuccess);
  cudaMemGetInfo(&f1, &t1);
  CHECK(f0 == f1);

  // fill the device
  std::vector<void*> all;
  void* q;
  while (cudaMalloc(&q, size_t(1) << 30) == cudaSuccess) all.push_back(q);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  cudaMemGetInfo(&f1, &t1);
  CHECK(f1 < (size_t(1) << 30) && all.size() == f0 >> 30);
  CHECK(cudaMalloc(&q, f1 / (2 << 20) * (2 << 20)) == cudaSuccess);
  CHECK(cudaMalloc(&a, 2 << 20) == cudaErrorMemoryAllocation);
  cudaGetLastError();
  cudaFree(q);
  for (void* x : all) cudaFree(x);
  cudaMemGetInfo(&f1, &t1);
  CHECK(f0 == f1);

  // copies of small things arrive; kernels do nothing
  float host[256], back[256];
  for (int i = 0; i < 256; ++i) host[i] = float(i);
  void* d;
  CHECK(cudaMalloc(&d, sizeof host) == cudaSuccess);
  CHECK(cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(work(nullptr) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(!memcmp(host, back, sizeof host));
  cudaPointerAttributes pa;
  CHECK(cudaPointerGetAttributes(&pa, d) == cudaSuccess && pa.type == cudaMemoryTypeDevice &&
        pa.device == 0);
  CHECK(cudaPointerGetAttributes(&pa, host) == cudaSuccess &&
        pa.type == cudaMemoryTypeUnregistered);
  void* pin;
  CHECK(cudaHostAlloc(&pin, 100, 0) == cudaSuccess &&
        cudaPointerGetAttributes(&pa, pin) == cudaSuccess && pa.type == cudaMemoryTypeHost);
  CHECK(cudaFreeHost(pin) == cudaSuccess);
  cudaFuncAttributes fa;
  CHECK(cudaFuncGetAttributes(&fa, &kernel) == cudaSuccess && fa.maxThreadsPerBlock == 1024);

  // streams and events
  cudaStream_t s, s2;
  cudaEvent_t e;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess &&
        cudaStreamCreate(&s2) == cudaSuccess);
  CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming) == cudaSuccess);
  work(s);
  CHECK(cudaEventRecord(e, s) == cudaSuccess);
  const char* mode = getenv("FAKECUDA_EVENTS");
  bool lazy = mode && !strcmp(mode, "sync");
  CHECK(cudaEventQuery(e) == (lazy ? cudaErrorNotReady : cudaSuccess));
  CHECK(cudaStreamWaitEvent(s2, e, 0) == cudaSuccess);
  CHECK(cudaStreamQuery(s) == (lazy ? cudaErrorNotReady : cudaSuccess));
  CHECK(cudaStreamSynchronize(s2) == cudaSuccess);
  CHECK(cudaEventQuery(e) == cudaSuccess);

  // graphs
  cudaGraph_t g;
  cudaGraphExec_t x;
  cudaStreamCaptureStatus cs;
  size_t nodes = 0;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaSuccess);
  work(s);
  CHECK(cudaStreamIsCapturing(s, &cs) == cudaSuccess && cs == cudaStreamCaptureStatusActive);
  CHECK(cudaStreamEndCapture(s, &g) == cudaSuccess &&
        cudaGraphGetNodes(g, nullptr, &nodes) == cudaSuccess && nodes == 1);
  CHECK(cudaGraphInstantiate(&x, g, 0) == cudaSuccess && cudaGraphLaunch(x, s) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(x) == cudaSuccess && cudaGraphDestroy(g) == cudaSuccess);

  // virtual memory management through entry points
  auto gran = entry<decltype(&cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity");
  auto reserve = entry<decltype(&cuMemAddressReserve)>("cuMemAddressReserve");
  auto create = entry<decltype(&cuMemCreate)>("cuMemCreate");
  auto map = entry<decltype(&cuMemMap)>("cuMemMap");
  auto access = entry<decltype(&cuMemSetAccess)>("cuMemSetAccess");
  auto unmap = entry<decltype(&cuMemUnmap)>("cuMemUnmap");
  auto release = entry<decltype(&cuMemRelease)>("cuMemRelease");
  auto addrfree = entry<decltype(&cuMemAddressFree)>("cuMemAddressFree");
  auto errstr = entry<decltype(&cuGetErrorString)>("cuGetErrorString");
  CHECK(gran && reserve && create && map && access && unmap && release && addrfree && errstr);
  CHECK(!entry<void*>("cuNoSuchThing"));
  CUmemAllocationProp prop = {};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t gr = 0;
  CHECK(gran(&gr, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS && gr == 2u << 20);
  cudaMemGetInfo(&f0, &t0);
  CUdeviceptr va = 0;
  size_t big = t0 / gr * gr * 9 / 8 / gr * gr, seg = 20u << 20;
  CHECK(reserve(&va, big, 0, 0, 0) == CUDA_SUCCESS && va);
  cudaMemGetInfo(&f1, &t1);
  CHECK(f1 == f0);
  std::vector<CUmemGenericAllocationHandle> hs;
  for (int i = 0; i < 3; ++i) {
    CUmemGenericAllocationHandle h;
    CHECK(create(&h, seg, &prop, 0) == CUDA_SUCCESS);
    CHECK(map(va + i * seg, seg, 0, h, 0) == CUDA_SUCCESS);
    hs.push_back(h);
  }
  CUmemAccessDesc ad = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CHECK(access(va, 3 * seg, &ad, 1) == CUDA_SUCCESS);
  CHECK(map(va + seg / 2, seg, 0, hs[0], 0) == CUDA_ERROR_INVALID_VALUE);
  cudaMemGetInfo(&f1, &t1);
  CHECK(f0 - f1 == 3 * seg);
  // across two pieces
  CHECK(cudaMemcpy((void*)(va + seg - 512), host, sizeof host, cudaMemcpyHostToDevice) ==
        cudaSuccess);
  memset(back, 0, sizeof back);
  CHECK(cudaMemcpy(back, (void*)(va + seg - 512), sizeof host, cudaMemcpyDeviceToHost) ==
            cudaSuccess &&
        !memcmp(host, back, sizeof host));
  CHECK(unmap(va + seg, seg) == CUDA_SUCCESS);
  cudaMemGetInfo(&f1, &t1);
  CHECK(f0 - f1 == 3 * seg);  // unmapped but not released
  CHECK(release(hs[1]) == CUDA_SUCCESS);
  cudaMemGetInfo(&f1, &t1);
  CHECK(f0 - f1 == 2 * seg);
  CHECK(release(hs[0]) == CUDA_SUCCESS);  // still mapped
  cudaMemGetInfo(&f1, &t1);
  CHECK(f0 - f1 == 2 * seg);
  CHECK(unmap(va, seg) == CUDA_SUCCESS && unmap(va + 2 * seg, seg) == CUDA_SUCCESS &&
        release(hs[2]) == CUDA_SUCCESS);
  cudaMemGetInfo(&f1, &t1);
  CHECK(f0 == f1);
  CHECK(addrfree(va, big) == CUDA_SUCCESS);
  CUmemGenericAllocationHandle h;
  CHECK(create(&h, (t0 / gr + 1) * gr, &prop, 0) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(create(&h, 12345, &prop, 0) == CUDA_ERROR_INVALID_VALUE);

  printf("%d passed, %d failed\n", passes, failures);
  return failures != 0;
}
