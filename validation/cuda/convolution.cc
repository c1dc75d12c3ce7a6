// Convolutions as PyTorch has cuDNN do them: a graph of one operation, the plans that the
// heuristics put first, those left out that it leaves out, and the first that can be made.
#include "validation/cuda/convolution.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>

#include "validation/cuda/open_library.h"

#if __has_include(<cudnn.h>)
#define HARNESS_HAS_CUDNN 1
#include <cudnn.h>
#endif

namespace harness {

#ifdef HARNESS_HAS_CUDNN

namespace {

struct Cudnn {
  cudnnHandle_t handle = nullptr;
#define HARNESS_CUDNN(NAME) decltype(&::NAME) NAME = nullptr;
#define HARNESS_CUDNN_CALLS(CALL)     \
  CALL(cudnnCreate)                   \
  CALL(cudnnSetStream)                \
  CALL(cudnnBackendCreateDescriptor)  \
  CALL(cudnnBackendDestroyDescriptor) \
  CALL(cudnnBackendFinalize)          \
  CALL(cudnnBackendSetAttribute)      \
  CALL(cudnnBackendGetAttribute)      \
  CALL(cudnnBackendExecute)
  HARNESS_CUDNN_CALLS(HARNESS_CUDNN)
#undef HARNESS_CUDNN

