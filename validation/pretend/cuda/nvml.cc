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
// NVML counts devices by their bus, CUDA the fastest first.
int by_index(unsigned i) { return cfg().nvml_reversed ? cfg().count - 1 - int(i) : int(i); }
constexpr unsigned long long kNotAvailable = ~0ull;
std::string uuid_of(int d) {
  char s[64];
  snprintf(s, sizeof s, "%s-46000000-0000-0000-0000-0000000000%02x", cfg().nvml_mig ? "MIG" : "GPU",
           d);
  return s;
}
unsigned long long own_used(int d) {
  Lock l(st().mu);
  Device& v = *st().dev[d];
  return v.used + (v.context ? cfg().p.context : 0);
}
}  // namespace

EXPORT int nvmlInit_v2() { return cfg().nvml_absent ? 9 : 0; }
EXPORT int nvmlInit() { return 0; }
EXPORT int nvmlInitWithFlags(unsigned) { return 0; }
EXPORT int nvmlShutdown() { return 0; }
EXPORT const char* nvmlErrorString(int) { return "fakecuda nvml"; }
EXPORT int nvmlSystemGetDriverVersion(char* s, unsigned n) {
  if (cfg().nvml_absent) return 9;
  snprintf(s, n, "%s", cfg().driver.c_str());
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
  *h = (void*)(uint64_t)(by_index(i) + 1);
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
EXPORT int nvmlDeviceGetHandleByUUID(const char* s, void** h) {
  for (int d = 0; d < cfg().count; ++d) {
    if (uuid_of(d) != s) continue;
    *h = (void*)(uint64_t)(d + 1);
    return 0;
  }
  return 6;  // not found
}
EXPORT int nvmlDeviceGetUUID(void* h, char* s, unsigned n) {
  snprintf(s, n, "%s", uuid_of(nvml_dev(h)).c_str());
  return 0;
}
EXPORT int nvmlDeviceGetName(void*, char* s, unsigned n) {
  snprintf(s, n, "%s", cfg().name.c_str());
  return 0;
}
EXPORT int nvmlDeviceGetIndex(void* h, unsigned* i) {
  *i = by_index(unsigned(nvml_dev(h)));
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
  if (cfg().other_more && st().memory_calls >= cfg().other_from) m->used += cfg().other_more;
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
namespace {
// This process and, where others take memory, one that stands for them.
template <class Process>
int processes(void* h, unsigned* n, Process* p) {
  const int d = nvml_dev(h);
  if (cfg().nvml_us) usleep(unsigned(cfg().nvml_us));
  std::vector<std::pair<unsigned, unsigned long long>> all;
  if (st().dev[d]->context) all.push_back({unsigned(getpid()), own_used(d)});
  if (cfg().other) all.push_back({1, cfg().other});
  if (cfg().other_more && st().memory_calls >= cfg().other_from)
    all.push_back({2, cfg().other_more});
  if (*n < all.size() || (!p && !all.empty())) {
    *n = unsigned(all.size());
    return 7;
  }
  *n = unsigned(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    p[i].pid = all[i].first + (cfg().nvml_container ? 100000 : 0);
    p[i].used = cfg().nvml_na ? kNotAvailable : all[i].second;
  }
  return 0;
}
}  // namespace

EXPORT int nvmlDeviceGetComputeRunningProcesses(void* h, unsigned* n, NvmlProcV1* p) {
  return processes(h, n, p);
}
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void* h, unsigned* n, NvmlProcV2* p) {
  const int code = processes(h, n, p);
  for (unsigned i = 0; code == 0 && i < *n; ++i) p[i].gi = p[i].ci = cfg().nvml_mig ? 1 : ~0u;
  return code;
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
