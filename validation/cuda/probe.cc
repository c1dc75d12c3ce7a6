// Measures what a calibration holds, and prints it as JSON: tidemark-probe [--repeats N] [--out
// FILE] [--pytorch VERSION]
//
// Context bytes, granularity, the order of addresses, latencies of the driver's memory calls by
// size, launch overhead, and achieved rates of each class of work. Exit codes: 0 done, 1 the device
// failed, 77 no device. VERSION, of the machine's PyTorch, is handed on as it is.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <utility>
#include <vector>

#include "validation/cuda/device.h"
#include "validation/cuda/kernels.h"
#include "validation/cuda/libraries.h"

namespace harness {

std::FILE* out_file = stdout;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t(1) << 20;

std::uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::uint64_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

/// What was timed several times: the middle one, so that a stray interrupt does not count, the
/// least and the most.
struct Spread {
  std::uint64_t middle = 0, least = 0, most = 0;
  std::size_t count = 0;
};

Spread spread_of(std::vector<std::uint64_t> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back(), values.size()};
}

/// `"KEY": N, "KEY_spread": [least, most, count]`
void print_spread(const char* key, const Spread& s) {
  std::fprintf(out_file, "\"%s\": %llu, \"%s_spread\": [%llu, %llu, %zu]", key,
               (unsigned long long)s.middle, key, (unsigned long long)s.least,
               (unsigned long long)s.most, s.count);
}

/// What a request of one byte past 2 MiB takes off the free memory, past 2 MiB.
std::uint64_t granularity() {
  void* p = nullptr;
  const std::uint64_t before = free_bytes();
  check(cudaMalloc(&p, 2 * kMiB + 1), "cudaMalloc");
  const std::uint64_t taken = before - free_bytes();
  check(cudaFree(p), "cudaFree");
  return taken > 2 * kMiB ? taken - 2 * kMiB : 0;
}

/// "down": each new piece below the last; "up"; "mixed".
const char* address_order() {
  std::vector<void*> pieces(6, nullptr);
  int up = 0;
  int down = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    check(cudaMalloc(&pieces[i], 32 * kMiB), "cudaMalloc");
    if (i > 0) (pieces[i] > pieces[i - 1] ? up : down)++;
  }
  for (void* p : pieces) check(cudaFree(p), "cudaFree");
  return up == 0 ? "down" : down == 0 ? "up" : "mixed";
}

struct Latency {
  std::uint64_t bytes;
  Spread malloc_ns, free_ns, map_ns, unmap_ns;
};

/// NVML is asked between the calls, never while one is timed. Pages are mapped one by one, as
/// PyTorch's allocator does it: map and unmap are of one.
Latency latency(std::uint64_t bytes, int repeats, Memory& memory) {
  std::vector<std::uint64_t> malloc_ns, free_ns, map_ns, unmap_ns;
  constexpr std::uint64_t kPage = 2 * kMiB;
  const std::uint64_t range = memory.reserve(kPage);
  for (int i = 0; i <= repeats; ++i) {  // the first warms up
    std::vector<std::uint64_t> took;
    const std::uint64_t p = memory.allocate(bytes);
    if (p == 0) throw DeviceError("cudaMalloc: not enough memory");
    took.push_back(memory.last_ns());
    memory.free(p);
    took.push_back(memory.last_ns());
    if (!memory.map(range, kPage, kPage)) throw DeviceError("cuMemCreate: not enough memory");
    took.push_back(memory.last_ns());
    memory.unmap(range, kPage, nullptr);
    took.push_back(memory.last_ns());
    if (i == 0) continue;
    malloc_ns.push_back(took[0]);
    free_ns.push_back(took[1]);
    map_ns.push_back(took[2]);
    unmap_ns.push_back(took[3]);
  }
  return {bytes, spread_of(malloc_ns), spread_of(free_ns), spread_of(map_ns), spread_of(unmap_ns)};
}

