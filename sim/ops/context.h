#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/device_spec.h"
#include "sim/base/release.h"
#include "sim/ops/cublas.h"
#include "sim/ops/node.h"
#include "sim/ops/tensor.h"
#include "sim/ops/values/generator.h"

namespace tidemark::ops {

struct ReleaseRules;
class Tracer;

/// What limits a kernel's speed: the clock knows a rate for each.
enum class KernelClass : std::uint8_t {
  kElementwise,
  kReduction,
  kMatmul,
  kConvolution,
  kTurnedConvolution,  ///< its operands lie in order; tensor cores read channels last
  kAttention,
};

/// Who keeps the computation graph and the texts that say where an event came from. Implemented by
/// the graph floor.
class Recorder {
 public:
  virtual ~Recorder() = default;
  /// A vertex for one operator call. `inputs` are the tensors it reads; `node`, if not null, has
  /// the edges that its gradients follow.
  virtual std::uint32_t add_op(std::string_view name, std::uint32_t module_label,
                               const std::vector<const Tensor*>& inputs, Node* node) = 0;
  /// The operator has written into a tensor.
  virtual void writes(const Tensor& /*tensor*/) {}
  /// The text under which events are filed from here on; `op` is static text.
  virtual void set_label(std::uint32_t module_label, std::string_view op) = 0;
  /// Work queued on the device's current stream, for the clock only.
  virtual void launch(Device device, std::uint64_t flops, std::uint64_t bytes_moved,
                      KernelClass kind, ScalarType precision) = 0;
  /// From here on work of `device` goes to `stream`.
  virtual void set_stream(Device /*device*/, std::uint16_t /*stream*/) {}
  /// Bytes cross between the host and a device on the device's current stream. `host_waits`: until
  /// everything queued on that stream is done.
  virtual void copy(Device /*from*/, Device /*to*/, Bytes /*bytes*/, bool /*host_waits*/) {}
  /// A new event is recorded on a stream: its number. / What is queued on a stream from here on
  /// waits for it.
  virtual std::uint32_t record(Device /*device*/, std::uint16_t /*stream*/) { return 0; }
  virtual void wait(std::uint32_t /*event*/, Device /*device*/, std::uint16_t /*stream*/) {}
  /// What follows runs in autograd's thread, or in the program's own again.
  virtual void enter_thread(bool /*is_engine*/) {}
};

/// The switches of torch.backends and the environment that change what is allocated.
struct Backends {
  bool cudnn = true;  ///< torch.backends.cudnn.enabled
  bool cudnn_benchmark = false;
  bool deterministic = false;      ///< torch.use_deterministic_algorithms
  bool tf32 = false;               ///< torch.backends.cuda.matmul.allow_tf32: products
  bool cudnn_tf32 = true;          ///< torch.backends.cudnn.allow_tf32: convolutions
  bool fp16_accumulation = false;  ///< torch.backends.cuda.matmul.allow_fp16_accumulation
  Bytes cudnn_workspace = 0;       ///< what each convolution is taken to ask for
  bool cudnn_sdp = true;
  bool flash_sdp = true;
  bool mem_efficient_sdp = true;
  bool math_sdp = true;
  CublasSettings cublas;  ///< before what the environment says
};

/// Autocast of one thread. Source: docs/rules/autocast.md.
struct Autocast {
  bool enabled = false;
  ScalarType dtype = ScalarType::kFloat16;
  bool cache_enabled = true;
  int nesting = 0;
};

/// Packs a tensor that is about to be saved (torch.autograd.graph.saved_tensors_hooks,
/// checkpointing).
using PackHook = std::function<Ref<PackedTensor>(const Tensor&)>;

/// What PyTorch keeps per host thread: the one that runs the script, and the autograd engine's.
struct Thread {
  bool is_engine = false;
  bool grad_enabled = true;
  bool inference_mode = false;
  bool retains_graph = false;  ///< the backward pass under way leaves what was saved
  Autocast autocast;
  std::uint64_t next_sequence = 0;
  std::vector<PackHook> pack_hooks;  ///< the innermost, the last, counts
  /// What is to run when the backward pass under way has ended; null: none is.
  std::vector<std::function<void()>>* final_callbacks = nullptr;
  std::vector<std::pair<Device, std::size_t>> cublas_handles;  ///< one a device; into the context's
  /// Convolutions that torch.backends.cudnn.benchmark has timed on this thread, by their numbers.
  std::set<std::vector<std::int64_t>> timed_convolutions;
};

/// A cuBLAS handle with the workspaces that are kept, cuBLAS's and cuBLASLt's, by stream: made at
/// the first use, freed by clear_cublas_workspaces alone. Source: docs/rules/products.md#4.
struct CublasHandle {
  Device device;
  std::vector<std::pair<std::uint16_t, Tensor>> workspaces;
  std::vector<std::pair<std::uint16_t, Tensor>> lt_workspaces;
};

/// A weight cast by autocast, kept until the outermost autocast region ends. `key` keeps the source
/// alive, as PyTorch does with a weak reference that it checks.
struct CastCacheEntry {
  Tensor source;
  Tensor cast;
};

/// Everything an operator needs to run: memory, device, settings, thread.
class Context {
 public:
  Context(Memory& memory, Recorder& recorder, const DeviceSpec& device);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] const DeviceSpec& spec() const { return spec_; }
  [[nodiscard]] Recorder& recorder() const { return recorder_; }
  [[nodiscard]] Memory& memory() const { return memory_; }
  [[nodiscard]] Thread& thread() const { return *thread_; }
  void set_thread(Thread& thread) { thread_ = &thread; }
  [[nodiscard]] bool grad_enabled() const { return thread_->grad_enabled; }
  /// What PyTorch does where its releases differ; the default release's until told otherwise.
  [[nodiscard]] const ReleaseRules& rules() const { return *rules_; }
  [[nodiscard]] const Wheel& pytorch() const { return pytorch_; }
  void set_pytorch(const Wheel& wheel);

