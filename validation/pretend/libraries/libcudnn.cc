// cuDNN: the graph ("backend") API with one engine that always fits, and the
// older calls that hand back algorithms or sizes.  Nothing is computed.
#include <cudnn.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "validation/pretend/libraries/fake.h"

namespace {

struct Attr {
  cudnnBackendAttributeType_t type;
  int64_t count;
  std::vector<char> bytes;
};
struct Desc {
  cudnnBackendDescriptorType_t type;
  std::map<int, Attr> attrs;
  bool attention = false;
  double flops = 0;   // of a convolution: of the operation, its graph, its plans
  size_t engine = 0;  // of engines(): of a configuration and its plan
};

// What the heuristics answer: FAKECUDA_CUDNN_ENGINES=BYTES[:NOTES],..., the first put first. Of the
// notes, t says that it uses tensor cores, d that it rounds what it is given down.
struct Engine {
  size_t workspace;
  std::string notes;
};
std::vector<Engine> engines() {
  const char* text = getenv("FAKECUDA_CUDNN_ENGINES");
  if (!text || !*text) return {{fake::env_bytes("FAKECUDA_CUDNN_WORKSPACE", 0), ""}};
  std::vector<Engine> found;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t colon = word.find(':');
    found.push_back({strtoull(word.c_str(), nullptr, 0),
                     colon == std::string::npos ? "" : word.substr(colon + 1)});
  }
  return found;
}
std::vector<int> notes_of(const Desc* d) {
  std::vector<int> found;
  const std::vector<Engine> all = engines();
  for (char note : d->engine < all.size() ? all[d->engine].notes : std::string())
    found.push_back(note == 't' ? CUDNN_NUMERICAL_NOTE_TENSOR_CORE
                                : CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
  return found;
}

size_t width(cudnnBackendAttributeType_t t) {
  switch (t) {
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
      return 8;
    case CUDNN_TYPE_BOOLEAN:
      return sizeof(bool);
    case CUDNN_TYPE_CHAR:
      return 1;
    default:
      return 4;
  }
}

void put(Desc* d, int name, cudnnBackendAttributeType_t t, int64_t n, const void* p) {
  Attr a{t, n, std::vector<char>(size_t(n) * width(t))};
  if (n && p) memcpy(a.bytes.data(), p, a.bytes.size());
  d->attrs[name] = std::move(a);
}

size_t workspace(const Desc* d = nullptr) {
  if (d && d->attention) return fake::env_bytes("FAKECUDA_CUDNN_SDPA_WORKSPACE", 0);
  const std::vector<Engine> all = engines();
  return all[d && d->engine < all.size() ? d->engine : 0].workspace;
}

// descriptors that an attribute points to
std::vector<Desc*> linked(Desc* d, int name) {
  auto it = d->attrs.find(name);
  if (it == d->attrs.end() || it->second.type != CUDNN_TYPE_BACKEND_DESCRIPTOR) return {};
  std::vector<Desc*> v(it->second.bytes.size() / sizeof(Desc*));
  memcpy(v.data(), it->second.bytes.data(), v.size() * sizeof(Desc*));
  return v;
}

int64_t product_of(Desc* tensor, size_t from) {
  auto it = tensor->attrs.find(CUDNN_ATTR_TENSOR_DIMENSIONS);
  if (it == tensor->attrs.end()) return 0;
  const auto* sizes = (const int64_t*)it->second.bytes.data();
  int64_t all = 1;
  for (size_t i = from; i < it->second.bytes.size() / 8; ++i) all *= sizes[i];
  return all;
}

// Each element of the result (or its gradient) is a filter's worth of products.
double flops_of(Desc* operation) {
  constexpr int kParts[3][2] = {
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW}};
  for (const auto& [y, w] : kParts) {
    const auto result = linked(operation, y), filter = linked(operation, w);
    if (result.size() == 1 && filter.size() == 1 && result[0] && filter[0])
      return 2 * double(product_of(result[0], 0)) * double(product_of(filter[0], 1));
  }
  return 0;
}