Spread launch_overhead(int repeats) {
  std::vector<std::uint64_t> times;
  for (int i = 0; i < repeats; ++i) {
    const std::uint64_t begin = now_ns();
    for (int j = 0; j < 100; ++j) check(empty_kernel(), "launch");
    times.push_back((now_ns() - begin) / 100);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  return spread_of(times);
}

/// Achieved rates: what was really done, over the middle time.
void print_rates(int repeats) {
  constexpr std::uint64_t kBytes = 512 * kMiB;
  constexpr std::uint64_t kFlops = std::uint64_t(1) << 39;
  void* p = nullptr;
  check(cudaMalloc(&p, kBytes), "cudaMalloc");
  // The rate at the middle time, and at the longest and the shortest.
  const auto print = [&](const char* key, std::uint64_t amount, const Spread& ns) {
    const auto at = [&](std::uint64_t time) { return double(amount) * 1e9 / double(time); };
    std::fprintf(out_file, "\"%s\": %.0f, \"%s_spread\": [%.0f, %.0f, %zu]", key, at(ns.middle),
                 key, at(ns.most), at(ns.least), ns.count);
  };
  const auto timed = [&](const std::function<void()>& give) {
    return spread_of(times_of(give, repeats, nullptr));
  };
  std::fprintf(out_file, " ");
  print("bytes_per_s", kBytes * 4, timed([&] {
          check(work("elementwise", 0, kBytes * 4, p, kBytes, nullptr), "elementwise");
        }));
  std::fprintf(out_file, ",\n \"flops_per_s\": {");
  const char* separator = "";
  for (const char* precision : {"fp32", "tf32", "fp16", "bf16"}) {
    std::uint64_t done = kFlops;
    const Spread ns = timed([&] {
      done = square_product(precision, kFlops, p, kBytes, nullptr);
      if (done > 0) return;
      done = kFlops;
      check(work("matmul", kFlops, 0, p, kBytes, nullptr), "matmul");
    });
    std::fprintf(out_file, "%s", separator);
    print(precision, done, ns);
    separator = ", ";
  }
  std::fprintf(out_file, "},\n \"flops_by\": \"%s\",\n", has_cublas() ? "cublas" : "fma");
  check(cudaFree(p), "cudaFree");
}

/// A product or convolution of a shape, to ask a library about.
Operand operand(const char* dtype, std::vector<std::int64_t> sizes) {
  Operand made;
  made.dtype = dtype;
  made.strides.assign(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) made.strides[i - 1] = made.strides[i] * sizes[i];
  made.sizes = std::move(sizes);
  return made;
}

/// What cuDNN's heuristics ask for: a table by pass, precision, batch, channels and picture.
void print_workspaces() {
  std::fprintf(out_file, " \"cudnn_workspaces\": [");
  const char* separator = "";
  for (const char* dtype : {"float32", "float16"}) {
    for (const std::int64_t batch : {1, 32, 256}) {
      for (const std::int64_t channels : {64, 256, 1024}) {
        const std::int64_t side = 4096 / channels * 2;  // pictures shrink as channels grow
        for (const char* pass : {"forward", "input", "weight"}) {
          const Operand picture = operand(dtype, {batch, channels, side, side});
          const Operand weight = operand(dtype, {channels, channels, 3, 3});
          Kernel kernel;
          kernel.kind = "convolution";
          kernel.settings = {{"pass", pass},
                             {"stride", "1,1"},
                             {"padding", "1,1"},
                             {"dilation", "1,1"},
                             {"groups", "1"}};
          kernel.inputs = {picture, std::strcmp(pass, "weight") == 0 ? picture : weight};
          kernel.outputs = {std::strcmp(pass, "weight") == 0 ? weight : picture};
          const Answer answer = run_by_library(kernel, {nullptr, nullptr, nullptr}, {}, nullptr);
          if (answer.workspace_bytes < 0) continue;
          std::fprintf(out_file,
                       "%s\n  {\"pass\": \"%s\", \"dtype\": \"%s\", \"batch\": %lld, "
                       "\"channels\": %lld, \"side\": %lld, \"bytes\": %lld}",
                       separator, pass, dtype, (long long)batch, (long long)channels,
                       (long long)side, (long long)answer.workspace_bytes);
          separator = ",";
        }
      }
    }
  }
  std::fprintf(out_file, "],\n");
}

/// -1 where a library is not there.
void print_libraries() {
  std::fprintf(out_file, " \"cublas_bytes\": %lld,\n", (long long)cublas_bytes());
  std::fprintf(out_file, " \"cudnn_bytes\": %lld,\n", (long long)cudnn_bytes());
  std::fprintf(out_file, " \"nccl_bytes\": %lld,\n", (long long)nccl_bytes());
  print_workspaces();
}

int probe(int repeats, const char* pytorch) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "tidemark-probe: no CUDA device\n");
    return 77;
  }
  const std::uint64_t began = now_ns();
  check(cudaSetDevice(0), "cudaSetDevice");
  check(cudaFree(nullptr), "context");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  Results calls;
  Memory memory(calls);
  const std::uint64_t own = memory.nvml().process_bytes();
  const int others = memory.nvml().other_processes();
  const std::uint64_t gone = properties.totalGlobalMem - memory.free_at_start();
  // What is gone is this process's alone where nobody else is there; else only NVML tells them
  // apart.
  const long long context = own > 0 ? (long long)own : others == 0 ? (long long)gone : -1;
  char date[16];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  std::fprintf(out_file,
               "{\n \"schema_version\": 2,\n \"kind\": \"probe\",\n \"device\": \"%s\",\n",
               properties.name);
  std::fprintf(out_file, " \"compute_capability\": \"%d.%d\",\n \"sm_count\": %d,\n",
               properties.major, properties.minor, properties.multiProcessorCount);
  std::fprintf(out_file, " \"pretend\": %s,\n", is_pretend() ? "true" : "false");
  std::fprintf(out_file, " \"total_bytes\": %zu,\n", std::size_t(properties.totalGlobalMem));
  std::fprintf(out_file, " \"driver\": \"%s\",\n \"cuda\": \"%d.%d\",\n",
               memory.nvml().driver_version().c_str(), CUDART_VERSION / 1000,
               CUDART_VERSION % 1000 / 10);
  std::fprintf(out_file, " \"given_times\": %s,\n", has_given_times() ? "true" : "false");
  std::fprintf(out_file, " \"context_bytes\": %lld,\n \"context_by\": \"%s\",\n", context,
               own > 0       ? "nvml"
               : others == 0 ? "free memory"
                             : "not told");
  std::fprintf(out_file, " \"gone_bytes\": %llu,\n \"other_processes\": %d,\n",
               (unsigned long long)gone, others);
  const std::uint64_t with_work = free_bytes();
  check(empty_kernel(), "first kernel");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::fprintf(out_file, " \"first_kernel_bytes\": %llu,\n",
               (unsigned long long)(with_work - free_bytes()));
  print_libraries();
  std::fprintf(out_file, " \"granularity_bytes\": %llu,\n \"address_order\": \"%s\",\n",
               (unsigned long long)granularity(), address_order());
  std::fprintf(out_file, " ");
  print_spread("launch_ns", launch_overhead(repeats));
  std::fprintf(out_file, ",\n ");
  print_spread("kernel_ns",
               spread_of(times_of([] { check(empty_kernel(), "launch"); }, repeats, nullptr)));
  std::fprintf(out_file, ",\n");
  print_rates(repeats);
  std::fprintf(out_file, " \"latencies\": [");
  const char* separator = "";
  for (std::uint64_t mib = 2; mib * kMiB <= free_bytes() / 4 && mib <= 4096; mib *= 2) {
    const Latency l = latency(mib * kMiB, repeats, memory);
    std::fprintf(out_file, "%s\n  {\"bytes\": %llu", separator, (unsigned long long)l.bytes);
    const std::pair<const char*, const Spread*> parts[] = {{"malloc_ns", &l.malloc_ns},
                                                           {"free_ns", &l.free_ns},
                                                           {"map_ns", &l.map_ns},
                                                           {"unmap_ns", &l.unmap_ns}};
    for (const auto& [key, spread] : parts) {
      std::fprintf(out_file, ", ");
      print_spread(key, *spread);
    }
    std::fprintf(out_file, "}");
    separator = ",";
  }
  std::fprintf(out_file, "],\n \"other_processes_after\": %d", memory.nvml().other_processes());
  std::fprintf(out_file, ",\n \"pytorch\": \"%s\"", pytorch);
  std::fprintf(out_file, ",\n \"date\": \"%s\",\n \"repeats\": %d,\n \"took_ns\": %llu\n}\n", date,
               repeats, (unsigned long long)(now_ns() - began));
  return 0;
}

}  // namespace

}  // namespace harness

int main(int argc, char** argv) {
  int repeats = 9;
  const char* pytorch = "";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--repeats")) repeats = std::max(1, std::atoi(argv[i + 1]));
    if (!std::strcmp(argv[i], "--pytorch")) pytorch = argv[i + 1];
    if (!std::strcmp(argv[i], "--out")) harness::out_file = std::fopen(argv[i + 1], "w");
  }
  if (harness::out_file == nullptr) {
    std::fprintf(stderr, "tidemark-probe: the output cannot be written\n");
    return 2;
  }
  try {
    const int code = harness::probe(repeats, pytorch);
    return std::fflush(harness::out_file) == 0 ? code : 2;
  } catch (const harness::DeviceError& error) {
    std::fprintf(stderr, "tidemark-probe: %s\n", error.what());
    return 1;
  }
}
