#include "validation/cuda/convolution.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <sstream>

#if __has_include(<cudnn.h>)
#define HARNESS_HAS_CUDNN 1
#include <cudnn.h>
// The calls of cuDNN's first interface: what they ask for is what its heuristics answer by shape.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

namespace harness {

void* open_library(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  return nullptr;
}

#ifdef HARNESS_HAS_CUDNN

namespace {

struct Cudnn {
  cudnnHandle_t handle = nullptr;
#define HARNESS_CUDNN(NAME) decltype(&::NAME) NAME = nullptr;
#define HARNESS_CUDNN_CALLS(CALL)                     \
  CALL(cudnnCreate)                                   \
  CALL(cudnnSetStream)                                \
  CALL(cudnnCreateTensorDescriptor)                   \
  CALL(cudnnSetTensorNdDescriptor)                    \
  CALL(cudnnDestroyTensorDescriptor)                  \
  CALL(cudnnCreateFilterDescriptor)                   \
  CALL(cudnnSetFilterNdDescriptor)                    \
  CALL(cudnnDestroyFilterDescriptor)                  \
  CALL(cudnnCreateConvolutionDescriptor)              \
  CALL(cudnnSetConvolutionNdDescriptor)               \
  CALL(cudnnSetConvolutionGroupCount)                 \
  CALL(cudnnDestroyConvolutionDescriptor)             \
  CALL(cudnnGetConvolutionForwardAlgorithm_v7)        \
  CALL(cudnnGetConvolutionBackwardDataAlgorithm_v7)   \
  CALL(cudnnGetConvolutionBackwardFilterAlgorithm_v7) \
  CALL(cudnnConvolutionForward)                       \
  CALL(cudnnConvolutionBackwardData)                  \
  CALL(cudnnConvolutionBackwardFilter)
  HARNESS_CUDNN_CALLS(HARNESS_CUDNN)
#undef HARNESS_CUDNN