// Attention reaches the backend as a graph with at least two matrix products.
// The mark goes from the graph to its plans, so that they can have a workspace of their own.
void mark(Desc* d) {
  int products = 0;
  if (d->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
    for (auto* op : linked(d, CUDNN_ATTR_OPERATIONGRAPH_OPS))
      products += op && op->type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR;
    d->attention = products > 1;
    for (auto* op : linked(d, CUDNN_ATTR_OPERATIONGRAPH_OPS)) d->flops += op ? flops_of(op) : 0;
  }
  for (int from : {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                   CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG})
    for (auto* o : linked(d, from)) {
      if (!o) continue;
      d->attention |= o->attention;
      d->flops = std::max(d->flops, o->flops);
      if (o->engine) d->engine = o->engine;
    }
}

}  // namespace

FAKE_EXPORT size_t cudnnGetVersion(void) {
  return fake::env_bytes("FAKECUDA_CUDNN_VERSION", CUDNN_VERSION);
}
FAKE_EXPORT size_t cudnnGetCudartVersion(void) { return CUDART_VERSION; }
FAKE_EXPORT const char* cudnnGetErrorString(cudnnStatus_t) { return "fakecuda cudnn status"; }
FAKE_EXPORT void cudnnGetLastErrorString(char* s, size_t n) {
  if (n) s[0] = 0;
}
FAKE_EXPORT cudnnStatus_t cudnnGetProperty(libraryPropertyType t, int* v) {
  size_t n = cudnnGetVersion();
  *v = int(t == MAJOR_VERSION ? n / 10000 : t == MINOR_VERSION ? n / 100 % 100 : n % 100);
  return CUDNN_STATUS_SUCCESS;
}
FAKE_EXPORT cudnnStatus_t cudnnCreate(cudnnHandle_t* h) {
  static bool first = true;
  size_t n = first ? fake::env_bytes("FAKECUDA_CUDNN_BYTES", 0) : 0;
  first = false;
  if (n && fakecuda_take(-1, n, "cudnn")) return CUDNN_STATUS_ALLOC_FAILED;
  *h = (cudnnHandle_t)fake::object();
  fakecuda_note("cudnnCreate");
  return CUDNN_STATUS_SUCCESS;
}

FAKE_EXPORT cudnnStatus_t cudnnSetStream(cudnnHandle_t h, cudaStream_t s) {
  if (h) fake::kept(h)[0] = (int64_t)s;
  return CUDNN_STATUS_SUCCESS;
}

// Descriptors keep how many elements there are, a filter's how many channels come out too.
static int64_t elements(int n, const int* sizes) {
  int64_t all = 1;
  for (int i = 0; i < n; ++i) all *= sizes[i];
  return all;
}
FAKE_EXPORT cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t d, cudnnDataType_t,
                                                     int n, const int* sizes, const int*) {
  fake::kept(d)[0] = elements(n, sizes);
  return CUDNN_STATUS_SUCCESS;
}
FAKE_EXPORT cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t d, cudnnDataType_t,
                                                     cudnnTensorFormat_t, int n, const int* sizes) {
  fake::kept(d)[0] = elements(n, sizes);
  fake::kept(d)[1] = sizes[0];
  return CUDNN_STATUS_SUCCESS;
}
// y: what comes out of the convolution forward, or its gradient.
static cudnnStatus_t convolve(cudnnHandle_t h, const void* y, const void* w, const void* a,
                              const void* b, const void* c) {
  const double each = double(fake::kept(w)[0]) / double(fake::kept(w)[1] ? fake::kept(w)[1] : 1);
  fakecuda_work(fake::stream_of(h), a, b, c, 2 * double(fake::kept(y)[0]) * each, 0);
  return CUDNN_STATUS_SUCCESS;
}
FAKE_EXPORT cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t h, const void*,
                                                  const cudnnTensorDescriptor_t, const void* x,
                                                  const cudnnFilterDescriptor_t wd, const void* w,
                                                  const cudnnConvolutionDescriptor_t,
                                                  cudnnConvolutionFwdAlgo_t, void*, size_t,
                                                  const void*, const cudnnTensorDescriptor_t yd,
                                                  void* y) {
  return convolve(h, yd, wd, x, w, y);
}
FAKE_EXPORT cudnnStatus_t
cudnnConvolutionBackwardData(cudnnHandle_t h, const void*, const cudnnFilterDescriptor_t wd,
                             const void* w, const cudnnTensorDescriptor_t yd, const void* y,
                             const cudnnConvolutionDescriptor_t, cudnnConvolutionBwdDataAlgo_t,
                             void*, size_t, const void*, const cudnnTensorDescriptor_t, void* x) {
  return convolve(h, yd, wd, w, y, x);
}
FAKE_EXPORT cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t h, const void*, const cudnnTensorDescriptor_t, const void* x,
    const cudnnTensorDescriptor_t yd, const void* y, const cudnnConvolutionDescriptor_t,
    cudnnConvolutionBwdFilterAlgo_t, void*, size_t, const void*, const cudnnFilterDescriptor_t wd,
    void* w) {
  return convolve(h, yd, wd, x, y, w);
}

