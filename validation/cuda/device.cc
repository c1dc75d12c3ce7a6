#include "validation/cuda/device.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
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
#if CUDART_VERSION >= 12050
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
#elif CUDART_VERSION >= 12000
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault);
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

bool is_pretend() { return dlsym(RTLD_DEFAULT, "fakecuda_note") != nullptr; }

bool has_given_times() {
  const auto ask = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "fakecuda_has_rates"));
  return ask != nullptr && ask() != 0;
}

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw DeviceError(std::string(what) + ": " + cudaGetErrorString(error));
}

std::vector<std::uint64_t> times_of(const std::function<void()>& give, int repeats,
                                    cudaStream_t stream) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  give();
  std::vector<std::uint64_t> times;
  for (int i = 0; i < repeats; ++i) {
    check(cudaEventRecord(begin, stream), "cudaEventRecord");
    give();
    check(cudaEventRecord(end, stream), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    times.push_back(std::max<std::uint64_t>(std::uint64_t(double(ms) * 1e6), 1));
  }
  check(cudaEventDestroy(begin), "cudaEventDestroy");
  check(cudaEventDestroy(end), "cudaEventDestroy");
  std::sort(times.begin(), times.end());
  return times;
}

namespace {

/// "GPU-46000000-0000-0000-0000-000000000000", as NVML writes it.
std::string uuid_text(const char* kind, const cudaUUID_t& uuid) {
  std::string text = kind;
  for (int i = 0; i < 16; ++i) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", unsigned(uuid.bytes[i]) & 0xffU);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits.data();
  }
  return text;
}

}  // namespace

Nvml::Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
  if (library_ == nullptr) return;
  using Find = int (*)(const char*, void**);
  const auto init = reinterpret_cast<int (*)()>(dlsym(library_, "nvmlInit_v2"));
  const auto by_uuid = reinterpret_cast<Find>(dlsym(library_, "nvmlDeviceGetHandleByUUID"));
  const auto by_bus = reinterpret_cast<Find>(dlsym(library_, "nvmlDeviceGetHandleByPciBusId_v2"));
  cudaDeviceProp properties{};
  if (init == nullptr || init() != 0 || cudaGetDeviceProperties(&properties, 0) != cudaSuccess)
    return;
  for (const char* kind : {"GPU-", "MIG-"}) {
    if (by_uuid != nullptr && by_uuid(uuid_text(kind, properties.uuid).c_str(), &device_) == 0)
      return;
  }
  std::array<char, 32> bus{};
  if (by_bus == nullptr || cudaDeviceGetPCIBusId(bus.data(), int(bus.size()), 0) != cudaSuccess ||
      by_bus(bus.data(), &device_) != 0)
    device_ = nullptr;
}

std::vector<Nvml::Process> Nvml::processes(bool& told) const {
  told = false;
  if (device_ == nullptr) return {};
  const auto ask = reinterpret_cast<int (*)(void*, unsigned*, ProcessInfo*)>(
      dlsym(library_, "nvmlDeviceGetComputeRunningProcesses_v3"));
  if (ask == nullptr) return {};
  constexpr int kTooFew = 7;
  std::vector<ProcessInfo> found(16);
  for (int turn = 0; turn < 8; ++turn) {
    auto count = unsigned(found.size());
    const int code = ask(device_, &count, found.data());
    if (code == kTooFew) {
      found.resize(std::max<std::size_t>(count, found.size() * 2));
      continue;
    }
    if (code != 0) return {};
    told = true;
    std::vector<Process> all;
    for (unsigned i = 0; i < count; ++i) all.push_back({found[i].pid, found[i].used});
    return all;
  }
  return {};
}

std::uint64_t Nvml::process_bytes() const {
  constexpr std::uint64_t kNotAvailable = ~std::uint64_t(0);
  bool told = false;
  for (const Process& each : processes(told)) {
    if (each.pid == unsigned(getpid())) return each.bytes == kNotAvailable ? 0 : each.bytes;
  }
  return 0;
}

int Nvml::other_processes() const {
  bool told = false;
  const std::vector<Process> all = processes(told);
  if (!told) return -1;
  // In a container the numbers are the host's: one of them is this process all the same.
  return all.empty() ? 0 : int(all.size()) - 1;
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
  last_ns_ = ns;
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

std::vector<Memory::Page> Memory::create(std::uint64_t bytes, std::uint64_t page) {
  static const auto create = driver_function<decltype(&cuMemCreate)>("cuMemCreate");
  const CUmemAllocationProp prop = device_memory();
  std::vector<Page> made;
  for (std::uint64_t done = 0; done < bytes; done += page) {
    Page each{{}, page};
    const CUresult result = create(&each.handle, page, &prop, 0);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) break;
    check_driver(result, "cuMemCreate");
    made.push_back(each);
  }
  return made;
}

bool Memory::map(std::uint64_t address, std::uint64_t bytes, std::uint64_t page) {
  static const auto map = driver_function<decltype(&cuMemMap)>("cuMemMap");
  static const auto access = driver_function<decltype(&cuMemSetAccess)>("cuMemSetAccess");
  static const auto release = driver_function<decltype(&cuMemRelease)>("cuMemRelease");
  const CUmemAllocationProp prop = device_memory();
  const std::uint64_t begin = now_ns();
  const std::vector<Page> made = create(bytes, page);
  if (made.size() * page < bytes) {
    for (const Page& each : made) check_driver(release(each.handle), "cuMemRelease");
    keep("cuMemCreate failed", bytes, address, now_ns() - begin);
    return false;
  }
  for (std::size_t i = 0; i < made.size(); ++i)
    check_driver(map(address + i * page, page, 0, made[i].handle, 0), "cuMemMap");
  const CUmemAccessDesc desc{prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  check_driver(access(address, bytes, &desc, 1), "cuMemSetAccess");
  const std::uint64_t took = now_ns() - begin;
  for (std::size_t i = 0; i < made.size(); ++i) mapped_[address + i * page] = made[i];
  keep("cuMemMap", bytes, address, took);
  return true;
}

bool Memory::try_pages(std::uint64_t bytes, std::uint64_t page) {
  static const auto release = driver_function<decltype(&cuMemRelease)>("cuMemRelease");
  const std::vector<Page> made = create(bytes, page);
  const bool is_there = made.size() * page >= bytes;
  for (const Page& each : made) check_driver(release(each.handle), "cuMemRelease");
  keep(is_there ? "cuMemCreate" : "cuMemCreate failed", bytes, 0, 0);
  return is_there;
}

void Memory::unmap(std::uint64_t address, std::uint64_t bytes, cudaStream_t stream) {
  static const auto unmap = driver_function<decltype(&cuMemUnmap)>("cuMemUnmap");
  static const auto release = driver_function<decltype(&cuMemRelease)>("cuMemRelease");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const std::uint64_t begin = now_ns();
  for (auto at = mapped_.lower_bound(address);
       at != mapped_.end() && at->first < address + bytes;) {
    check_driver(unmap(at->first, at->second.bytes), "cuMemUnmap");
    check_driver(release(at->second.handle), "cuMemRelease");
    at = mapped_.erase(at);
  }
  keep("cuMemUnmap", bytes, address, now_ns() - begin);
}

}  // namespace harness
