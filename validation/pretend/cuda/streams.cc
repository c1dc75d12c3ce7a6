#include "validation/pretend/cuda/core.h"

#include <string.h>

namespace pretend {

void finish_device(int d) {
  State& S = st();
  finish_stream(&S.dev[d]->null_stream, S.dev[d]->null_stream.enqueued);
  for (Stream* s : S.streams)
    if (s->dev == d) finish_stream(s, s->enqueued);
}

Stream* as_stream(cudaStream_t s) {
  uint64_t v = (uint64_t)s;
  if (v <= 2) {
    context(t_device);
    return &st().dev[t_device]->null_stream;
  }
  return (Stream*)s;
}

void finish_stream(Stream* s, uint64_t upto) {
  if (s->done >= upto) return;
  s->done = upto;
  auto w = std::move(s->waits);
  s->waits.clear();
  for (auto& x : w) {
    if (x.first <= upto)
      finish_stream(x.second.first, x.second.second);
    else
      s->waits.push_back(x);
  }
}

void enqueue(Stream* s) {
  if (s->capturing) {
    s->graph->nodes++;
    return;
  }
  ++s->enqueued;
  if (cfg().events == EventMode::Ready) s->done = s->enqueued;
  if (cfg().events == EventMode::Lag && s->enqueued > cfg().lag)
    finish_stream(s, s->enqueued - cfg().lag);
}

bool complete(const Event* e) { return !e->recorded || e->stream->done >= e->ticket; }

void do_copy(void* dst, const void* src, size_t n) {
  if (!n) return;
  bool ddst = in_device(dst), dsrc = in_device(src);
  if (ddst && (n > cfg().copy_max || !device_accessible(dst, n))) return;
  if (dsrc && !device_accessible(src, n)) {
    if (!ddst) memset(dst, 0, n);
    return;
  }
  if (dsrc && !ddst && n > 64 * kMiB) return;  // contents mean nothing
  memmove(dst, src, n);
}

cudaError_t copy_on(void* dst, const void* src, size_t n, cudaStream_t s, bool sync) {
  Lock l(st().mu);
  if (lost()) return ret(cudaErrorLaunchFailure);
  Stream* q = as_stream(s);
  work_given();
  do_copy(dst, src, n);
  enqueue(q);
  bool to_host = !in_device(dst);
  if (sync || (to_host && !st().host.count((uint64_t)dst))) {
    if (!q->capturing) finish_stream(q, q->enqueued);
  }
  if (cfg().log_copy)
    logf("copy", q->dev, q->id, (uint64_t)dst, n, 0,
         in_device(src) ? (to_host ? "d2h" : "d2d") : (to_host ? "h2h" : "h2d"));
  return cudaSuccess;
}

cudaError_t set_on(void* dst, int value, size_t n, cudaStream_t s) {
  Lock l(st().mu);
  if (lost()) return ret(cudaErrorLaunchFailure);
  work_given();
  if (n <= cfg().copy_max && device_accessible(dst, n)) memset(dst, value, n);
  Stream* q = as_stream(s);
  enqueue(q);
  if (cfg().log_copy) logf("memset", q->dev, q->id, (uint64_t)dst, n, 0);
  return cudaSuccess;
}

cudaError_t launch(const void* f, cudaStream_t s, dim3 g, dim3 b) {
  Lock l(st().mu);
  if (lost()) return ret(cudaErrorLaunchFailure);
  Stream* q = as_stream(s);
  work_given();
  enqueue(q);
  if (cfg().log_launch && cfg().log) {
    const char* nm = "?";
    if (st().kernel_handles.count(f))
      nm = ((const Kernel*)f)->name.c_str();
    else {
      auto it = st().kernels.find(f);
      if (it != st().kernels.end()) nm = it->second->name.c_str();
    }
    logf("launch", q->dev, q->id, 0, uint64_t(g.x) * g.y * g.z, uint64_t(b.x) * b.y * b.z, nm);
  }
  return cudaSuccess;
}

}  // namespace pretend
