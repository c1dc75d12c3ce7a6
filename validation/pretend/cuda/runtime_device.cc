#include "validation/pretend/cuda/core.h"

#include <stdio.h>
#include <string.h>

using namespace pretend;

EXPORT cudaError_t cudaDriverGetVersion(int* v) {
  *v = CUDART_VERSION;
  return cudaSuccess;
}
EXPORT cudaError_t cudaRuntimeGetVersion(int* v) {
  *v = CUDART_VERSION;
  return cudaSuccess;
}
EXPORT cudaError_t cudaGetDeviceCount(int* n) {
  *n = cfg().count;
  return cfg().count ? cudaSuccess : ret(cudaErrorNoDevice);
}
EXPORT cudaError_t cudaGetDevice(int* d) {
  *d = t_device;
  return cudaSuccess;
}
EXPORT cudaError_t cudaSetDevice(int d) {
  if (bad_dev(d)) return ret(cudaErrorInvalidDevice);
  Lock l(st().mu);
  t_device = d;
  context(d);  // since 12.0 this makes the primary context
  return cudaSuccess;
}
EXPORT cudaError_t cudaInitDevice(int d, unsigned, unsigned) {
  if (bad_dev(d)) return ret(cudaErrorInvalidDevice);
  Lock l(st().mu);
  context(d);
  return cudaSuccess;
}
EXPORT cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
EXPORT cudaError_t cudaGetDeviceFlags(unsigned* f) {
  *f = 0;
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceSynchronize() {
  Lock l(st().mu);
  context(t_device);
  if (lost()) return ret(cudaErrorLaunchFailure);
  finish_device(t_device);
  if (cfg().log_sync) logf("sync_device", t_device, 0, 0, 0, 0);
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceReset() { return cudaSuccess; }
EXPORT cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
EXPORT cudaError_t cudaDeviceGetLimit(size_t* v, cudaLimit) {
  *v = 8 * kMiB;
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int* lo, int* hi) {
  if (lo) *lo = 0;
  if (hi) *hi = -5;
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceCanAccessPeer(int* can, int a, int b) {
  *can = a != b;
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
EXPORT cudaError_t cudaDeviceDisablePeerAccess(int) { return cudaSuccess; }
EXPORT cudaError_t cudaDeviceGetPCIBusId(char* s, int n, int d) {
  snprintf(s, n, "0000:%02X:00.0", d + 1);
  return cudaSuccess;
}
EXPORT cudaError_t cudaDeviceGetByPCIBusId(int* d, const char* s) {
  unsigned dom = 0, bus = 1;
  sscanf(s, "%x:%x", &dom, &bus);
  *d = int(bus) - 1;
  return bad_dev(*d) ? ret(cudaErrorInvalidDevice) : cudaSuccess;
}

EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp* q, int d) {
  if (bad_dev(d)) return ret(cudaErrorInvalidDevice);
  const Preset& p = cfg().p;
  memset(q, 0, sizeof *q);
  snprintf(q->name, sizeof q->name, "%s", cfg().name.c_str());
  q->uuid.bytes[0] = 0x46;
  q->uuid.bytes[15] = char(d);
  q->totalGlobalMem = p.total;
  q->sharedMemPerBlock = 49152;
  q->regsPerBlock = 65536;
  q->warpSize = 32;
  q->memPitch = 2147483647;
  q->maxThreadsPerBlock = 1024;
  q->maxThreadsDim[0] = q->maxThreadsDim[1] = 1024;
  q->maxThreadsDim[2] = 64;
  q->maxGridSize[0] = 2147483647;
  q->maxGridSize[1] = q->maxGridSize[2] = 65535;
  q->totalConstMem = 65536;
  q->major = p.cc / 10;
  q->minor = p.cc % 10;
  q->textureAlignment = 512;
  q->texturePitchAlignment = 32;
  q->multiProcessorCount = p.sms;
  q->canMapHostMemory = 1;
  q->concurrentKernels = 1;
  q->ECCEnabled = 1;
  q->pciBusID = d + 1;
  q->asyncEngineCount = 3;
  q->unifiedAddressing = 1;
  q->memoryBusWidth = 5120;
  q->l2CacheSize = p.l2;
  q->maxThreadsPerMultiProcessor = p.threads_sm;
  q->streamPrioritiesSupported = 1;
  q->sharedMemPerMultiprocessor = p.smem_sm;
  q->regsPerMultiprocessor = 65536;
  q->managedMemory = 1;
  q->concurrentManagedAccess = 1;
  q->computePreemptionSupported = 1;
  q->cooperativeLaunch = 1;
  q->sharedMemPerBlockOptin = p.smem_optin;
  q->maxBlocksPerMultiProcessor = p.threads_sm >= 2048 ? 32 : 16;
  q->reservedSharedMemPerBlock = 1024;
  q->hostRegisterSupported = 1;
  q->memoryPoolsSupported = 1;
  q->clusterLaunch = p.cc >= 90;
#if CUDART_VERSION < 13000
  q->clockRate = 1410000;
  q->memoryClockRate = 1593000;
#endif
  return cudaSuccess;
}

int pretend::attribute(int a, int d) {
  const Preset& p = cfg().p;
  switch (a) {
    case cudaDevAttrMaxThreadsPerBlock:
      return 1024;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return 1024;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return 2147483647;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return 49152;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return p.smem_optin;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return p.smem_sm;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return 1024;
    case cudaDevAttrTotalConstantMemory:
      return 65536;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return 65536;
    case cudaDevAttrClockRate:
      return 1410000;
    case cudaDevAttrMemoryClockRate:
      return 1593000;
    case cudaDevAttrGlobalMemoryBusWidth:
      return 5120;
    case cudaDevAttrTextureAlignment:
      return 512;
    case cudaDevAttrMultiProcessorCount:
      return p.sms;
    case cudaDevAttrL2CacheSize:
      return p.l2;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return p.threads_sm;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return p.threads_sm >= 2048 ? 32 : 16;
    case cudaDevAttrComputeCapabilityMajor:
      return p.cc / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return p.cc % 10;
    case cudaDevAttrPciBusId:
      return d + 1;
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrComputePreemptionSupported:
      return 1;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
      return p.cc >= 90;
    case cudaDevAttrAsyncEngineCount:
      return 3;
    case cudaDevAttrMaxPitch:
      return 2147483647;
    default:
      return 0;
  }
}
EXPORT cudaError_t cudaDeviceGetAttribute(int* v, cudaDeviceAttr a, int d) {
  if (bad_dev(d)) return ret(cudaErrorInvalidDevice);
  *v = attribute(a, d);
  return cudaSuccess;
}

EXPORT cudaError_t cudaGetLastError() {
  if (lost()) return cudaErrorLaunchFailure;
  cudaError_t e = t_last;
  t_last = cudaSuccess;
  return e;
}
EXPORT cudaError_t cudaPeekAtLastError() { return lost() ? cudaErrorLaunchFailure : t_last; }
EXPORT const char* cudaGetErrorName(cudaError_t e) {
  switch (e) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorNotSupported:
      return "cudaErrorNotSupported";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    default:
      return "cudaErrorOther";
  }
}
EXPORT const char* cudaGetErrorString(cudaError_t e) {
  switch (e) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorNotSupported:
      return "operation not supported";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    default:
      return "fakecuda error";
  }
}
