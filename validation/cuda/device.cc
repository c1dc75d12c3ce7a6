#include "validation/cuda/device.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace harness {

namespace {

std::uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

/// A driver function by its name, as the runtime finds it: no library of the driver is linked.
template <class F>
F driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
  check(error, name);
  if (found == nullptr) throw DeviceError(std::string(name) + ": the driver does not have it");
  return reinterpret_cast<F>(found);
}

void check_driver(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS)
    throw DeviceError(std::string(what) + ": driver error " + std::to_string(int(result)));
}

CUmemAllocationProp device_memory() {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = 0;
  return prop;
}

/// NVML's record of a process (nvmlProcessInfo_t, second version).
struct ProcessInfo {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

}  // namespace

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw DeviceError(std::string(what) + ": " + cudaGetErrorString(error));
}

Nvml::Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
  if (library_ == nullptr) return;
  const auto init = reinterpret_cast<int (*)()>(dlsym(library_, "nvmlInit_v2"));
  const auto by_index =
      reinterpret_cast<int (*)(unsigned, void**)>(dlsym(library_, "nvmlDeviceGetHandleByIndex_v2"));
  if (init == nullptr || by_index == nullptr || init() != 0 || by_index(0, &device_) != 0)
    device_ = nullptr;
}

std::uint64_t Nvml::process_bytes() const {
  if (device_ == nullptr) return 0;
  const auto processes = reinterpret_cast<int (*)(void*, unsigned*, ProcessInfo*)>(
      dlsym(library_, "nvmlDeviceGetComputeRunningProcesses_v3"));
  if (processes == nullptr) return 0;
  std::array<ProcessInfo, 64> found{};
  unsigned count = found.size();
  if (processes(device_, &count, found.data()) != 0) return 0;
  for (unsigned i = 0; i < count; ++i) {
    if (found[i].pid == unsigned(getpid())) return found[i].used;
  }
  return 0;
}

std::string Nvml::driver_version() const {
  if (library_ == nullptr) return {};
  const auto version =
      reinterpret_cast<int (*)(char*, unsigned)>(dlsym(library_, "nvmlSystemGetDriverVersion"));
  std::array<char, 96> text{};
  if (version == nullptr || version(text.data(), unsigned(text.size())) != 0) return {};
  return text.data();
}

Memory::Memory(Results& results) : results_(results) { free_at_start_ = least_free_ = free_now(); }

std::uint64_t Memory::free_now() const {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

void Memory::keep(const char* what, std::uint64_t bytes, std::uint64_t address, std::uint64_t ns) {
  const std::uint64_t free = free_now();
  least_free_ = std::min(least_free_, free);
  results_.call(what, bytes, address, ns, free, nvml_.process_bytes());
}

std::uint64_t Memory::allocate(std::uint64_t bytes) {
  void* p = nullptr;
  const std::uint64_t begin = now_ns();
  const cudaError_t error = cudaMalloc(&p, bytes);
  const std::uint64_t took = now_ns() - begin;
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    keep("cudaMalloc failed", bytes, 0, took);
    return 0;
  }
  check(error, "cudaMalloc");
  keep("cudaMalloc", bytes, reinterpret_cast<std::uint64_t>(p), took);
  return reinterpret_cast<std::uint64_t>(p);
}

void Memory::free(std::uint64_t address) {
  const std::uint64_t begin = now_ns();
  check(cudaFree(reinterpret_cast<void*>(address)), "cudaFree");
  keep("cudaFree", 0, address, now_ns() - begin);
}

std::uint64_t Memory::allocate_async(std::uint64_t bytes, cudaStream_t stream) {
  void* p = nullptr;
  const std::uint64_t begin = now_ns();
  const cudaError_t error = cudaMallocAsync(&p, bytes, stream);
  const std::uint64_t took = now_ns() - begin;
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    keep("cudaMallocAsync failed", bytes, 0, took);
    return 0;
  }
  check(error, "cudaMallocAsync");
  keep("cudaMallocAsync", bytes, reinterpret_cast<std::uint64_t>(p), took);
  return reinterpret_cast<std::uint64_t>(p);
}

void Memory::free_async(std::uint64_t address, cudaStream_t stream) {
  const std::uint64_t begin = now_ns();
  check(cudaFreeAsync(reinterpret_cast<void*>(address), stream), "cudaFreeAsync");
  keep("cudaFreeAsync", 0, address, now_ns() - begin);
}

std::uint64_t Memory::reserve(std::uint64_t bytes) {
  static const auto reserve =
      driver_function<decltype(&cuMemAddressReserve)>("cuMemAddressReserve");
  CUdeviceptr address = 0;
  check_driver(reserve(&address, bytes, 0, 0, 0), "cuMemAddressReserve");
  return address;
}

bool Memory::map(std::uint64_t address, std::uint64_t bytes) {
  static const auto create = driver_function<decltype(&cuMemCreate)>("cuMemCreate");
  static const auto map = driver_function<decltype(&cuMemMap)>("cuMemMap");
  static const auto access = driver_function<decltype(&cuMemSetAccess)>("cuMemSetAccess");
  const CUmemAllocationProp prop = device_memory();
  CUmemGenericAllocationHandle handle{};
  const std::uint64_t begin = now_ns();
  const CUresult result = create(&handle, bytes, &prop, 0);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    keep("cuMemCreate failed", bytes, address, now_ns() - begin);
    return false;
  }
  check_driver(result, "cuMemCreate");
  check_driver(map(address, bytes, 0, handle, 0), "cuMemMap");
  const CUmemAccessDesc desc{prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  check_driver(access(address, bytes, &desc, 1), "cuMemSetAccess");
  const std::uint64_t took = now_ns() - begin;
  mapped_[address] = handle;
  keep("cuMemMap", bytes, address, took);
  return true;
}

void Memory::unmap(std::uint64_t address, std::uint64_t bytes) {
  static const auto unmap = driver_function<decltype(&cuMemUnmap)>("cuMemUnmap");
  static const auto release = driver_function<decltype(&cuMemRelease)>("cuMemRelease");
  const std::uint64_t begin = now_ns();
  check_driver(unmap(address, bytes), "cuMemUnmap");
  const auto at = mapped_.find(address);
  if (at != mapped_.end()) {
    check_driver(release(at->second), "cuMemRelease");
    mapped_.erase(at);
  }
  keep("cuMemUnmap", bytes, address, now_ns() - begin);
}

}  // namespace harness
