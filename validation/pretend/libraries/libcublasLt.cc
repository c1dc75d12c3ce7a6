#include <cublasLt.h>
#include "validation/pretend/libraries/fake.h"

// A layout keeps its rows and columns: of the factors, the result's columns are the second's.
FAKE_EXPORT cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType,
                                                      uint64_t rows, uint64_t columns, int64_t) {
  *layout = (cublasLtMatrixLayout_t)fake::object();
  fake::kept(*layout)[0] = int64_t(rows);
  fake::kept(*layout)[1] = int64_t(columns);
  fake::kept(*layout)[2] = 1;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_EXPORT cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                            cublasLtMatrixLayoutAttribute_t key,
                                                            const void* value, size_t) {
  if (key == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) fake::kept(layout)[2] = *(const int32_t*)value;
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_EXPORT cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  free(layout);
  return CUBLAS_STATUS_SUCCESS;
}
FAKE_EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void*,
                                          const void* a, cublasLtMatrixLayout_t la, const void* b,
                                          cublasLtMatrixLayout_t lb, const void*, const void*,
                                          cublasLtMatrixLayout_t, void* d,
                                          cublasLtMatrixLayout_t ld, const cublasLtMatmulAlgo_t*,
                                          void*, size_t workspace, cudaStream_t stream) {
  // Whatever is turned, rows of the one times columns of the other are what both have in common.
  const double m = double(fake::kept(ld)[0]), n = double(fake::kept(ld)[1]);
  const double inner = double(fake::kept(la)[0]) * double(fake::kept(la)[1]) / (m > 0 ? m : 1);
  (void)lb;
  fakecuda_work(stream, a, b, d, 2 * m * n * inner * double(fake::kept(ld)[2]), 0);
  char text[64];
  __builtin_snprintf(text, sizeof text, "cublasLtMatmul %zu", workspace);
  fakecuda_note(text);
  return CUBLAS_STATUS_SUCCESS;
}

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