FAKE_EXPORT cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t t,
                                                       cudnnBackendDescriptor_t* d) {
  *d = (cudnnBackendDescriptor_t) new Desc{t, {}, false, 0, 0};
  return CUDNN_STATUS_SUCCESS;
}
FAKE_EXPORT cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d) {
  delete (Desc*)d;
  return CUDNN_STATUS_SUCCESS;
}
FAKE_EXPORT cudnnStatus_t cudnnBackendInitialize(cudnnBackendDescriptor_t) {
  return CUDNN_STATUS_SUCCESS;
}
FAKE_EXPORT cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d) {
  mark((Desc*)d);
  return CUDNN_STATUS_SUCCESS;
}
FAKE_EXPORT cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d,
                                                   cudnnBackendAttributeName_t n,
                                                   cudnnBackendAttributeType_t t, int64_t count,
                                                   const void* p) {
  put((Desc*)d, int(n), t, count, p);
  return CUDNN_STATUS_SUCCESS;
}
FAKE_EXPORT cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t d_,
                                                   cudnnBackendAttributeName_t n,
                                                   cudnnBackendAttributeType_t t, int64_t asked,
                                                   int64_t* count, void* p) {
  auto* d = (Desc*)d_;
  int64_t dummy;
  if (!count) count = &dummy;
  *count = 0;
  switch (n) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:  // the caller made the descriptors
      *count = d->attention ? 1 : int64_t(engines().size());
      for (int64_t i = 0; p && i < std::min(asked, *count); ++i) {
        if (Desc* made = ((Desc**)p)[i]) {
          made->attention = d->attention;
          made->flops = d->flops;
          made->engine = size_t(i);
        }
      }
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE: {
      const std::vector<int> notes = notes_of(d);
      *count = int64_t(notes.size());
      if (p) memcpy(p, notes.data(), size_t(std::min(asked, *count)) * sizeof(int));
      return CUDNN_STATUS_SUCCESS;
    }
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      if (d->attrs.count(int(n))) break;
      *count = 1;
      if (p && asked && *(Desc**)p) {
        (*(Desc**)p)->attention = d->attention;
        (*(Desc**)p)->flops = d->flops;
        (*(Desc**)p)->engine = d->engine;
      }
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
      *count = 1;
      if (p && asked) *(int64_t*)p = 1;
      return CUDNN_STATUS_SUCCESS;
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
      *count = 1;
      if (p && asked) *(int64_t*)p = int64_t(workspace(d));
      return CUDNN_STATUS_SUCCESS;
#if CUDNN_VERSION >= 90200
    case CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED:  // the front end drops a plan whose answer it
                                                   // cannot read
      *count = 1;
      if (p && asked) *(int32_t*)p = 0;
      return CUDNN_STATUS_SUCCESS;
#endif
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
      if (d->attrs.count(int(n))) break;
      *count = 1;
      if (p && asked) *(int64_t*)p = 0;
      return CUDNN_STATUS_SUCCESS;
    default:
      break;
  }
  auto it = d->attrs.find(int(n));
  if (it == d->attrs.end()) return CUDNN_STATUS_SUCCESS;
  *count = it->second.count;
  if (p && asked)
    memcpy(p, it->second.bytes.data(),
           std::min<size_t>(it->second.bytes.size(), size_t(asked) * width(t)));
  return CUDNN_STATUS_SUCCESS;
}
FAKE_EXPORT cudnnStatus_t cudnnBackendExecute(cudnnHandle_t h, cudnnBackendDescriptor_t plan,
                                              cudnnBackendDescriptor_t pack) {
  auto& told = ((Desc*)pack)->attrs;
  const auto at = told.find(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  const double flops = ((Desc*)plan)->flops;
  if (flops > 0 && at != told.end() && at->second.count == 3) {
    auto* const* p = (void* const*)at->second.bytes.data();
    fakecuda_work(fake::stream_of(h), p[0], p[1], p[2], flops, 0);
  } else {
    fakecuda_enqueue(fake::stream_of(h));
  }
  return CUDNN_STATUS_SUCCESS;
}

template <class P>
static cudnnStatus_t one_algorithm(int asked, int* n, P* perf, int algo) {
  *n = asked > 0 ? 1 : 0;
  if (asked > 0) {
    memset(&perf[0], 0, sizeof perf[0]);
    perf[0].algo = decltype(perf[0].algo)(algo);
    perf[0].status = CUDNN_STATUS_SUCCESS;
    perf[0].memory = workspace();
    perf[0].determinism = CUDNN_DETERMINISTIC;
  }
  return CUDNN_STATUS_SUCCESS;
}
#define CONV(name, xd, wd, yd, P, algo)                                                           \
  FAKE_EXPORT cudnnStatus_t cudnnGetConvolution##name##Algorithm_v7(                              \
      cudnnHandle_t, const xd, const wd, const cudnnConvolutionDescriptor_t, const yd,            \
      const int asked, int* n, P* perf) {                                                         \
    return one_algorithm(asked, n, perf, algo);                                                   \
  }                                                                                               \
  FAKE_EXPORT cudnnStatus_t cudnnGetConvolution##name##AlgorithmMaxCount(cudnnHandle_t, int* n) { \
    *n = 1;                                                                                       \
    return CUDNN_STATUS_SUCCESS;                                                                  \
  }
