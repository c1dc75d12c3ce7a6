// Executes a plan on a CUDA device and writes what the device did.
//
//   tidemark-cuda PLAN --out FOLDER [--mode allocator|native|async] [--kernels run|time|skip]
//     [--repeats N]
//
// allocator: Tidemark's places and driver calls; native: a cudaMalloc for each request; async: a
// cudaMallocAsync. Exit codes: 0 done (out of memory is a result too), 1 the device failed, 2 the
// plan or the command is wrong, 77 no device.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "validation/cuda/device.h"
#include "validation/cuda/kernels.h"
#include "validation/cuda/libraries.h"
#include "validation/cuda/plan.h"
#include "validation/cuda/results.h"
#include "validation/cuda/workspaces.h"

namespace harness {

namespace {

using Kind = Step::Kind;

enum class Mode { kAllocator, kNative, kAsync };
enum class Kernels { kRun, kTime, kSkip };

struct Options {
  std::string plan;
  std::string out;
  Mode mode = Mode::kAllocator;
  Kernels kernels = Kernels::kRun;
  int repeats = 5;  ///< of each timed kernel, after one that is not timed
  std::string command;
};

struct Block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  int stream = 0;
  std::uint64_t simulated = 0;  ///< its address in the plan
  std::set<int> used_on;        ///< other streams, by record_stream
  std::vector<cudaEvent_t> pending;
};

class Execution {
 public:
  Execution(const Plan& plan, const Options& options, Results& results)
      : plan_(plan), options_(options), results_(results), memory_(results) {
    if (options.mode == Mode::kAllocator) reserve_ranges();
  }

