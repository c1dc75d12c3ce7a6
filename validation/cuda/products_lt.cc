// Products by cuBLASLt, as PyTorch's addmm has them: the bias added in the product's epilogue, the
// algorithm that the heuristics put first for the memory and the alignments at hand.
#include <cublasLt.h>
#include <dlfcn.h>

#include <algorithm>

#include "validation/cuda/open_library.h"
#include "validation/cuda/products.h"

namespace harness {

namespace {

struct Lt {
  cublasLtHandle_t handle = nullptr;
#define HARNESS_LT(NAME) decltype(&::NAME) NAME = nullptr;
#define HARNESS_LT_CALLS(CALL)               \
  CALL(cublasLtCreate)                       \
  CALL(cublasLtMatmulDescCreate)             \
  CALL(cublasLtMatmulDescSetAttribute)       \
  CALL(cublasLtMatmulDescDestroy)            \
  CALL(cublasLtMatrixLayoutCreate)           \
  CALL(cublasLtMatrixLayoutDestroy)          \
  CALL(cublasLtMatmulPreferenceCreate)       \
  CALL(cublasLtMatmulPreferenceSetAttribute) \
  CALL(cublasLtMatmulPreferenceDestroy)      \
  CALL(cublasLtMatmulAlgoGetHeuristic)       \
  CALL(cublasLtMatmul)
  HARNESS_LT_CALLS(HARNESS_LT)
#undef HARNESS_LT

  Lt() {
    void* library = open_library({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"});
    bool found = library != nullptr;
#define HARNESS_LT(NAME)                                            \
  if (found) {                                                      \
    NAME = reinterpret_cast<decltype(NAME)>(dlsym(library, #NAME)); \
    found = NAME != nullptr;                                        \
  }
    HARNESS_LT_CALLS(HARNESS_LT)
#undef HARNESS_LT
#undef HARNESS_LT_CALLS
    if (!found || cublasLtCreate(&handle) != CUBLAS_STATUS_SUCCESS) handle = nullptr;
  }
};

Lt& lt() {
  static Lt library;
  return library;
}

bool ok(cublasStatus_t status) { return status == CUBLAS_STATUS_SUCCESS; }

/// As PyTorch tells it: the power of two that divides the address, 256 at most.
std::uint32_t alignment(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  std::uint32_t found = 256;
  while (address % found != 0) found /= 2;
  return found;
}

/// What one product is told by, given back at the end.
class Descriptors {
 public:
  Descriptors() = default;
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    for (cublasLtMatrixLayout_t each : {a, b, c, d}) {
      if (each != nullptr) lt().cublasLtMatrixLayoutDestroy(each);
    }
    if (how != nullptr) lt().cublasLtMatmulDescDestroy(how);
    if (preference != nullptr) lt().cublasLtMatmulPreferenceDestroy(preference);
  }

  template <class T>
  bool set(cublasLtMatmulDescAttributes_t key, const T& value) {
    return ok(lt().cublasLtMatmulDescSetAttribute(how, key, &value, sizeof value));
  }
  template <class T>
  bool prefer(cublasLtMatmulPreferenceAttributes_t key, const T& value) {
    return ok(lt().cublasLtMatmulPreferenceSetAttribute(preference, key, &value, sizeof value));
  }
  /// As it lies column by column: `rows` and `columns` are those of its transpose.
  static bool layout(cublasLtMatrixLayout_t* made, cudaDataType_t type, const Operand& operand,
                     const Matrix& m) {
    const auto rows = std::uint64_t(operand.sizes[m.turned ? 0 : 1]);
    const auto columns = std::uint64_t(operand.sizes[m.turned ? 1 : 0]);
    return ok(lt().cublasLtMatrixLayoutCreate(made, type, rows, columns, m.ld));
  }

  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  cublasLtMatmulDesc_t how = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
};

}  // namespace

bool product_lt(const Kernel& kernel, const std::vector<void*>& places, const Workspace& workspace,
                cudaStream_t stream) {
  if (lt().handle == nullptr || kernel.inputs.size() != 3 || kernel.outputs.size() != 1 ||
      std::count(places.begin(), places.end(), nullptr) > 0)
    return false;
  const Operand& result = kernel.outputs[0];
  const Operand& added = kernel.inputs[2];
  const bool wide = result.dtype == "float64";
  cudaDataType_t type = wide ? CUDA_R_64F : CUDA_R_32F;
  if (result.dtype == "float16") type = CUDA_R_16F;
  if (result.dtype == "bfloat16") type = CUDA_R_16BF;
  Matrix a, b, out, beside;
  if (result.sizes.size() != 2 || kernel.inputs[0].sizes.size() != 2 ||
      kernel.inputs[1].sizes.size() != 2 || !matrix_of(kernel.inputs[0], a) ||
      !matrix_of(kernel.inputs[1], b) || !matrix_of(result, out) || out.turned)
    return false;
  // A whole matrix is what the product begins with; one row is a bias.
  const bool is_matrix = added.sizes == result.sizes && result.sizes[0] > 1;
  if (is_matrix && (!matrix_of(added, beside) || beside.turned)) return false;
  cublasComputeType_t how = wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  if (kernel.precision == "tf32") how = CUBLAS_COMPUTE_32F_FAST_TF32;
  const int op_a = b.turned ? CUBLAS_OP_T : CUBLAS_OP_N;  // the factors change places
  const int op_b = a.turned ? CUBLAS_OP_T : CUBLAS_OP_N;
  void* const bias = places[2];
  void* const begins = is_matrix ? places[2] : places[3];
  Lt& l = lt();
  Descriptors d;
  if (!ok(l.cublasLtMatmulDescCreate(&d.how, how, wide ? CUDA_R_64F : CUDA_R_32F)) ||
      !d.set(CUBLASLT_MATMUL_DESC_TRANSA, op_a) || !d.set(CUBLASLT_MATMUL_DESC_TRANSB, op_b) ||
      !Descriptors::layout(&d.a, type, kernel.inputs[1], b) ||
      !Descriptors::layout(&d.b, type, kernel.inputs[0], a) ||
      !Descriptors::layout(&d.c, type, result, is_matrix ? beside : out) ||
      !Descriptors::layout(&d.d, type, result, out) ||
      !ok(l.cublasLtMatmulPreferenceCreate(&d.preference)))
    return false;
  if (!is_matrix && (!d.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS) ||
                     !d.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias)))
    return false;
  const bool preferred =
      d.prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::size_t(workspace.bytes)) &&
      d.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(places[1])) &&
      d.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(places[0])) &&
      d.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(begins)) &&
      d.prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(places[3]));
  cublasLtMatmulHeuristicResult_t best{};
  int count = 0;
  if (!preferred ||
      !ok(l.cublasLtMatmulAlgoGetHeuristic(l.handle, d.how, d.a, d.b, d.c, d.d, d.preference, 1,
                                           &best, &count)) ||
      count == 0)
    return false;
  const float ones[2] = {1, is_matrix ? 1.0F : 0.0F};
  const double wide_ones[2] = {1, is_matrix ? 1.0 : 0.0};
  const void* alpha = wide ? static_cast<const void*>(&wide_ones[0]) : &ones[0];
  const void* beta = wide ? static_cast<const void*>(&wide_ones[1]) : &ones[1];
  return ok(l.cublasLtMatmul(l.handle, d.how, alpha, places[1], d.a, places[0], d.b, beta, begins,
                             d.c, places[3], d.d, &best.algo, workspace.place, workspace.bytes,
                             stream));
}

}  // namespace harness