  Cudnn() {
    void* library = open_library({"libcudnn.so.9", "libcudnn.so.8"});
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

/// A descriptor of a graph's part, given back at the end, with those that it names.
class Part {
 public:
  explicit Part(cudnnBackendDescriptorType_t type) {
    good_ = ok(cudnn().cudnnBackendCreateDescriptor(type, &part_));
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() {
    if (part_ != nullptr) cudnn().cudnnBackendDestroyDescriptor(part_);
  }

  Part& set(cudnnBackendAttributeName_t key, cudnnBackendAttributeType_t type, std::size_t count,
            const void* values) {
    good_ = good_ &&
            ok(cudnn().cudnnBackendSetAttribute(part_, key, type, std::int64_t(count), values));
    return *this;
  }
  template <class T>
  Part& set(cudnnBackendAttributeName_t key, cudnnBackendAttributeType_t type, const T& value) {
    return set(key, type, 1, &value);
  }
  Part& set(cudnnBackendAttributeName_t key, const std::vector<std::int64_t>& values) {
    return set(key, CUDNN_TYPE_INT64, values.size(), values.data());
  }
  Part& set(cudnnBackendAttributeName_t key, std::shared_ptr<Part> other) {
    set(key, CUDNN_TYPE_BACKEND_DESCRIPTOR, other->part_);
    named_.push_back(std::move(other));
    return *this;
  }
  /// Whether all that was set was right.
  bool finish() {
    good_ = good_ && ok(cudnn().cudnnBackendFinalize(part_));
    return good_;
  }

  /// How many of them there are.
  [[nodiscard]] std::int64_t get(cudnnBackendAttributeName_t key, cudnnBackendAttributeType_t type,
                                 std::size_t most, void* values) const {
    std::int64_t count = 0;
    const bool found =
        ok(cudnn().cudnnBackendGetAttribute(part_, key, type, std::int64_t(most), &count, values));
    return found ? count : 0;
  }
  [[nodiscard]] cudnnBackendDescriptor_t raw() const { return part_; }

 private:
  static bool ok(cudnnStatus_t status) { return status == CUDNN_STATUS_SUCCESS; }
  cudnnBackendDescriptor_t part_ = nullptr;
  bool good_ = false;
  std::vector<std::shared_ptr<Part>> named_;
};

using PartPtr = std::shared_ptr<Part>;

bool type_of(const std::string& dtype, cudnnDataType_t& type) {
  if (dtype == "float32") type = CUDNN_DATA_FLOAT;
  if (dtype == "float16") type = CUDNN_DATA_HALF;
  if (dtype == "bfloat16") type = CUDNN_DATA_BFLOAT16;
  if (dtype == "float64") type = CUDNN_DATA_DOUBLE;
  return dtype == "float32" || dtype == "float16" || dtype == "bfloat16" || dtype == "float64";
}

/// "2,2" of a setting.
std::vector<std::int64_t> setting(const Kernel& kernel, const std::string& key) {
  std::vector<std::int64_t> values;
  const auto at = kernel.settings.find(key);
  std::istringstream words(at == kernel.settings.end() ? "" : at->second);
  for (std::string word; std::getline(words, word, ',');) values.push_back(std::stoll(word));
  return values;
}

/// The power of two that divides an address, 64 at most; 16 where it is not known.
std::int64_t alignment(const void* p) {
  if (p == nullptr) return 16;
  std::int64_t found = 64;
  while (reinterpret_cast<std::uintptr_t>(p) % std::uintptr_t(found) != 0) found /= 2;
  return found;
}

constexpr std::int64_t kX = 'x', kY = 'y', kW = 'w';

PartPtr tensor(const Operand& operand, std::int64_t id, const void* place) {
  cudnnDataType_t type{};
  if (!type_of(operand.dtype, type)) return nullptr;
  auto made = std::make_shared<Part>(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made->set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment(place))
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, operand.sizes)
      .set(CUDNN_ATTR_TENSOR_STRIDES, operand.strides);
  return made->finish() ? made : nullptr;
}

/// What an operation calls its parts.
struct Names {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t alpha, beta, how, x, w, y;
};
constexpr Names kForward{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
constexpr Names kInput{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
constexpr Names kWeight{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};

/// Picture, weight and result of a convolution, whatever of them is made of the others.
struct Three {
  const Names* names = nullptr;
  const Operand *x = nullptr, *w = nullptr, *y = nullptr;
  void *at_x = nullptr, *at_w = nullptr, *at_y = nullptr;
};

Three three_of(const Kernel& kernel, const std::vector<void*>& places) {
  const auto pass = kernel.settings.find("pass");
  const std::string which = pass == kernel.settings.end() ? "" : pass->second;
  const Operand *a = &kernel.inputs[0], *b = &kernel.inputs[1], *out = &kernel.outputs[0];
  if (which == "forward") return {&kForward, a, b, out, places[0], places[1], places[2]};
  if (which == "input") return {&kInput, out, b, a, places[2], places[1], places[0]};
  if (which == "weight") return {&kWeight, b, out, a, places[1], places[2], places[0]};
  return {};
}

PartPtr graph_of(const Kernel& kernel, const Three& three) {
  const std::vector<std::int64_t> stride = setting(kernel, "stride");
  const std::vector<std::int64_t> padding = setting(kernel, "padding");
  const std::vector<std::int64_t> dilation = setting(kernel, "dilation");
  cudnnDataType_t type{};
  if (!type_of(three.x->dtype, type) || padding.size() != stride.size() ||
      dilation.size() != stride.size() || three.x->sizes.size() != stride.size() + 2)
    return nullptr;
  const bool wide = type == CUDNN_DATA_DOUBLE;
  const cudnnDataType_t computed = wide ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  auto how = std::make_shared<Part>(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  how->set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, computed)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, mode)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, std::int64_t(stride.size()))
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, stride)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, dilation);
  const PartPtr x = tensor(*three.x, kX, three.at_x);
  const PartPtr w = tensor(*three.w, kW, three.at_w);
  const PartPtr y = tensor(*three.y, kY, three.at_y);
  if (!how->finish() || !x || !w || !y) return nullptr;
  const float one = 1, zero = 0;
  const double one_64 = 1, zero_64 = 0;
  const Names& n = *three.names;
  const cudnnBackendAttributeType_t scale = wide ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
  auto operation = std::make_shared<Part>(n.type);
  operation->set(n.x, x).set(n.w, w).set(n.y, y).set(n.how, how);
  operation->set(n.alpha, scale, 1, wide ? static_cast<const void*>(&one_64) : &one);
  operation->set(n.beta, scale, 1, wide ? static_cast<const void*>(&zero_64) : &zero);
  if (!operation->finish()) return nullptr;
  auto graph = std::make_shared<Part>(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph->set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation)
      .set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, cudnn().handle);
  return graph->finish() ? graph : nullptr;
}

/// Whether PyTorch leaves an engine out: one that rounds what it is given down, and where TF32 is
/// not allowed, for fp32, one that uses the tensor cores. Shown by PyTorch 2.11 on the pretend GPU.
bool is_left_out(const PartPtr& config, const Kernel& kernel) {
  const Part engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t raw = engine.raw();
  (void)config->get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &raw);
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  const std::int64_t count = engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                        notes.size(), notes.data());
  notes.resize(std::size_t(std::clamp<std::int64_t>(count, 0, std::int64_t(notes.size()))));
  const auto has = [&notes](cudnnBackendNumericalNote_t note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  };
  return has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) ||
         (kernel.precision == "fp32" && has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
}