  /// Whether the plan ended as foreseen or the device ran out of memory; false: it did.
  void run() {
    for (const Step& step : plan_.steps) {
      if (!execute(step)) return;
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  [[nodiscard]] const Memory& memory() const { return memory_; }
  [[nodiscard]] std::uint64_t reserved_peak() const { return reserved_peak_; }
  [[nodiscard]] bool out_of_memory() const { return !oom_message_.empty(); }
  [[nodiscard]] std::uint64_t early() const { return early_; }
  [[nodiscard]] const std::string& oom_message() const { return oom_message_; }

 private:
  [[nodiscard]] bool places() const { return options_.mode == Mode::kAllocator; }

  /// Addresses for every range that the plan ever maps: a mapped page keeps its neighbours.
  void reserve_ranges() {
    std::map<std::uint64_t, std::uint64_t> ranges;  // begin -> end, as simulated
    for (const Step& step : plan_.steps) {
      if (step.kind != Kind::kMap) continue;
      std::uint64_t begin = step.address;
      std::uint64_t end = step.address + step.bytes;
      auto at = ranges.upper_bound(end);
      while (at != ranges.begin()) {
        --at;
        if (at->second < begin) break;
        begin = std::min(begin, at->first);
        end = std::max(end, at->second);
        at = ranges.erase(at);
      }
      ranges[begin] = end;
    }
    for (const auto& [begin, end] : ranges)
      bases_[begin] = {memory_.reserve(end - begin), end - begin, 0, begin, {}, {}};
  }

  /// Where a simulated address lies on the device; 0: nowhere.
  [[nodiscard]] std::uint64_t real(std::uint64_t simulated) const {
    auto at = bases_.upper_bound(simulated);
    if (at == bases_.begin()) return 0;
    --at;
    const std::uint64_t offset = simulated - at->first;
    return offset < at->second.bytes ? at->second.address + offset : 0;
  }

  cudaStream_t stream(int number) {
    if (number <= 0) return nullptr;
    cudaStream_t& made = streams_[number];
    if (made == nullptr) {
      check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    }
    return made;
  }

  void took(std::uint64_t bytes) {
    reserved_ += bytes;
    reserved_peak_ = std::max(reserved_peak_, reserved_);
  }

  bool refused(std::uint64_t bytes, std::int64_t id) {
    results_.event("oom", memory_.free_now(), bytes, 0, id);
    oom_message_ = "the device refused " + std::to_string(bytes) + " bytes";
    return false;
  }

  /// False: the device ran out of memory, and the plan ends.
  bool execute(const Step& step) {
    switch (step.kind) {
      case Kind::kSegment: {
        if (!places()) return true;
        const std::uint64_t address = memory_.allocate(step.bytes);
        if (address == 0) return refused(step.bytes, -1);
        bases_[step.address] = {address, step.bytes, 0, step.address, {}, {}};
        took(step.bytes);
        results_.event("segment_alloc", address, step.bytes, step.stream, -1);
        return true;
      }
      case Kind::kSegmentFree: {
        if (!places()) return true;
        const std::uint64_t address = real(step.address);
        memory_.free(address);
        bases_.erase(step.address);
        reserved_ -= step.bytes;
        results_.event("segment_free", address, step.bytes, step.stream, -1);
        return true;
      }
      case Kind::kMap:
        if (!places()) return true;
        if (!memory_.map(real(step.address), step.bytes, step.page)) return refused(step.bytes, -1);
        took(step.bytes);
        pages_[step.address] = {step.bytes, step.page, step.stream};
        results_.event("segment_map", real(step.address), step.bytes, step.stream, -1);
        return true;
      case Kind::kUnmap:
        if (!places()) return true;
        memory_.unmap(real(step.address), step.bytes, stream(step.stream));
        forget_pages(step.address, step.bytes);
        reserved_ -= step.bytes;
        results_.event("segment_unmap", real(step.address), step.bytes, step.stream, -1);
        return true;
      case Kind::kAlloc:
        return allocate(step);
      case Kind::kFree:
        if (places() && blocks_.count(step.id)) {
          Block& block = blocks_[step.id];
          record_uses(block);
          results_.event("free_requested", block.address, block.bytes, block.stream,
                         std::int64_t(step.id));
        }
        return true;
      case Kind::kDone:
        free(step.id);
        return true;
      case Kind::kOom: {
        // The plan says that this fails: does it?
        if (is_there(step)) return true;
        if (!plan_.goes_on) return refused(step.bytes, std::int64_t(step.id));
        results_.event("oom", memory_.free_now(), step.bytes, 0, std::int64_t(step.id));
        return true;
      }
      case Kind::kLaunch:
        launch(step);
        return true;
      case Kind::kRecord: {
        cudaEvent_t& event = events_[step.id];
        if (event == nullptr)
          check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
        check(cudaEventRecord(event, stream(step.stream)), "cudaEventRecord");
        return true;
      }
      case Kind::kWait:
        if (events_.count(step.id))
          check(cudaStreamWaitEvent(stream(step.stream), events_[step.id], 0),
                "cudaStreamWaitEvent");
        return true;
      case Kind::kSync:
        check(
            step.stream < 0 ? cudaDeviceSynchronize() : cudaStreamSynchronize(stream(step.stream)),
            "synchronize");
        return true;
      case Kind::kSyncEvent:
        if (events_.count(step.id))
          check(cudaEventSynchronize(events_[step.id]), "cudaEventSynchronize");
        return true;
      case Kind::kMark:
        results_.mark(step.text);
        return true;
      case Kind::kUse:
        if (const auto block = blocks_.find(step.id);
            block != blocks_.end() && step.stream != block->second.stream)
          block->second.used_on.insert(step.stream);
        return true;
    }
    return true;
  }

  /// What the allocator asks the driver for before it refuses: a segment, or the pages of a range
  /// past what its last block leaves free.
  bool is_there(const Step& step) {
    std::uint64_t asked = places() ? step.asked : std::max<std::uint64_t>(step.bytes, 1);
    if (places() && reserved_ + asked > plan_.limit_bytes) return false;
    if (places() && step.page > 0) {
      const std::uint64_t spare = tail(step.stream, step.page);
      asked = step.bytes > spare ? (step.bytes - spare + step.page - 1) / step.page * step.page : 0;
      return memory_.try_pages(asked, step.page);
    }
    const std::uint64_t address = memory_.allocate(asked);
    if (address != 0) memory_.free(address);
    return address != 0;
  }

  /// Bytes mapped past the last block of a stream's range, at its end; of several ranges the most.
  [[nodiscard]] std::uint64_t tail(int stream, std::uint64_t page) const {
    std::uint64_t most = 0;
    for (auto at = pages_.begin(); at != pages_.end(); ++at) {
      const std::uint64_t end = at->first + at->second.bytes;
      const auto next = std::next(at);
      if (at->second.stream != stream || at->second.page != page ||
          (next != pages_.end() && next->first == end))
        continue;
      std::uint64_t free_from = at->first;
      for (const auto& [id, block] : blocks_) {
        if (block.simulated >= at->first && block.simulated < end)
          free_from = std::max(free_from, block.simulated + (block.bytes + 511) / 512 * 512);
      }
      most = std::max(most, end > free_from ? end - free_from : 0);
    }
    return most;
  }

  /// An unmap takes whole pages out of what several maps may have put there.
  void forget_pages(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t end = address + bytes;
    for (auto at = pages_.begin(); at != pages_.end();) {
      const std::uint64_t begin = at->first;
      const Mapped mapped = at->second;
      if (begin >= end || begin + mapped.bytes <= address) {
        ++at;
        continue;
      }
      at = pages_.erase(at);
      if (begin < address) pages_[begin] = {address - begin, mapped.page, mapped.stream};
      if (begin + mapped.bytes > end)
        pages_[end] = {begin + mapped.bytes - end, mapped.page, mapped.stream};
    }
  }

  /// As record_stream: the streams that used a block are marked when its owner drops it.
  void record_uses(Block& block) {
    for (const int each : block.used_on) {
      cudaEvent_t event = nullptr;
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
      check(cudaEventRecord(event, stream(each)), "cudaEventRecord");
      block.pending.push_back(event);
    }
    block.used_on.clear();
  }

  /// A block is free when the streams that used it are done with it: the plan says that they are.
  void finish_uses(const Block& block) {
    for (cudaEvent_t event : block.pending) {
      const cudaError_t error = cudaEventQuery(event);
      if (error == cudaErrorNotReady) {
        ++early_;
        check(cudaEventSynchronize(event), "cudaEventSynchronize");
      } else {
        check(error, "cudaEventQuery");
      }
      check(cudaEventDestroy(event), "cudaEventDestroy");
    }
  }

  bool allocate(const Step& step) {
    Block block{0, step.bytes, step.stream, step.address, {}, {}};
    if (places()) {
      block.address = real(step.address);
    } else {
      const std::uint64_t bytes = std::max<std::uint64_t>(step.bytes, 1);
      block.address = options_.mode == Mode::kNative
                          ? memory_.allocate(bytes)
                          : memory_.allocate_async(bytes, stream(step.stream));
      if (block.address == 0) return refused(step.bytes, std::int64_t(step.id));
      took(bytes);
    }
    results_.event("alloc", block.address, step.bytes, step.stream, std::int64_t(step.id));
    last_ = block;
    blocks_[step.id] = block;
    if (step.is_workspace)
      workspaces_.took(step.id, step.stream, {reinterpret_cast<void*>(block.address), block.bytes});
    return true;
  }

  void free(std::uint64_t id) {
    const auto at = blocks_.find(id);
    if (at == blocks_.end()) return;
    const Block block = at->second;
    blocks_.erase(at);
    finish_uses(block);
    workspaces_.dropped(id, block.stream, places());
    if (last_.address == block.address) last_ = {};
    if (places()) {
      results_.event("free_completed", block.address, block.bytes, block.stream, std::int64_t(id));
      return;
    }
    if (options_.mode == Mode::kNative) {
      memory_.free(block.address);
    } else {
      memory_.free_async(block.address, stream(block.stream));
    }
    reserved_ -= std::max<std::uint64_t>(block.bytes, 1);
    results_.event("free_completed", block.address, block.bytes, block.stream, std::int64_t(id));
  }

  void launch(const Step& step) {
    const Kernel& kernel = plan_.kernels[step.id];
    if (options_.kernels == Kernels::kSkip || kernel.kind == "none") return;
    Results::Kernel result{kernel, "kernel", -1, {}};
    Workspace workspace;
    if (kernel.kind == "matmul") workspace = workspaces_.next(step.stream, is_by_lt(kernel));
    const auto give = [&] { give_to_device(kernel, step, workspace, result); };
    if (options_.kernels != Kernels::kTime || !timed_.insert(step.id).second) return give();
    const Workspace spare = spare_for(kernel, step);
    if (spare.place != nullptr) workspace = spare;
    result.times = times_of(give, options_.repeats, stream(step.stream));
    if (spare.place != nullptr) check(cudaFree(spare.place), "cudaFree");
    results_.kernel(std::move(result));
  }

  /// What a convolution's plan asks for, where it is there: PyTorch's allocator would have it, the
  /// program's plan has not. It is gone again before the next step.
  Workspace spare_for(const Kernel& kernel, const Step& step) {
    if (kernel.kind != "convolution") return {};
    const Answer asked = run_by_library(kernel, places(kernel, step), {}, stream(step.stream));
    Workspace spare;
    if (asked.workspace_bytes <= 0) return spare;
    if (cudaMalloc(&spare.place, std::size_t(asked.workspace_bytes)) == cudaSuccess) {
      spare.bytes = std::uint64_t(asked.workspace_bytes);
    } else {
      spare.place = nullptr;
      cudaGetLastError();  // not enough memory is no failure of the device
    }
    return spare;
  }

  /// Where the operands of a launch lie; null: not told, or its memory is gone.
  [[nodiscard]] std::vector<void*> places(const Kernel& kernel, const Step& step) const {
    std::vector<void*> found;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      const bool is_input = i < kernel.inputs.size();
      const std::size_t at = is_input ? i : i - kernel.inputs.size();
      const std::vector<Operand>& operands = is_input ? kernel.inputs : kernel.outputs;
      const auto block =
          step.operands[i] < 0 ? blocks_.end() : blocks_.find(std::uint64_t(step.operands[i]));
      if (at >= operands.size() || block == blocks_.end()) {
        found.push_back(nullptr);
        continue;
      }
      const std::uint64_t offset = operands[at].offset * width_of(operands[at].dtype);
      found.push_back(reinterpret_cast<void*>(block->second.address + offset));
    }
    return found;
  }

  /// By the library that PyTorch takes, on the operands' own memory; else as work of that kind on
  /// what it writes, or on what was allocated last.
  void give_to_device(const Kernel& kernel, const Step& step, const Workspace& workspace,
                      Results::Kernel& result) {
    const Answer answer =
        run_by_library(kernel, places(kernel, step), workspace, stream(step.stream));
    result.workspace_bytes = answer.workspace_bytes;
    if (answer.ran) {
      result.by = kernel.kind != "matmul" ? "cudnn" : is_by_lt(kernel) ? "cublaslt" : "cublas";
      check(cudaGetLastError(), kernel.op.c_str());
      return;
    }
    const Block& block = written(kernel, step);
    void* p = reinterpret_cast<void*>(block.address);
    if (kernel.kind == "matmul" && p != nullptr &&
        square_product(kernel.precision, kernel.flops, p, block.bytes, stream(step.stream)) > 0) {
      result.by = "cublas, square";
      return check(cudaGetLastError(), kernel.op.c_str());
    }
    check(work(kernel.kind, kernel.flops, kernel.bytes, p, block.bytes, stream(step.stream)),
          kernel.op.c_str());
  }

  /// The memory of a kernel's first result, where it is told.
  [[nodiscard]] const Block& written(const Kernel& kernel, const Step& step) const {
    for (std::size_t i = kernel.inputs.size(); i < step.operands.size(); ++i) {
      if (step.operands[i] < 0) continue;
      const auto block = blocks_.find(std::uint64_t(step.operands[i]));
      if (block != blocks_.end() && block->second.address != 0) return block->second;
    }
    return last_;
  }

  static std::uint64_t width_of(const std::string& dtype) {
    if (dtype == "float16" || dtype == "bfloat16" || dtype == "int16") return 2;
    if (dtype == "float32" || dtype == "int32") return 4;
    if (dtype == "complex128") return 16;
    return dtype == "bool" || dtype == "uint8" || dtype == "int8" ? 1 : 8;
  }

  const Plan& plan_;
  const Options& options_;
  Results& results_;
  Memory memory_;
  struct Mapped {
    std::uint64_t bytes = 0;
    std::uint64_t page = 0;
    int stream = 0;
  };
  std::map<std::uint64_t, Block> bases_;   // simulated begin -> where it is
  std::map<std::uint64_t, Mapped> pages_;  // simulated begin -> what is mapped there
  std::uint64_t early_ = 0;                // blocks whose streams were not done with them yet
  std::map<std::uint64_t, Block> blocks_;
  std::map<int, cudaStream_t> streams_;
  std::map<std::uint64_t, cudaEvent_t> events_;
  std::set<std::uint64_t> timed_;  // kernels
  Block last_;                     // what kernels work on
  Workspaces workspaces_;          // of products
  std::uint64_t reserved_ = 0;
  std::uint64_t reserved_peak_ = 0;
  std::string oom_message_;
};

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

int parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    options.command += (i > 1 ? " " : "tidemark-cuda ") + word;
    if (word == "--out") {
      options.out = value;
    } else if (word == "--mode" && value == "allocator") {
      options.mode = Mode::kAllocator;
    } else if (word == "--mode" && value == "native") {
      options.mode = Mode::kNative;
    } else if (word == "--mode" && value == "async") {
      options.mode = Mode::kAsync;
    } else if (word == "--kernels" && value == "run") {
      options.kernels = Kernels::kRun;
    } else if (word == "--kernels" && value == "time") {
      options.kernels = Kernels::kTime;
    } else if (word == "--kernels" && value == "skip") {
      options.kernels = Kernels::kSkip;
    } else if (word == "--repeats" && std::atoi(value.c_str()) > 0) {
      options.repeats = std::atoi(value.c_str());
    } else if (options.plan.empty() && word.rfind("--", 0) != 0) {
      options.plan = word;
      continue;
    } else {
      std::fprintf(stderr, "tidemark-cuda: unexpected '%s'\n", word.c_str());
      return 2;
    }
    options.command += " " + value;
    ++i;
  }
  if (!options.plan.empty() && !options.out.empty()) return 0;
  std::fprintf(stderr,
               "usage: tidemark-cuda PLAN --out FOLDER [--mode allocator|native|async] "
               "[--kernels run|time|skip] [--repeats N]\n");
  return 2;
}

