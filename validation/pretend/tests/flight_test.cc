// Memory that is taken away: flight_test early|waited. Prints what a program sees; pretend_test.py
// compares.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

template <class F>
static F driver(const char* name, F) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
#else
  cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  return (F)found;
}
#define DRIVER(NAME) driver(#NAME, &NAME)

int main(int argc, char** argv) {
  const bool waits = argc > 1 && !strcmp(argv[1], "waited");
  const size_t page = size_t(2) << 20;
  cudaStream_t stream, other;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUdeviceptr at = 0;
  DRIVER(cuMemAddressReserve)(&at, 2 * page, 0, 0, 0);
  CUmemGenericAllocationHandle handles[2];
  for (int i = 0; i < 2; ++i) {
    DRIVER(cuMemCreate)(&handles[i], page, &prop, 0);
    DRIVER(cuMemMap)(at + i * page, page, 0, handles[i], 0);
  }
  CUmemAccessDesc access{prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  DRIVER(cuMemSetAccess)(at, 2 * page, &access, 1);
  cudaMemsetAsync((void*)at, 0, 512, stream);
  cudaMemsetAsync((void*)(at + page), 0, 512, other);
  cudaStreamSynchronize(other);  // its page may go, whatever the first stream still does
  printf("unmap %d\n", DRIVER(cuMemUnmap)(at + page, page));
  printf("sync %s\n", cudaGetErrorName(cudaStreamSynchronize(other)));
  if (waits) cudaStreamSynchronize(stream);
  printf("unmap %d\n", DRIVER(cuMemUnmap)(at, page));
  printf("sync %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
