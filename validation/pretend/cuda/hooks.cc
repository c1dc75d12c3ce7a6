// What the sibling libraries ask of the device.
#include "validation/pretend/cuda/core.h"

#include <stdio.h>

using namespace pretend;

EXPORT int fakecuda_is_device_ptr(const void* p) {
  Lock l(st().mu);
  return in_device(p);
}
EXPORT void fakecuda_enqueue(cudaStream_t s) {
  Lock l(st().mu);
  enqueue(as_stream(s));
}
EXPORT int fakecuda_cc() { return cfg().p.cc; }
// Whether events tell times of a device with given rates, and not this machine's.
EXPORT int fakecuda_has_rates() { return cfg().flops_per_s > 0 || cfg().bytes_per_s > 0; }
// Work of a library: its memory, arithmetic and traffic, as the last that was queued on a stream.
EXPORT void fakecuda_work(cudaStream_t s, const void* a, const void* b, const void* c, double flops,
                          double bytes) {
  Lock l(st().mu);
  if (lost()) return;
  Stream* q = as_stream(s);
  work_given();
  enqueue(q);
  for (const void* p : {a, b, c}) touch(q, p);
  took(q, flops, bytes);
}
// Device bytes that a library takes for itself, outside any cudaMalloc.
EXPORT int fakecuda_take(int dev, size_t bytes, const char* who) {
  Lock l(st().mu);
  if (bad_dev(dev)) dev = t_device;
  context(dev);
  if (free_bytes(dev) < bytes) {
    logf("oom", dev, 0, 0, bytes, bytes, who);
    return 2;
  }
  st().dev[dev]->used += bytes;
  logf("library", dev, 0, 0, bytes, bytes, who);
  return 0;
}
EXPORT void fakecuda_note(const char* what) {
  Lock l(st().mu);
  if (cfg().log) logf("note", t_device, 0, 0, 0, 0, what);
}
EXPORT void fakecuda_unknown(const char* fn) {
  if (!cfg().trace_unknown) return;
  static std::mutex m;
  static std::unordered_set<std::string> seen;
  std::lock_guard<std::mutex> l(m);
  if (seen.insert(fn).second) fprintf(stderr, "fakecuda: no-op %s\n", fn);
}
