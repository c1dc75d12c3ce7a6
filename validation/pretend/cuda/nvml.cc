#include "validation/pretend/cuda/core.h"

#include <stdio.h>
#include <unistd.h>

using namespace pretend;

// nvml.h is not part of the toolkit's headers here; the shapes below are the
// published ABI of the entries PyTorch looks up.

namespace {
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlMemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct NvmlProcV1 {
  unsigned pid;
  unsigned long long used;
};
struct NvmlProcV2 {
  unsigned pid;
  unsigned long long used;
  unsigned gi, ci;
};
struct NvmlPci {
  char legacy[16];
  unsigned domain, bus, device, pci_id, subsys;
  char id[32];
};
int nvml_dev(void* h) {
  int d = int((uint64_t)h) - 1;
  return bad_dev(d) ? 0 : d;
}
unsigned long long own_used(int d) {
  Lock l(st().mu);
  Device& v = *st().dev[d];
  return v.used + (v.context ? cfg().p.context : 0);
}
}  // namespace

EXPORT int nvmlInit_v2() { return 0; }
EXPORT int nvmlInit() { return 0; }
EXPORT int nvmlInitWithFlags(unsigned) { return 0; }
EXPORT int nvmlShutdown() { return 0; }
EXPORT const char* nvmlErrorString(int) { return "fakecuda nvml"; }
EXPORT int nvmlSystemGetDriverVersion(char* s, unsigned n) {
  snprintf(s, n, "580.00.fake");
  return 0;
}
EXPORT int nvmlSystemGetCudaDriverVersion(int* v) {
  *v = CUDA_VERSION;
  return 0;
}
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int* v) {
  *v = CUDA_VERSION;
  return 0;
}
EXPORT int nvmlDeviceGetCount_v2(unsigned* n) {
  *n = cfg().count;
  return 0;
}
EXPORT int nvmlDeviceGetCount(unsigned* n) {
  *n = cfg().count;
  return 0;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** h) {
  *h = (void*)(uint64_t)(i + 1);
  return i < unsigned(cfg().count) ? 0 : 2;
}
EXPORT int nvmlDeviceGetHandleByIndex(unsigned i, void** h) {
  return nvmlDeviceGetHandleByIndex_v2(i, h);
}
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* s, void** h) {
  int d = 0;
  cudaDeviceGetByPCIBusId(&d, s);
  *h = (void*)(uint64_t)(d + 1);
  return 0;
}
EXPORT int nvmlDeviceGetHandleByUUID(const char*, void** h) {
  *h = (void*)1;
  return 0;
}
EXPORT int nvmlDeviceGetUUID(void* h, char* s, unsigned n) {
  snprintf(s, n, "GPU-46000000-0000-0000-0000-0000000000%02x", nvml_dev(h));
  return 0;
}
EXPORT int nvmlDeviceGetName(void*, char* s, unsigned n) {
  snprintf(s, n, "%s", cfg().name.c_str());
  return 0;
}
EXPORT int nvmlDeviceGetIndex(void* h, unsigned* i) {
  *i = nvml_dev(h);
  return 0;
}
EXPORT int nvmlDeviceGetCudaComputeCapability(void*, int* a, int* b) {
  *a = cfg().p.cc / 10;
  *b = cfg().p.cc % 10;
  return 0;
}
EXPORT int nvmlDeviceGetMemoryInfo(void* h, NvmlMemory* m) {
  int d = nvml_dev(h);
  m->total = cfg().p.total;
  m->used = own_used(d) + cfg().other;
  m->free = m->total > m->used ? m->total - m->used : 0;
  return 0;
}
EXPORT int nvmlDeviceGetMemoryInfo_v2(void* h, NvmlMemoryV2* m) {
  NvmlMemory a;
  nvmlDeviceGetMemoryInfo(h, &a);
  m->total = a.total;
  m->free = a.free;
  m->used = a.used;
  m->reserved = 0;
  return 0;
}
EXPORT int nvmlDeviceGetComputeRunningProcesses(void* h, unsigned* n, NvmlProcV1* p) {
  if (*n < 1 || !p) {
    *n = 1;
    return 7;
  }
  *n = 1;
  p->pid = getpid();
  p->used = own_used(nvml_dev(h));
  return 0;
}
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void* h, unsigned* n, NvmlProcV2* p) {
  if (*n < 1 || !p) {
    *n = 1;
    return 7;
  }
  *n = 1;
  p->pid = getpid();
  p->used = own_used(nvml_dev(h));
  p->gi = p->ci = ~0u;
  return 0;
}
EXPORT int nvmlDeviceGetComputeRunningProcesses_v2(void* h, unsigned* n, NvmlProcV2* p) {
  return nvmlDeviceGetComputeRunningProcesses_v3(h, n, p);
}
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, NvmlPci*) { return 3; }
EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) { return 3; }
EXPORT int nvmlDeviceGetFieldValues(void*, int, void*) { return 3; }
EXPORT int nvmlDeviceGetGpuFabricInfoV(void*, void*) { return 3; }
EXPORT int nvmlDeviceGetGpuFabricInfo(void*, void*) { return 3; }
EXPORT int nvmlDeviceGetUtilizationRates(void*, unsigned* u) {
  u[0] = u[1] = 0;
  return 0;
}
EXPORT int nvmlDeviceGetTemperature(void*, int, unsigned* t) {
  *t = 30;
  return 0;
}
EXPORT int nvmlDeviceGetPowerUsage(void*, unsigned* t) {
  *t = 50000;
  return 0;
}
EXPORT int nvmlDeviceGetClockInfo(void*, int, unsigned* t) {
  *t = 1410;
  return 0;
}