CONV(Forward, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t,
     cudnnConvolutionFwdAlgoPerf_t, 1)
CONV(BackwardData, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
     cudnnConvolutionBwdDataAlgoPerf_t, 1)
CONV(BackwardFilter, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t,
     cudnnConvolutionBwdFilterAlgoPerf_t, 1)
FAKE_EXPORT cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const void*, const cudnnFilterDescriptor_t,
    const void*, const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t, void*,
    const int asked, int* n, cudnnConvolutionFwdAlgoPerf_t* perf, void*, size_t) {
  return one_algorithm(asked, n, perf, 1);
}
FAKE_EXPORT cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t, const cudnnFilterDescriptor_t, const void*, const cudnnTensorDescriptor_t,
    const void*, const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t, void*,
    const int asked, int* n, cudnnConvolutionBwdDataAlgoPerf_t* perf, void*, size_t) {
  return one_algorithm(asked, n, perf, 1);
}
FAKE_EXPORT cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const void*, const cudnnTensorDescriptor_t,
    const void*, const cudnnConvolutionDescriptor_t, const cudnnFilterDescriptor_t, void*,
    const int asked, int* n, cudnnConvolutionBwdFilterAlgoPerf_t* perf, void*, size_t) {
  return one_algorithm(asked, n, perf, 1);
}

#define SIZE(name, args)                \
  FAKE_EXPORT cudnnStatus_t name args { \
    *n = workspace();                   \
    return CUDNN_STATUS_SUCCESS;        \
  }
SIZE(cudnnGetConvolutionForwardWorkspaceSize,
     (cudnnHandle_t, const cudnnTensorDescriptor_t, const cudnnFilterDescriptor_t,
      const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t, cudnnConvolutionFwdAlgo_t,
      size_t* n))
SIZE(cudnnGetConvolutionBackwardDataWorkspaceSize,
     (cudnnHandle_t, const cudnnFilterDescriptor_t, const cudnnTensorDescriptor_t,
      const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t,
      cudnnConvolutionBwdDataAlgo_t, size_t* n))
SIZE(cudnnGetConvolutionBackwardFilterWorkspaceSize,
     (cudnnHandle_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
      const cudnnConvolutionDescriptor_t, const cudnnFilterDescriptor_t,
      cudnnConvolutionBwdFilterAlgo_t, size_t* n))
