// Executes a plan on a CUDA device and writes what the device did.
//
//   tidemark-cuda PLAN --out FOLDER [--mode allocator|native|async] [--kernels run|time|skip]
//
// allocator: Tidemark's places and driver calls; native: a cudaMalloc for each request; async: a
// cudaMallocAsync. Exit codes: 0 done (out of memory is a result too), 1 the device failed, 2 the
// plan or the command is wrong, 77 no device.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <set>

#include "validation/cuda/device.h"
#include "validation/cuda/kernels.h"
#include "validation/cuda/libraries.h"
#include "validation/cuda/plan.h"
#include "validation/cuda/results.h"

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
  std::string command;
};

struct Block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  int stream = 0;
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
      bases_[begin] = {memory_.reserve(end - begin), end - begin, 0};
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
        bases_[step.address] = {address, step.bytes, 0};
        took(step.bytes);
        results_.event("segment_alloc", address, step.bytes, 0, -1);
        return true;
      }
      case Kind::kSegmentFree: {
        if (!places()) return true;
        const std::uint64_t address = real(step.address);
        memory_.free(address);
        bases_.erase(step.address);
        reserved_ -= step.bytes;
        results_.event("segment_free", address, step.bytes, 0, -1);
        return true;
      }
      case Kind::kMap:
        if (!places()) return true;
        if (!memory_.map(real(step.address), step.bytes)) return refused(step.bytes, -1);
        took(step.bytes);
        results_.event("segment_map", real(step.address), step.bytes, 0, -1);
        return true;
      case Kind::kUnmap:
        if (!places()) return true;
        memory_.unmap(real(step.address), step.bytes);
        reserved_ -= step.bytes;
        results_.event("segment_unmap", real(step.address), step.bytes, 0, -1);
        return true;
      case Kind::kAlloc:
        return allocate(step);
      case Kind::kFree:
        if (places() && blocks_.count(step.id)) {
          const Block& block = blocks_[step.id];
          results_.event("free_requested", block.address, block.bytes, block.stream,
                         std::int64_t(step.id));
        }
        return true;
      case Kind::kDone:
        free(step.id);
        return true;
      case Kind::kOom: {
        // The plan says that this fails: does it?
        const std::uint64_t address = memory_.allocate(step.bytes);
        if (address == 0 && plan_.goes_on) {
          results_.event("oom", memory_.free_now(), step.bytes, 0, std::int64_t(step.id));
          return true;
        }
        if (address == 0) return refused(step.bytes, std::int64_t(step.id));
        memory_.free(address);
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
      case Kind::kMark:
        results_.mark(step.text);
        return true;
      case Kind::kUse:
        return true;
    }
    return true;
  }

  bool allocate(const Step& step) {
    Block block{0, step.bytes, step.stream};
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
    return true;
  }

  void free(std::uint64_t id) {
    const auto at = blocks_.find(id);
    if (at == blocks_.end()) return;
    const Block block = at->second;
    blocks_.erase(at);
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
    Results::Kernel result{kernel, "kernel", -1, 0};
    const auto give = [&] { give_to_device(kernel, step, result); };
    if (options_.kernels != Kernels::kTime || !timed_.insert(step.id).second) return give();
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    check(cudaEventRecord(begin, stream(step.stream)), "cudaEventRecord");
    give();
    check(cudaEventRecord(end, stream(step.stream)), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    check(cudaEventDestroy(begin), "cudaEventDestroy");
    check(cudaEventDestroy(end), "cudaEventDestroy");
    result.ns = std::uint64_t(double(ms) * 1e6);
    results_.kernel(std::move(result));
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
  void give_to_device(const Kernel& kernel, const Step& step, Results::Kernel& result) {
    const Answer answer = run_by_library(kernel, places(kernel, step), stream(step.stream));
    result.workspace_bytes = answer.workspace_bytes;
    if (answer.ran) {
      result.by = kernel.kind == "matmul" ? "cublas" : "cudnn";
      check(cudaGetLastError(), kernel.op.c_str());
      return;
    }
    const Block& block = written(kernel, step);
    void* p = reinterpret_cast<void*>(block.address);
    if (kernel.kind == "matmul" && p != nullptr &&
        square_product(kernel.precision, kernel.flops, p, block.bytes, stream(step.stream))) {
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
  std::map<std::uint64_t, Block> bases_;  // simulated begin -> where it is
  std::map<std::uint64_t, Block> blocks_;
  std::map<int, cudaStream_t> streams_;
  std::map<std::uint64_t, cudaEvent_t> events_;
  std::set<std::uint64_t> timed_;  // kernels
  Block last_;                     // what kernels work on
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
               "[--kernels run|time|skip]\n");
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
  summary.pretend = dlsym(RTLD_DEFAULT, "fakecuda_note") != nullptr;
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