struct EnginePlan {
  PartPtr plan;
  std::int64_t workspace = 0;
};

/// Plans of a graph in PyTorch's order: those of the heuristics, then those that always work.
std::vector<EnginePlan> plans_of(const PartPtr& graph, const Kernel& kernel) {
  std::vector<EnginePlan> plans;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_INSTANT, CUDNN_HEUR_MODE_FALLBACK}) {
    Part heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    if (!heuristics.finish()) continue;
    const std::int64_t count =
        heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
    std::vector<PartPtr> configs;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::int64_t i = 0; i < count; ++i) {
      configs.push_back(std::make_shared<Part>(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
      raw.push_back(configs.back()->raw());
    }
    const std::int64_t found = heuristics.get(
        CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, raw.size(), raw.data());
    configs.resize(std::size_t(std::clamp<std::int64_t>(found, 0, count)));
    for (const PartPtr& config : configs) {
      if (is_left_out(config, kernel)) continue;
      auto plan = std::make_shared<Part>(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan->set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config)
          .set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, cudnn().handle);
      if (!plan->finish()) continue;
      std::int64_t workspace = 0;
      (void)plan->get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &workspace);
      plans.push_back({plan, workspace});
    }
  }
  return plans;
}

bool execute(const EnginePlan& plan, const Three& three, const Workspace& workspace) {
  const std::int64_t ids[] = {kX, kW, kY};
  void* const data[] = {three.at_x, three.at_w, three.at_y};
  void* const work = plan.workspace == 0 ? nullptr : workspace.place;
  Part pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids)
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, data)
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, work);
  return pack.finish() && cudnn().cudnnBackendExecute(cudnn().handle, plan.plan->raw(),
                                                      pack.raw()) == CUDNN_STATUS_SUCCESS;
}

}  // namespace

bool has_cudnn() { return cudnn().handle != nullptr; }

Answer convolve(const Kernel& kernel, const std::vector<void*>& places, const Workspace& workspace,
                cudaStream_t stream) {
  if (!has_cudnn() || kernel.inputs.size() != 2 || kernel.outputs.size() != 1 ||
      places.size() != 3 || kernel.settings.count("transposed") > 0)
    return {};
  const Three three = three_of(kernel, places);
  if (three.names == nullptr) return {};
  cudnn().cudnnSetStream(cudnn().handle, stream);
  // As PyTorch, which keeps the plan of each shape and alignment.
  static std::map<std::string, std::vector<EnginePlan>> kept;
  std::ostringstream key;
  key << kernel.text << ' ' << alignment(three.at_x) << ' ' << alignment(three.at_w) << ' '
      << alignment(three.at_y);
  auto at = kept.find(key.str());
  if (at == kept.end()) {
    const PartPtr graph = graph_of(kernel, three);
    at = kept.emplace(key.str(), graph ? plans_of(graph, kernel) : std::vector<EnginePlan>{}).first;
  }
  if (at->second.empty()) return {};
  Answer told;
  told.workspace_bytes = at->second.front().workspace;
  if (three.at_x == nullptr || three.at_w == nullptr || three.at_y == nullptr) return told;
  for (const EnginePlan& plan : at->second) {
    if (plan.workspace > std::int64_t(workspace.bytes)) continue;
    told.ran = execute(plan, three, workspace);
    if (told.ran) break;
  }
  return told;
}

#else

bool has_cudnn() { return false; }
Answer convolve(const Kernel&, const std::vector<void*>&, const Workspace&, cudaStream_t) {
  return {};
}

#endif

}  // namespace harness
