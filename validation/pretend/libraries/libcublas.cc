#include <cublas_v2.h>
#include "validation/pretend/libraries/fake.h"

// cuBLAS takes device memory for itself when a handle is made; how much is a
// setting (FAKECUDA_CUBLAS_BYTES for the first, FAKECUDA_CUBLAS_MORE for others).
FAKE_EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t* h) {
  static int made = 0;
  size_t n = made++ ? fake::env_bytes("FAKECUDA_CUBLAS_MORE", 0)
                    : fake::env_bytes("FAKECUDA_CUBLAS_BYTES", 0);
  if (n && fakecuda_take(-1, n, "cublas")) return CUBLAS_STATUS_ALLOC_FAILED;
  *h = (cublasHandle_t)fake::object();
  fakecuda_note("cublasCreate");
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_EXPORT cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t h, void*, size_t n) {
  if (h) fake::kept(h)[1] = 1;
  char b[64];
  __builtin_snprintf(b, sizeof b, "cublasSetWorkspace %zu", n);
  fakecuda_note(b);
  return CUBLAS_STATUS_SUCCESS;
}
#undef cublasSetStream
FAKE_EXPORT cublasStatus_t cublasSetStream_v2(cublasHandle_t h, cudaStream_t s) {
  if (h) fake::kept(h)[0] = (int64_t)s;
  if (h) fake::kept(h)[1] = 0;
  return CUBLAS_STATUS_SUCCESS;
}

// The arithmetic that a product takes, and its memory.
static size_t width(cudaDataType t) {
  return t == CUDA_R_64F || t == CUDA_C_32F ? 8 : t == CUDA_R_16F || t == CUDA_R_16BF ? 2 : 4;
}
static cublasStatus_t product(cublasHandle_t h, double m, double n, double k, double count,
                              const void* a, const void* b, const void* c, cudaDataType t) {
  // Not told where to work it takes memory of its own (FAKECUDA_CUBLAS_OWN_WORKSPACE), once a
  // handle.
  const size_t own = fake::env_bytes("FAKECUDA_CUBLAS_OWN_WORKSPACE", 0);
  if (own && h && !fake::kept(h)[1] && !fake::kept(h)[2]) {
    fake::kept(h)[2] = 1;
    if (fakecuda_take(-1, own, "cublas's own workspace")) return CUBLAS_STATUS_ALLOC_FAILED;
  }
  fakecuda_work(fake::stream_of(h), a, b, c, 2 * m * n * k * count,
                (m * k + k * n + m * n) * count * double(width(t)));
  return CUBLAS_STATUS_SUCCESS;
}
#undef cublasGemmEx
#undef cublasGemmStridedBatchedEx
FAKE_EXPORT cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t,
                                                      cublasOperation_t, int m, int n, int k,
                                                      const void*, const void* a, cudaDataType t,
                                                      int, long long, const void* b, cudaDataType,
                                                      int, long long, const void*, void* c,
                                                      cudaDataType, int, long long, int count,
                                                      cublasComputeType_t, cublasGemmAlgo_t) {
  return product(h, m, n, k, count, a, b, c, t);
}
FAKE_EXPORT cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t, cublasOperation_t,
                                        int m, int n, int k, const void*, const void* a,
                                        cudaDataType t, int, const void* b, cudaDataType, int,
                                        const void*, void* c, cudaDataType, int,
                                        cublasComputeType_t, cublasGemmAlgo_t) {
  return product(h, m, n, k, 1, a, b, c, t);
}
#undef cublasSgemm
FAKE_EXPORT cublasStatus_t cublasSgemm_v2(cublasHandle_t h, cublasOperation_t, cublasOperation_t,
                                          int m, int n, int k, const float*, const float* a, int,
                                          const float* b, int, const float*, float* c, int) {
  return product(h, m, n, k, 1, a, b, c, CUDA_R_32F);
}
FAKE_EXPORT cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* v) {
  *v = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_EXPORT size_t cublasGetCudartVersion(void) { return CUDART_VERSION; }
FAKE_EXPORT const char* cublasGetStatusString(cublasStatus_t) { return "fakecuda cublas status"; }
FAKE_EXPORT const char* cublasGetStatusName(cublasStatus_t) { return "CUBLAS_STATUS_FAKE"; }
