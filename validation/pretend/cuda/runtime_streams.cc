#include "validation/pretend/cuda/core.h"

#include <sys/mman.h>
#include <new>

using namespace pretend;

// Handles are fixed and rise in the order of creation: PyTorch orders free
// blocks by stream handle first, so this makes runs repeat exactly.
static Stream* new_stream() {
  constexpr uint64_t kBase = 0x2f0000000000ull;
  constexpr size_t kStep = 4096, kMax = 4096;
  static char* arena = nullptr;
  static size_t used = 0;
  if (!arena) {
    void* m = mmap((void*)kBase, kStep * kMax, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    arena = m == MAP_FAILED ? nullptr : (char*)m;
  }
  static_assert(sizeof(Stream) <= kStep);
  if (!arena || used == kMax) return new Stream;
  return new (arena + kStep * used++) Stream;
}
EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned flags, int prio) {
  Lock l(st().mu);
  context(t_device);
  auto* q = new_stream();
  q->dev = t_device;
  q->flags = flags;
  q->priority = prio;
  q->id = st().next_stream++;
  st().streams.insert(q);
  *s = (cudaStream_t)q;
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned f) {
  return cudaStreamCreateWithPriority(s, f, 0);
}
EXPORT cudaError_t cudaStreamCreate(cudaStream_t* s) {
  return cudaStreamCreateWithPriority(s, 0, 0);
}
EXPORT cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}  // kept: events may point at it
EXPORT cudaError_t cudaStreamGetPriority(cudaStream_t s, int* p) {
  Lock l(st().mu);
  *p = as_stream(s)->priority;
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned* f) {
  Lock l(st().mu);
  *f = as_stream(s)->flags;
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamGetId(cudaStream_t s, unsigned long long* id) {
  Lock l(st().mu);
  *id = as_stream(s)->id;
  return cudaSuccess;
}
#if CUDART_VERSION >= 12080
EXPORT cudaError_t cudaStreamGetDevice(cudaStream_t s, int* d) {
  Lock l(st().mu);
  *d = as_stream(s)->dev;
  return cudaSuccess;
}
#endif
EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  Lock l(st().mu);
  if (lost()) return ret(cudaErrorLaunchFailure);
  Stream* q = as_stream(s);
  finish_stream(q, q->enqueued);
  if (cfg().log_sync) logf("sync_stream", q->dev, q->id, 0, 0, 0);
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamQuery(cudaStream_t s) {
  Lock l(st().mu);
  Stream* q = as_stream(s);
  return q->done >= q->enqueued ? cudaSuccess : cudaErrorNotReady;
}
EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
  Lock l(st().mu);
  Stream* q = as_stream(s);
  auto* v = (Event*)e;
  if (v && v->recorded && !complete(v)) {
    ++q->enqueued;
    q->waits.push_back({q->enqueued, {v->stream, v->ticket}});
  }
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void* u,
                                         unsigned) {
  f(s, cudaSuccess, u);
  return cudaSuccess;
}
EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t f, void* u) {
  f(u);
  return cudaSuccess;
}
EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* m) {
  static thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::swap(*m, mode);
  return cudaSuccess;
}
EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) {
  Lock l(st().mu);
  context(t_device);
  auto* v = new Event;
  st().events.insert(v);
  *e = (cudaEvent_t)v;
  return cudaSuccess;
}
EXPORT cudaError_t cudaEventCreate(cudaEvent_t* e) { return cudaEventCreateWithFlags(e, 0); }
EXPORT cudaError_t cudaEventDestroy(cudaEvent_t e) {
  Lock l(st().mu);
  if (st().events.erase((Event*)e)) delete (Event*)e;
  return cudaSuccess;
}
EXPORT cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  Lock l(st().mu);
  auto* v = (Event*)e;
  Stream* q = as_stream(s);
  enqueue(q);
  v->stream = q;
  v->ticket = q->enqueued;
  v->recorded = true;
  const bool has_rate = cfg().flops_per_s > 0 || cfg().bytes_per_s > 0 || cfg().launch_ns;
  v->ns = has_rate ? q->clock_ns : now_ns();
  return cudaSuccess;
}
EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned) {
  return cudaEventRecord(e, s);
}
EXPORT cudaError_t cudaEventQuery(cudaEvent_t e) {
  Lock l(st().mu);
  return complete((Event*)e) ? cudaSuccess : cudaErrorNotReady;
}
EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  Lock l(st().mu);
  if (lost()) return ret(cudaErrorLaunchFailure);
  auto* v = (Event*)e;
  if (v->recorded) finish_stream(v->stream, v->ticket);
  if (cfg().log_sync) logf("sync_event", t_device, v->stream ? v->stream->id : 0, 0, 0, 0);
  return cudaSuccess;
}
EXPORT cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b) {
  *ms = float(double(((Event*)b)->ns) - double(((Event*)a)->ns)) / 1e6f;
  return cudaSuccess;
}

EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) {
  Lock l(st().mu);
  Stream* q = as_stream(s);
  q->capturing = true;
  q->capture_id = st().next_capture++;
  q->graph = new Graph;
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* g) {
  Lock l(st().mu);
  Stream* q = as_stream(s);
  *g = (cudaGraph_t)q->graph;
  q->capturing = false;
  return cudaSuccess;
}
EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus* v) {
  Lock l(st().mu);
  *v = as_stream(s)->capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
static void capture_info(cudaStream_t s, cudaStreamCaptureStatus* v, unsigned long long* id,
                         cudaGraph_t* g) {
  Lock l(st().mu);
  Stream* q = as_stream(s);
  if (v) *v = q->capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  if (id) *id = q->capture_id;
  if (g) *g = (cudaGraph_t)(q->capturing ? q->graph : nullptr);
}
#if CUDART_VERSION >= 13000
EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, cudaStreamCaptureStatus* v,
                                            unsigned long long* id, cudaGraph_t* g,
                                            const cudaGraphNode_t** dep,
                                            const cudaGraphEdgeData** edge, size_t* n) {
  capture_info(s, v, id, g);
  if (dep) *dep = nullptr;
  if (edge) *edge = nullptr;
  if (n) *n = 0;
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t* x, cudaGraph_t g, unsigned long long) {
#else
#undef cudaStreamGetCaptureInfo
EXPORT cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t s, cudaStreamCaptureStatus* v,
                                               unsigned long long* id, cudaGraph_t* g,
                                               const cudaGraphNode_t** dep, size_t* n) {
  capture_info(s, v, id, g);
  if (dep) *dep = nullptr;
  if (n) *n = 0;
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t* x, cudaGraph_t g, unsigned long long) {
#endif
  auto* n = new GraphExec;
  if (g) n->g = *(Graph*)g;
  *x = (cudaGraphExec_t)n;
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* x, cudaGraph_t g,
                                                 unsigned long long f) {
  return cudaGraphInstantiate(x, g, f);
}
EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t s) {
  Lock l(st().mu);
  enqueue(as_stream(s));
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t*, size_t* n) {
  *n = g ? ((Graph*)g)->nodes : 0;
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphCreate(cudaGraph_t* g, unsigned) {
  *g = (cudaGraph_t) new Graph;
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t g) {
  delete (Graph*)g;
  return cudaSuccess;
}
EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x) {
  delete (GraphExec*)x;
  return cudaSuccess;
}
