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
FAKE_EXPORT cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, size_t n) {
  char b[64];
  __builtin_snprintf(b, sizeof b, "cublasSetWorkspace %zu", n);
  fakecuda_note(b);
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_EXPORT cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* v) {
  *v = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_EXPORT size_t cublasGetCudartVersion(void) { return CUDART_VERSION; }
FAKE_EXPORT const char* cublasGetStatusString(cublasStatus_t) { return "fakecuda cublas status"; }
FAKE_EXPORT const char* cublasGetStatusName(cublasStatus_t) { return "CUBLAS_STATUS_FAKE"; }