int execute(const Options& options) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "tidemark-cuda: no CUDA device\n");
    return 77;
  }
  const Plan plan = read_plan(options.plan);
  check(cudaSetDevice(0), "cudaSetDevice");
  check(cudaFree(nullptr), "context");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  Results results;
  Results::Summary summary;
  summary.name = plan.name;
  summary.device = properties.name;
  summary.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  summary.cuda =
      std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
  summary.date = today();
  summary.command = options.command;
  summary.pretend = is_pretend();
  summary.given_times = has_given_times();
  summary.total_bytes = properties.totalGlobalMem;
  Execution execution(plan, options, results);
  summary.driver = execution.memory().nvml().driver_version();
  try {
    execution.run();
  } catch (const DeviceError& error) {
    summary.error = error.what();
    std::fprintf(stderr, "tidemark-cuda: %s\n", error.what());
  }
  summary.free_at_start = execution.memory().free_at_start();
  summary.least_free = execution.memory().least_free();
  summary.reserved_peak = execution.reserved_peak();
  summary.ended_by_oom = execution.out_of_memory();
  summary.oom_message = execution.oom_message();
  summary.freed_early = execution.early();
  if (execution.early() > 0) {
    std::fprintf(stderr,
                 "tidemark-cuda: %llu blocks were still in use on other streams where the plan "
                 "has them free\n",
                 (unsigned long long)execution.early());
  }
  results.write(options.out, summary);
  return summary.error.empty() ? 0 : 1;
}

}  // namespace

}  // namespace harness

int main(int argc, char** argv) {
  harness::Options options;
  if (const int code = harness::parse(argc, argv, options)) return code;
  try {
    return harness::execute(options);
  } catch (const harness::DeviceError& error) {
    std::fprintf(stderr, "tidemark-cuda: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tidemark-cuda: %s\n", error.what());
    return 2;
  }
}
