#include <cublasLt.h>
#include "validation/pretend/libraries/fake.h"

// One algorithm, with the workspace that FAKECUDA_CUBLASLT_WORKSPACE says.
FAKE_EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int asked,
    cublasLtMatmulHeuristicResult_t results[], int* n) {
  *n = asked > 0 ? 1 : 0;
  if (asked > 0) {
    memset(&results[0], 0, sizeof results[0]);
    results[0].workspaceSize = fake::env_bytes("FAKECUDA_CUBLASLT_WORKSPACE", 0);
    results[0].state = CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_EXPORT size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }
FAKE_EXPORT size_t cublasLtGetCudartVersion(void) { return CUDART_VERSION; }
FAKE_EXPORT const char* cublasLtGetStatusString(cublasStatus_t) {
  return "fakecuda cublasLt status";
}
FAKE_EXPORT const char* cublasLtGetStatusName(cublasStatus_t) { return "CUBLAS_STATUS_FAKE"; }
