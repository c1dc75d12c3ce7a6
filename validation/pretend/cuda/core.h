#pragma once

// The pretend device's state and what its parts ask of one another. See ../README.md.

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace pretend {

constexpr size_t kMiB = size_t(1) << 20;
constexpr size_t kGiB = size_t(1) << 30;

enum class EventMode { Ready, Sync, Lag };
enum class VaOrder { Driver, Up, Down, Fresh, List };

struct Preset {
  const char* id;
  const char* name;
  int cc;          // 10 * major + minor
  size_t total;    // bytes the runtime reports
  size_t context;  // bytes gone once a context exists
  int sms;
  int l2;
  int smem_optin;  // bytes per block, opt-in
  int smem_sm;     // bytes per multiprocessor
  int threads_sm;
};

// A number, or an amount of memory ("24GiB"), of the environment.
uint64_t env_u64(const char* name, uint64_t dflt);

struct Config {
  Preset p;
  std::string name;
  int count = 1;
  size_t other = 0;  // taken by other processes
  size_t granularity = 2 * kMiB;
  size_t small_limit = kMiB;
  size_t copy_max = 1 * kMiB;
  bool backed = true;  // readable and writable from the host
  EventMode events = EventMode::Ready;
  uint64_t lag = 0;
  VaOrder va = VaOrder::Driver;
  std::vector<std::pair<uint64_t, uint64_t>> list;
  bool log_launch = false, log_sync = false, log_copy = false;
  bool trace_unknown = false;
  uint64_t fail_first = 0, fail_last = 0;  // the calls for memory that fail, counted from 1
  uint64_t lost_after = 0;  // pieces of work that the device still does; 0: never lost
  uint64_t nvml_us = 0;     // how long NVML takes to tell who is on the device
  uint64_t slow_us = 0;     // how much longer a call for memory takes
  uint64_t other_from = 0;  // other processes take other_more from this call for memory on
  size_t other_more = 0;
  // What NVML says: nothing (absent), no bytes of a process (na), other numbers for the processes
  // (container), its devices in another order (reversed), slices of a device (mig).
  bool nvml_absent = false, nvml_na = false, nvml_container = false;
  bool nvml_reversed = false, nvml_mig = false;
  std::string driver = "580.65.06";
  // How fast work is done; 0: events tell the time of this machine.
  double flops_per_s = 0, bytes_per_s = 0;
  uint64_t launch_ns = 0;   // the shortest kernel
  size_t first_kernel = 0;  // taken when the first one is given: code is loaded then
  FILE* log = nullptr;

  Config();
};

Config& cfg();

struct Stream {
  uint64_t id = 0;
  int dev = 0;
  int priority = 0;
  unsigned flags = 0;
  uint64_t enqueued = 0, done = 0;
  std::vector<std::pair<uint64_t, std::pair<Stream*, uint64_t>>> waits;  // at -> (stream, ticket)
  std::map<uint64_t, uint64_t> touched;  // memory that queued work uses -> ticket of the last
  uint64_t clock_ns = 0;                 // when its work is done, where a rate is given
  bool capturing = false;
  uint64_t capture_id = 0;
  struct Graph* graph = nullptr;
};

struct Event {
  Stream* stream = nullptr;
  uint64_t ticket = 0;
  bool recorded = false;
  uint64_t ns = 0;
};

struct Graph {
  size_t nodes = 0;
};
struct GraphExec {
  Graph g;
};
struct Pool {
  int dev = 0;
  uint64_t threshold = 0, used = 0, used_high = 0, reserved_high = 0;
};
struct Kernel {
  const void* host = nullptr;
  std::string name;
  void** fat = nullptr;
};

struct Ranges {  // free address ranges
  std::map<uint64_t, uint64_t> free;
  void add(uint64_t a, uint64_t n) {
    auto it = free.lower_bound(a);
    if (it != free.begin()) {
      auto pr = std::prev(it);
      if (pr->first + pr->second == a) {
        a = pr->first;
        n += pr->second;
        free.erase(pr);
      }
    }
    it = free.lower_bound(a);
    if (it != free.end() && a + n == it->first) {
      n += it->second;
      free.erase(it);
    }
    free[a] = n;
  }
  uint64_t take_low(uint64_t n, uint64_t align) {
    for (auto it = free.begin(); it != free.end(); ++it) {
      uint64_t a = (it->first + align - 1) / align * align;
      if (a + n <= it->first + it->second) {
        cut(it, a, n);
        return a;
      }
    }
    return 0;
  }
  uint64_t take_high(uint64_t n, uint64_t align) {
    for (auto it = free.rbegin(); it != free.rend(); ++it) {
      if (it->second < n) continue;
      uint64_t a = (it->first + it->second - n) / align * align;
      if (a >= it->first) {
        cut(free.find(it->first), a, n);
        return a;
      }
    }
    return 0;
  }
  bool take_at(uint64_t a, uint64_t n) {
    auto it = free.upper_bound(a);
    if (it == free.begin()) return false;
    --it;
    if (a < it->first || a + n > it->first + it->second) return false;
    cut(it, a, n);
    return true;
  }

 private:
  void cut(std::map<uint64_t, uint64_t>::iterator it, uint64_t a, uint64_t n) {
    uint64_t s = it->first, e = s + it->second;
    free.erase(it);
    if (a > s) free[s] = a - s;
    if (a + n < e) free[a + n] = e - (a + n);
  }
};

struct Alloc {
  size_t asked = 0, taken = 0;
  int dev = 0;
  bool small = false;
  Pool* pool = nullptr;
};

struct Chunk {
  uint64_t size = 0;
  Ranges holes;
};

struct Device {
  bool context = false;
  bool has_code = false;  // a kernel was given to it
  size_t used = 0;        // physical bytes taken by this process, context apart
  uint64_t base = 0, span = 0;
  Ranges va;
  uint64_t fresh = 0;
  std::map<uint64_t, Chunk> chunks;  // VaOrder::Driver
  std::map<uint64_t, Ranges>
      small;  // 2 MiB block -> its free pieces (apart, so that none spans two blocks)
  std::map<uint64_t, size_t> small_blocks;
  std::map<uint64_t, size_t> small_live;  // block -> live pieces
  Stream null_stream;
  Pool pool;
};

struct Physical {
  size_t size = 0;
  int dev = 0;
  int refs = 1;
  bool host = false;
};
struct Mapping {
  size_t size = 0;
  uint64_t handle = 0;
};

struct State {
  std::recursive_mutex mu;
  std::vector<Device*> dev;
  std::map<uint64_t, Alloc> live;
  std::map<uint64_t, size_t> host;  // pinned ranges
  std::map<uint64_t, size_t> host_owned;
  std::map<uint64_t, size_t> reserved;  // VMM reservations
  std::map<uint64_t, Physical> phys;
  std::map<uint64_t, Mapping> mapped;
  uint64_t next_handle = 0x1000, next_capture = 1, next_stream = 1;
  Ranges vmm_va;
  std::unordered_set<Stream*> streams;
  std::unordered_set<Event*> events;
  std::unordered_map<const void*, Kernel*> kernels;
  std::unordered_set<const void*> kernel_handles;
  std::unordered_map<const void*, std::pair<uint64_t, size_t>> symbols;
  uint64_t seq = 0, work = 0, memory_calls = 0;
  double flops = 0, bytes = 0;  // all that was asked for
  bool faulted = false;         // memory in use was taken away: nothing works any more
  timespec t0{};
  State();
};

State& st();
using Lock = std::lock_guard<std::recursive_mutex>;

extern thread_local cudaError_t t_last;
extern thread_local int t_device;
extern thread_local CUcontext t_ctx_override;

// core.cc
// Keeps an error for cudaGetLastError, and hands it on.
cudaError_t ret(cudaError_t e);
uint64_t now_ns();
// What is left of a device: its total less the context, other processes and what is taken.
size_t free_bytes(int d);
void logf(const char* op, int dev, uint64_t stream, uint64_t addr, uint64_t bytes, uint64_t taken,
          const char* note = "");
bool bad_dev(int d);
// The device, its context made.
Device& context(int d);

// faults.cc
// Whether the device has been lost: from then on every call fails.
bool lost();
// Waits as long as a slow driver would.
void take_time();
// Counts a call that asks the driver for memory, and waits as a slow driver would; true: it is to
// fail.
bool refuse_memory();
// Counts work given to the device, which may be the last that it does.
void work_given();
// Loses the device where queued work still uses memory in [a, a + n).
void refuse_in_flight(uint64_t a, size_t n);

// addresses.cc
uint64_t take_va(Device& v, size_t n);
void give_va(Device& v, uint64_t a, size_t n);

// memory.cc
void open_range(uint64_t a, size_t n);
void close_range(uint64_t a, size_t n);
cudaError_t dev_malloc(void** out, size_t bytes, int d, Pool* pool = nullptr);
cudaError_t dev_free(void* p, bool syncs = true);
bool in_device(const void* p);
bool device_accessible(const void* p, size_t n);
CUresult mem_create(CUmemGenericAllocationHandle* h, size_t size, const CUmemAllocationProp* prop);
void phys_unref(uint64_t id);

// streams.cc
Stream* as_stream(cudaStream_t s);
void finish_stream(Stream* s, uint64_t upto);
void finish_device(int d);
void enqueue(Stream* s);
// Memory that the work queued last on a stream uses.
void touch(Stream* s, const void* p);
// So much arithmetic and traffic of the work queued last on a stream.
void took(Stream* s, double flops, double bytes);
bool complete(const Event* e);
void do_copy(void* dst, const void* src, size_t n);
cudaError_t copy_on(void* dst, const void* src, size_t n, cudaStream_t s, bool sync);
cudaError_t set_on(void* dst, int value, size_t n, cudaStream_t s);
cudaError_t launch(const void* f, cudaStream_t s, dim3 g, dim3 b, void** args = nullptr);

// runtime_device.cc, runtime_launch.cc
int attribute(int a, int d);
int sm_limit_blocks(int threads, size_t smem);

// driver.cc
// Looks a driver function up by the name a caller uses.
void* driver_symbol(const char* name);

}  // namespace pretend