  /// The host's random generators by number; the first is torch.default_generator. They live as
  /// long as the context.
  [[nodiscard]] Generator& generator(std::size_t number) { return generators_[number]; }
  /// How many elements of a mask are not zero, where that decides a size. What is not known is
  /// `count_unknown`'s to say; without it there are none.
  [[nodiscard]] std::int64_t count_nonzero(const Tensor& mask) const;
  std::function<std::int64_t(const Tensor& mask)> count_unknown;
  /// Numbers of a tensor, for something that acts by them; nullopt: not known.
  [[nodiscard]] std::optional<Numbers> look_at(const Tensor& tensor) const;
  /// How often look_at() and count_nonzero() found numbers, and random ones among them.
  struct Looks {
    std::uint64_t all = 0;
    std::uint64_t random = 0;
    friend bool operator==(const Looks&, const Looks&) = default;
  };
  [[nodiscard]] const Looks& looks() const { return looks_; }
  std::size_t add_generator() {
    generators_.emplace_back();
    return generators_.size() - 1;
  }

  // ---- memory
  /// A new dense tensor; zero elements take no memory. Errors: OutOfMemory, OpError on sizes that
  /// overflow.
  Tensor empty(const Dims& sizes, ScalarType dtype, Device device);
  Tensor empty_strided(const Dims& sizes, const Dims& strides, ScalarType dtype, Device device);
  /// torch.empty_like with memory_format=preserve: dense inputs keep their strides.
  Tensor empty_like(const Tensor& like) { return empty_like(like, like.dtype()); }
  Tensor empty_like(const Tensor& like, ScalarType dtype);
  Tensor empty_in(const Dims& sizes, MemoryFormat format, ScalarType dtype, Device device);
  /// A Python number on its way through an operator: a host tensor of one element, which takes no
  /// memory here.
  Tensor number(ScalarType type);
  /// Raw bytes for the length of a GPU's kernel: dies with the handle. Elsewhere it takes none.
  Tensor scratch(Bytes bytes, Device device);
  /// A storage whose memory somebody else asked for and gives back.
  Ref<Storage> memory_of_others(Bytes bytes, Device device);
  /// Another look at the storage of `base`: no memory, no history.
  static Tensor alias(const Tensor& base, const Dims& sizes, const Dims& strides,
                      std::int64_t offset);
  /// The same look, a new TensorImpl without history (tensor.detach(), variable_data()).
  static Tensor shallow_copy(const Tensor& tensor);

  /// A new tensor in pinned host memory.
  Tensor empty_pinned(const Dims& sizes, const Dims& strides, ScalarType dtype);
  /// The host reads one value of `tensor` through pinned memory and waits for it. Source: ATen's
  /// _local_scalar_dense_cuda. Does nothing for a tensor on the host.
  void read_value(const Tensor& tensor);
  /// A tensor's bytes cross between host and device, or stay on the device. Source: ATen's
  /// copy_kernel_cuda.
  void copy_across(const Tensor& from, const Tensor& to, bool non_blocking);

  // ---- streams
  /// The current stream of a device; 0 for the host.
  [[nodiscard]] std::uint16_t stream(Device device) const {
    const std::size_t at = static_cast<std::uint8_t>(device.index);
    return device.is_cuda() && at < streams_.size() ? streams_[at] : std::uint16_t{0};
  }
  void set_stream(Device device, std::uint16_t stream);
  /// The current streams, by device; as many devices as ever left the default one.
  [[nodiscard]] const std::vector<std::uint16_t>& streams() const { return streams_; }
  /// Some device had another current stream than its default one.
  [[nodiscard]] bool uses_streams() const { return !streams_.empty(); }

