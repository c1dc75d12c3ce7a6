// The faults that the pretend device can be told to have. Prints what a program sees;
// pretend_test.py sets them and compares.
#include <cuda_runtime_api.h>
#include <stdio.h>

#include <chrono>

static char kernel;

int main() {
  int count = 0;
  printf("devices %s\n", cudaGetErrorName(cudaGetDeviceCount(&count)));
  if (count == 0) return 77;
  size_t before = 0, after = 0, total = 0;
  cudaMemGetInfo(&before, &total);
  printf("gone %zu\n", total - before);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) {
    void* p = nullptr;
    printf("malloc %s\n", cudaGetErrorName(cudaMalloc(&p, size_t(4) << 20)));
  }
  const auto took = std::chrono::steady_clock::now() - start;
  printf("slow %d\n", took > std::chrono::milliseconds(8));
  cudaMemGetInfo(&after, &total);
  printf("taken %zu\n", before - after);
  for (int i = 0; i < 3; ++i) {
    const cudaError_t e = cudaLaunchKernel(&kernel, dim3(1), dim3(1), nullptr, 0, nullptr);
    printf("launch %s\n", cudaGetErrorName(e));
  }
  printf("sync %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
