#include "validation/pretend/cuda/core.h"

#include <string.h>
#include <algorithm>

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
  if (s->done == s->enqueued) s->touched.clear();
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

void touch(Stream* s, const void* p) {
  if (s->done < s->enqueued && in_device(p)) s->touched[(uint64_t)p] = s->enqueued;
}

void took(Stream* s, double flops, double bytes) {
  st().flops += flops;
  st().bytes += bytes;
  double s_long = 0;
  if (cfg().flops_per_s > 0) s_long = flops / cfg().flops_per_s;
  if (cfg().bytes_per_s > 0) s_long = std::max(s_long, bytes / cfg().bytes_per_s);
  s->clock_ns += std::max(cfg().launch_ns, uint64_t(s_long * 1e9 + 0.5));
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
  touch(q, dst);
  touch(q, src);
  took(q, 0, in_device(dst) && in_device(src) ? 2.0 * double(n) : double(n));
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
  touch(q, dst);
  took(q, 0, double(n));
  if (cfg().log_copy) logf("memset", q->dev, q->id, (uint64_t)dst, n, 0);
  return cudaSuccess;
}

namespace {

const char* name_of(const void* f) {
  if (st().kernel_handles.count(f)) return ((const Kernel*)f)->name.c_str();
  auto it = st().kernels.find(f);
  return it == st().kernels.end() ? "?" : it->second->name.c_str();
}

// The harness's own kernels tell what they do; of others nothing is known.
void count_own_work(Stream* q, const char* name, dim3 g, dim3 b, void** args) {
  double flops = 0, bytes = 0;
  if (args && strstr(name, "move_bytes")) {
    touch(q, *(void**)args[0]);
    bytes = double(*(uint64_t*)args[2]) * 32;
  } else if (args && strstr(name, "compute")) {
    touch(q, *(void**)args[0]);
    flops = double(*(uint64_t*)args[1]) * 4 * g.x * b.x;
  }
  took(q, flops, bytes);
}

}  // namespace

cudaError_t launch(const void* f, cudaStream_t s, dim3 g, dim3 b, void** args) {
  Lock l(st().mu);
  if (lost()) return ret(cudaErrorLaunchFailure);
  Stream* q = as_stream(s);
  if (Device& d = *st().dev[q->dev]; !d.has_code) {
    d.has_code = true;
    d.used += cfg().first_kernel;
  }
  work_given();
  enqueue(q);
  const char* nm = name_of(f);
  count_own_work(q, strstr(nm, "harness") ? nm : "", g, b, args);
  if (cfg().log_launch && cfg().log) {
    logf("launch", q->dev, q->id, 0, uint64_t(g.x) * g.y * g.z, uint64_t(b.x) * b.y * b.z, nm);
  }
  return cudaSuccess;
}

}  // namespace pretend