  // ---- work, for the clock only
  /// A kernel is queued on the device's current stream. Nothing for the host.
  void launch(Device device, std::uint64_t flops, std::uint64_t bytes_moved, KernelClass kind,
              ScalarType precision) {
    if (!device.is_cuda()) return;
    ++launches_;
    recorder_.launch(device, flops, bytes_moved, kind, precision);
  }
  /// How many kernels and copies were queued.
  [[nodiscard]] std::uint64_t launches() const { return launches_; }
  /// Device memory that is asked for from here on has request numbers from this one on.
  [[nodiscard]] RequestNumber next_request() const { return next_request_; }

  // ---- libraries
  /// A call of cuBLAS takes its workspace, of this thread and stream: kept from the first call on,
  /// or freed when it is queued. `calls`: so many in a row. Source: docs/rules/products.md#4.
  void cublas_workspace(Device device, std::int64_t calls = 1);
  /// The same for a product with the bias epilogue, which cuBLASLt computes.
  void cublaslt_workspace(Device device);
  /// What the program's environment says of these workspaces: PyTorch reads it at the first product
  /// on a device. False: that is past, and nothing changes. Requires: is_cublas_variable(name).
  bool set_cublas_environment(std::string_view name, std::string_view value);
  /// Every workspace that a handle holds, in the order in which they were made.
  template <class Function>
  void for_each_workspace(const Function& function) const {
    for (const CublasHandle& handle : cublas_handles_) {
      for (const auto& [of_stream, workspace] : handle.workspaces) function(workspace);
      for (const auto& [of_stream, workspace] : handle.lt_workspaces) function(workspace);
    }
  }
  /// Frees every workspace; the next product on a handle takes one anew.
  void clear_cublas_workspaces();
  /// A host thread ends: its cuBLAS handles wait for the next thread that wants one.
  void end_thread(Thread& thread);

  // ---- labels
  std::uint32_t module_label = 0;  ///< path of the module whose forward runs
  std::string_view op_label;       ///< operator or node

  Tracer* tracer = nullptr;  ///< code is being compiled; null: it runs
  Backends backends;
  /// torch.get_default_dtype(): of new tensors without a dtype, and of Python's floats.
  ScalarType default_dtype = ScalarType::kFloat32;
  /// torch.get_default_device(): of new tensors without a device.
  Device default_device = kHost;
  Thread main_thread;
  Thread engine_thread;
  std::vector<CastCacheEntry> cast_cache;  ///< one for the process, as in PyTorch
  /// Backward functions run of nodes made before `early_vertex`.
  std::uint32_t early_vertex = 0;
  std::uint64_t early_backwards = 0;

 private:
  void count_look(const Tensor& tensor) const;
  std::deque<Generator> generators_{1};
  mutable Looks looks_;
  CublasHandle& cublas_handle(Device device);
  void keep_workspace(Device device, bool lt, Bytes bytes);
  [[nodiscard]] Bytes cublas_workspace_bytes() const;
  [[nodiscard]] bool keeps_workspaces() const;
  CublasSettings cublas_environment_;
  bool has_read_cublas_environment_ = false;

  std::uint64_t launches_ = 0;
  RequestNumber next_request_ = 0;
  std::vector<std::uint16_t> streams_;
  std::vector<CublasHandle> cublas_handles_;
  std::vector<std::size_t> free_cublas_handles_;  ///< the last is taken first
  Memory& memory_;
  Recorder& recorder_;
  const DeviceSpec& spec_;
  Wheel pytorch_;
  std::shared_ptr<const ReleaseRules> rules_;
  Thread* thread_;
};

/// Files events under an operator while it lives.
class LabelScope {
 public:
  LabelScope(Context& c, std::string_view op) : LabelScope(c, op, c.module_label) {}
  LabelScope(Context& c, std::string_view op, std::uint32_t module_label)
      : c_(c), op_(c.op_label), module_(c.module_label) {
    c_.op_label = op;
    c_.module_label = module_label;
    c_.recorder().set_label(module_label, op);
  }
  ~LabelScope() {
    c_.op_label = op_;
    c_.module_label = module_;
    c_.recorder().set_label(module_, op_);
  }
  LabelScope(const LabelScope&) = delete;
  LabelScope& operator=(const LabelScope&) = delete;

 private:
  Context& c_;
  std::string_view op_;
  std::uint32_t module_;
};

/// Turns gradient recording off (or on) on the current thread while it lives.
class GradMode {
 public:
  GradMode(Context& c, bool enabled) : thread_(c.thread()), before_(thread_.grad_enabled) {
    thread_.grad_enabled = enabled;
  }
  ~GradMode() { thread_.grad_enabled = before_; }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  Thread& thread_;
  bool before_;
};

}  // namespace tidemark::ops