  Cudnn() {
    void* library = open_library({"libcudnn.so.9"});
    bool found = library != nullptr;
#define HARNESS_CUDNN(NAME)                                         \
  if (found) {                                                      \
    NAME = reinterpret_cast<decltype(NAME)>(dlsym(library, #NAME)); \
    found = NAME != nullptr;                                        \
  }
    HARNESS_CUDNN_CALLS(HARNESS_CUDNN)
#undef HARNESS_CUDNN
#undef HARNESS_CUDNN_CALLS
    if (!found || cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS) handle = nullptr;
  }
};

Cudnn& cudnn() {
  static Cudnn library;
  return library;
}

bool type_of(const std::string& dtype, cudnnDataType_t& type) {
  if (dtype == "float32") type = CUDNN_DATA_FLOAT;
  if (dtype == "float16") type = CUDNN_DATA_HALF;
  if (dtype == "bfloat16") type = CUDNN_DATA_BFLOAT16;
  if (dtype == "float64") type = CUDNN_DATA_DOUBLE;
  return dtype == "float32" || dtype == "float16" || dtype == "bfloat16" || dtype == "float64";
}

std::vector<int> ints(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

/// "2,2" of a setting.
std::vector<int> setting(const Kernel& kernel, const std::string& key) {
  std::vector<int> values;
  const auto at = kernel.settings.find(key);
  std::istringstream words(at == kernel.settings.end() ? "" : at->second);
  for (std::string word; std::getline(words, word, ',');) values.push_back(std::stoi(word));
  return values;
}

/// Descriptors of one convolution, given back at the end.
class Descriptors {
 public:
  Descriptors() = default;
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    for (cudnnTensorDescriptor_t each : {x, y}) {
      if (each != nullptr) cudnn().cudnnDestroyTensorDescriptor(each);
    }
    if (w != nullptr) cudnn().cudnnDestroyFilterDescriptor(w);
    if (how != nullptr) cudnn().cudnnDestroyConvolutionDescriptor(how);
  }

  bool make(const Kernel& kernel, const Operand& input, const Operand& weight,
            const Operand& output) {
    const std::vector<int> stride = setting(kernel, "stride");
    const std::vector<int> padding = setting(kernel, "padding");
    const std::vector<int> dilation = setting(kernel, "dilation");
    const std::vector<int> groups = setting(kernel, "groups");
    cudnnDataType_t type{};
    if (!type_of(input.dtype, type) || input.sizes.size() != stride.size() + 2 ||
        padding.size() != stride.size() || dilation.size() != stride.size() || groups.size() != 1 ||
        weight.sizes.size() != input.sizes.size() || output.sizes.size() != input.sizes.size())
      return false;
    // Channels last: the filter's second dimension lies densest.
    const bool last = weight.strides[1] == 1 && weight.sizes[1] > 1;
    const std::vector<int> dims = ints(weight.sizes);
    return tensor(&x, type, input) && tensor(&y, type, output) &&
           ok(cudnn().cudnnCreateFilterDescriptor(&w)) &&
           ok(cudnn().cudnnSetFilterNdDescriptor(w, type,
                                                 last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                                                 int(dims.size()), dims.data())) &&
           ok(cudnn().cudnnCreateConvolutionDescriptor(&how)) &&
           ok(cudnn().cudnnSetConvolutionNdDescriptor(
               how, int(stride.size()), padding.data(), stride.data(), dilation.data(),
               CUDNN_CROSS_CORRELATION,
               type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT)) &&
           ok(cudnn().cudnnSetConvolutionGroupCount(how, groups[0]));
  }

  static bool ok(cudnnStatus_t status) { return status == CUDNN_STATUS_SUCCESS; }

  cudnnTensorDescriptor_t x = nullptr;
  cudnnTensorDescriptor_t y = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t how = nullptr;

 private:
  static bool tensor(cudnnTensorDescriptor_t* made, cudnnDataType_t type, const Operand& operand) {
    const std::vector<int> dims = ints(operand.sizes);
    const std::vector<int> strides = ints(operand.strides);
    return ok(cudnn().cudnnCreateTensorDescriptor(made)) &&
           ok(cudnn().cudnnSetTensorNdDescriptor(*made, type, int(dims.size()), dims.data(),
                                                 strides.data()));
  }
};

constexpr int kAnswers = 8;

/// Asks for algorithms, then runs the first that needs no workspace.
template <class Perf, class Ask, class Run>
Answer answer(bool has_places, const Ask& ask, const Run& run) {
  std::array<Perf, kAnswers> found{};
  int count = 0;
  if (!Descriptors::ok(ask(&count, found.data()))) return {};
  Answer told;
  for (int i = 0; i < count; ++i) {
    const Perf& each = found[std::size_t(i)];
    if (each.status != CUDNN_STATUS_SUCCESS) continue;
    if (told.workspace_bytes < 0) told.workspace_bytes = std::int64_t(each.memory);
    if (!told.ran && has_places && each.memory == 0) told.ran = Descriptors::ok(run(each.algo));
  }
  return told;
}

}  // namespace

bool has_cudnn() { return cudnn().handle != nullptr; }

Answer convolve(const Kernel& kernel, const std::vector<void*>& places, cudaStream_t stream) {
  if (!has_cudnn() || kernel.inputs.size() != 2 || kernel.outputs.size() != 1 ||
      kernel.settings.count("transposed") > 0)
    return {};
  const bool has_places =
      places.size() == 3 && std::count(places.begin(), places.end(), nullptr) == 0;
  void* const first = has_places ? places[0] : nullptr;
  void* const second = has_places ? places[1] : nullptr;
  void* const made = has_places ? places[2] : nullptr;
  const Operand& a = kernel.inputs[0];
  const Operand& b = kernel.inputs[1];
  const Operand& out = kernel.outputs[0];
  const auto pass = kernel.settings.find("pass");
  const std::string which = pass == kernel.settings.end() ? "" : pass->second;
  const float one = 1;
  const float zero = 0;
  const double one_64 = 1;
  const double zero_64 = 0;
  const bool wide = out.dtype == "float64";
  const void* const alpha = wide ? static_cast<const void*>(&one_64) : &one;
  const void* const beta = wide ? static_cast<const void*>(&zero_64) : &zero;
  Cudnn& c = cudnn();
  cudnnHandle_t handle = c.handle;
  c.cudnnSetStream(handle, stream);
  Descriptors d;
  if (which == "forward") {  // input, weight -> output
    if (!d.make(kernel, a, b, out)) return {};
    return answer<cudnnConvolutionFwdAlgoPerf_t>(
        has_places,
        [&](int* count, cudnnConvolutionFwdAlgoPerf_t* found) {
          return c.cudnnGetConvolutionForwardAlgorithm_v7(handle, d.x, d.w, d.how, d.y, kAnswers,
                                                          count, found);
        },
        [&](cudnnConvolutionFwdAlgo_t algo) {
          return c.cudnnConvolutionForward(handle, alpha, d.x, first, d.w, second, d.how, algo,
                                           nullptr, 0, beta, d.y, made);
        });
  }
  if (which == "input") {  // gradient, weight -> the input's gradient
    if (!d.make(kernel, out, b, a)) return {};
    return answer<cudnnConvolutionBwdDataAlgoPerf_t>(
        has_places,
        [&](int* count, cudnnConvolutionBwdDataAlgoPerf_t* found) {
          return c.cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, d.w, d.y, d.how, d.x,
                                                               kAnswers, count, found);
        },
        [&](cudnnConvolutionBwdDataAlgo_t algo) {
          return c.cudnnConvolutionBackwardData(handle, alpha, d.w, second, d.y, first, d.how, algo,
                                                nullptr, 0, beta, d.x, made);
        });
  }
  if (which == "weight") {  // gradient, input -> the weight's gradient
    if (!d.make(kernel, b, out, a)) return {};
    return answer<cudnnConvolutionBwdFilterAlgoPerf_t>(
        has_places,
        [&](int* count, cudnnConvolutionBwdFilterAlgoPerf_t* found) {
          return c.cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, d.x, d.y, d.how, d.w,
                                                                 kAnswers, count, found);
        },
        [&](cudnnConvolutionBwdFilterAlgo_t algo) {
          return c.cudnnConvolutionBackwardFilter(handle, alpha, d.x, second, d.y, first, d.how,
                                                  algo, nullptr, 0, beta, d.w, made);
        });
  }
  return {};
}

#else

bool has_cudnn() { return false; }
Answer convolve(const Kernel&, const std::vector<void*>&, cudaStream_t) { return {}; }

#endif

}  // namespace harness
