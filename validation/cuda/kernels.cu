#include <cublas_v2.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>

#include "validation/cuda/kernels.h"

namespace harness {

namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 4096;

/// Reads and writes 16 bytes a thread and turn, over and over the span.
__global__ void move_bytes(float4* p, std::uint64_t span, std::uint64_t turns) {
  const std::uint64_t threads = std::uint64_t(gridDim.x) * blockDim.x;
  const std::uint64_t first = std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::uint64_t i = first; i < turns; i += threads) {
    float4 v = p[i % span];
    v.x += 1.0f;
    p[i % span] = v;
  }
}

__global__ void compute(float* out, std::uint64_t turns) {
  float a = float(threadIdx.x);
  float b = 1.0f;
  for (std::uint64_t i = 0; i < turns; ++i) {
    a = fmaf(a, 1.000001f, b);
    b = fmaf(b, 0.999999f, a);
  }
  if (a == 12345.0f && out != nullptr) *out = a + b;  // never: keeps the loop
}

__global__ void nothing() {}

/// cuBLAS, opened when it is there: the harness links no library that a box may lack.
struct Cublas {
  // The header has a template and a function of this name; this is the library's.
  using Gemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, const void*, const void*, cudaDataType, int, const void*,
                                  cudaDataType, int, const void*, void*, cudaDataType, int,
                                  cublasComputeType_t, cublasGemmAlgo_t);
  Gemm gemm = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  cublasHandle_t handle = nullptr;

  Cublas() {
    void* library = nullptr;
    for (const char* name : {"libcublas.so.13", "libcublas.so.12"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    }
    if (library == nullptr) return;
    const auto create =
        reinterpret_cast<decltype(&cublasCreate_v2)>(dlsym(library, "cublasCreate_v2"));
    gemm = reinterpret_cast<Gemm>(dlsym(library, "cublasGemmEx"));
    set_stream =
        reinterpret_cast<decltype(&cublasSetStream_v2)>(dlsym(library, "cublasSetStream_v2"));
    if (create == nullptr || set_stream == nullptr || create(&handle) != CUBLAS_STATUS_SUCCESS)
      gemm = nullptr;
  }
};

Cublas& cublas() {
  static Cublas library;
  return library;
}

/// A square product of about so many operations, within the memory given.
bool multiply(const std::string& precision, std::uint64_t flops, void* p, std::uint64_t span,
              cudaStream_t stream) {
  if (cublas().gemm == nullptr) return false;
  const bool half = precision == "fp16" || precision == "bf16";
  const std::uint64_t width = half ? 2 : 4;
  const auto fits = std::uint64_t(std::sqrt(double(span / 3 / width)));
  std::uint64_t n = std::min(std::uint64_t(std::cbrt(double(flops) / 2.0)), fits);
  n = n / 8 * 8;
  if (n == 0) return false;
  const cudaDataType_t type = !half ? CUDA_R_32F : precision == "fp16" ? CUDA_R_16F : CUDA_R_16BF;
  const cublasComputeType_t how =
      precision == "tf32" ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  const float one = 1.0f;
  const float zero = 0.0f;
  char* base = static_cast<char*>(p);
  const int side = int(n);
  cublas().set_stream(cublas().handle, stream);
  // As often as it takes for the work asked for.
  const std::uint64_t each = 2 * n * n * n;
  for (std::uint64_t done = 0; done < flops; done += each) {
    if (cublas().gemm(cublas().handle, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, &one, base, type,
                      side, base + n * n * width, type, side, &zero, base + 2 * n * n * width, type,
                      side, how, CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS)
      return false;
  }
  return true;
}

}  // namespace

cudaError_t empty_kernel() {
  nothing<<<1, 1>>>();
  return cudaGetLastError();
}

bool has_cublas() { return cublas().gemm != nullptr; }

cudaError_t work(const std::string& kind, const std::string& precision, std::uint64_t flops,
                 std::uint64_t bytes, void* p, std::uint64_t span, cudaStream_t stream) {
  if (kind == "matmul" && p != nullptr && multiply(precision, flops, p, span, stream))
    return cudaGetLastError();
  const std::uint64_t turns = bytes / (2 * sizeof(float4));
  if (p != nullptr && span >= sizeof(float4) && turns > 0) {
    const auto blocks = unsigned(std::min<std::uint64_t>(kBlocks, turns / kThreads + 1));
    move_bytes<<<blocks, kThreads, 0, stream>>>(static_cast<float4*>(p), span / sizeof(float4),
                                                turns);
  }
  const std::uint64_t a_thread = flops / 4 / (std::uint64_t(kBlocks) * kThreads);
  if (kind != "elementwise" && a_thread > 0)
    compute<<<kBlocks, kThreads, 0, stream>>>(nullptr, a_thread);
  return cudaGetLastError();
}

}  // namespace harness
