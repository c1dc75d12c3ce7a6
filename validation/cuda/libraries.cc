#include "validation/cuda/libraries.h"

#include <cublas_v2.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>

#include "validation/cuda/convolution.h"
#include "validation/cuda/device.h"
#include "validation/cuda/open_library.h"
#include "validation/cuda/products.h"

namespace harness {

namespace {

/// The header has templates and functions of these names; these are the library's.
struct Cublas {
  using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, const void*, const void*, cudaDataType, int, long long,
                                  const void*, cudaDataType, int, long long, const void*, void*,
                                  cudaDataType, int, long long, int, cublasComputeType_t,
                                  cublasGemmAlgo_t);
  Gemm gemm = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
  cublasHandle_t handle = nullptr;

  Cublas() {
    void* library = open_library({"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"});
    if (library == nullptr) return;
    const auto create =
        reinterpret_cast<decltype(&cublasCreate_v2)>(dlsym(library, "cublasCreate_v2"));
    gemm = reinterpret_cast<Gemm>(dlsym(library, "cublasGemmStridedBatchedEx"));
    set_stream =
        reinterpret_cast<decltype(&cublasSetStream_v2)>(dlsym(library, "cublasSetStream_v2"));
    set_workspace =
        reinterpret_cast<decltype(&cublasSetWorkspace_v2)>(dlsym(library, "cublasSetWorkspace_v2"));
    if (create == nullptr || set_stream == nullptr || set_workspace == nullptr ||
        create(&handle) != CUBLAS_STATUS_SUCCESS)
      gemm = nullptr;
  }
};

Cublas& cublas() {
  static Cublas library;
  return library;
}

struct Type {
  cudaDataType data;
  cublasComputeType_t compute;
};

/// False: cuBLAS's products are not of that type.
bool type_of(const std::string& dtype, Type& type) {
  if (dtype == "float32") type = {CUDA_R_32F, CUBLAS_COMPUTE_32F};
  if (dtype == "float16") type = {CUDA_R_16F, CUBLAS_COMPUTE_32F};
  if (dtype == "bfloat16") type = {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
  if (dtype == "float64") type = {CUDA_R_64F, CUBLAS_COMPUTE_64F};
  return dtype == "float32" || dtype == "float16" || dtype == "bfloat16" || dtype == "float64";
}

/// 1 and 0 in the type that a product is summed up and scaled in.
struct Scales {
  float whole[2] = {1, 0};
  double wide[2] = {1, 0};
  std::uint16_t half[2] = {0x3c00, 0};
  [[nodiscard]] const void* of(cublasComputeType_t how, int which) const {
    if (how == CUBLAS_COMPUTE_64F) return &wide[which];
    if (how == CUBLAS_COMPUTE_16F) return &half[which];
    return &whole[which];
  }
};

cublasOperation_t op_of(const Matrix& m) { return m.turned ? CUBLAS_OP_T : CUBLAS_OP_N; }

/// out = a b. Column by column a matrix is its own transpose: the factors change places.
bool product(const Kernel& kernel, const std::vector<void*>& places, const Workspace& workspace,
             cudaStream_t stream) {
  Type type{};
  Matrix a;
  Matrix b;
  Matrix out;
  if (cublas().gemm == nullptr || kernel.inputs.size() != 2 || kernel.outputs.size() != 1 ||
      std::count(places.begin(), places.end(), nullptr) > 0)
    return false;
  const Operand& result = kernel.outputs[0];
  if (!type_of(result.dtype, type) || !matrix_of(kernel.inputs[0], a) ||
      !matrix_of(kernel.inputs[1], b) || !matrix_of(result, out) || out.turned)
    return false;
  const std::size_t n = result.sizes.size();
  if (kernel.inputs[0].sizes.size() != n || kernel.inputs[1].sizes.size() != n) return false;
  if (kernel.precision == "tf32") type.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  if (kernel.precision == "fp16_accumulated") type.compute = CUBLAS_COMPUTE_16F;
  const Scales scales;
  cublas().set_stream(cublas().handle, stream);  // which forgets the workspace
  cublas().set_workspace(cublas().handle, workspace.place, workspace.bytes);
  return cublas().gemm(cublas().handle, op_of(b), op_of(a), int(result.sizes[n - 1]),
                       int(result.sizes[n - 2]), int(kernel.inputs[0].sizes[n - 1]),
                       scales.of(type.compute, 0), places[1], type.data, int(b.ld), b.step,
                       places[0], type.data, int(a.ld), a.step, scales.of(type.compute, 1),
                       places[2], type.data, int(out.ld), out.step,
                       n == 3 ? int(result.sizes[0]) : 1, type.compute,
                       CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
}

std::uint64_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

/// What `make` takes; -1: it fails.
std::int64_t taken_by(const std::function<bool()>& make) {
  const std::uint64_t before = free_bytes();
  if (!make()) return -1;
  const std::uint64_t after = free_bytes();
  return before > after ? std::int64_t(before - after) : 0;
}

}  // namespace

bool has_cublas() { return cublas().gemm != nullptr; }

std::int64_t cublas_bytes() { return taken_by(has_cublas); }
std::int64_t cudnn_bytes() { return taken_by(has_cudnn); }

std::int64_t nccl_bytes() {
  void* library = open_library({"libnccl.so.2"});
  // ncclCommInitAll(ncclComm_t*, int, const int*): 0 is success.
  const auto make =
      library == nullptr
          ? nullptr
          : reinterpret_cast<int (*)(void**, int, const int*)>(dlsym(library, "ncclCommInitAll"));
  if (make == nullptr) return -1;
  void* communicator = nullptr;
  const int device = 0;
  return taken_by([&] { return make(&communicator, 1, &device) == 0; });
}

bool matrix_of(const Operand& operand, Matrix& matrix) {
  const std::size_t n = operand.sizes.size();
  if (n != 2 && n != 3) return false;
  const std::int64_t rows = operand.sizes[n - 2];
  const std::int64_t columns = operand.sizes[n - 1];
  const std::int64_t down = operand.strides[n - 2];
  const std::int64_t across = operand.strides[n - 1];
  matrix.step = n == 3 ? operand.strides[0] : 0;
  matrix.turned = !(across == 1 && down >= std::max<std::int64_t>(1, columns));
  matrix.ld = matrix.turned ? across : down;
  return !matrix.turned || (down == 1 && across >= std::max<std::int64_t>(1, rows));
}

std::uint64_t square_product(const std::string& precision, std::uint64_t flops, void* p,
                             std::uint64_t span, cudaStream_t stream) {
  if (cublas().gemm == nullptr) return 0;
  const bool half = precision == "fp16" || precision == "bf16";
  const std::uint64_t width = half ? 2 : 4;
  const auto fits = std::uint64_t(std::sqrt(double(span / 3 / width)));
  std::uint64_t n = std::min(std::uint64_t(std::cbrt(double(flops) / 2.0)), fits);
  n = n / 8 * 8;
  if (n == 0) return 0;
  const cudaDataType_t type = !half ? CUDA_R_32F : precision == "fp16" ? CUDA_R_16F : CUDA_R_16BF;
  const cublasComputeType_t how =
      precision == "tf32" ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  const float one = 1.0f;
  const float zero = 0.0f;
  char* base = static_cast<char*>(p);
  const int side = int(n);
  cublas().set_stream(cublas().handle, stream);
  const std::uint64_t each = 2 * n * n * n;
  const std::uint64_t often = std::max<std::uint64_t>(1, (flops + each / 2) / each);
  for (std::uint64_t i = 0; i < often; ++i) {
    if (cublas().gemm(cublas().handle, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, base, type,
                      side, 0, base + n * n * width, type, side, 0, &zero, base + 2 * n * n * width,
                      type, side, 0, 1, how, CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS)
      return 0;
  }
  return often * each;
}

bool is_by_lt(const Kernel& kernel) {
  const auto by = kernel.settings.find("by");
  return by != kernel.settings.end() && by->second == "cublaslt";
}

Answer run_by_library(const Kernel& kernel, const std::vector<void*>& places,
                      const Workspace& workspace, cudaStream_t stream) {
  if (places.size() != kernel.inputs.size() + kernel.outputs.size()) return {};
  if (kernel.kind == "convolution") return convolve(kernel, places, workspace, stream);
  if (kernel.kind != "matmul") return {};
  return {is_by_lt(kernel) ? product_lt(kernel, places, workspace, stream)
                           : product(kernel, places, workspace, stream),
          -1};
}

}  // namespace harness
