#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/base/rank.h"
#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/ops/context.h"
#include "sim/torch/emitter/emitter.h"
#include "sim/torch/tensors/compiled_code.h"

namespace tidemark::torch {

/// Kinds of host objects, for lang::Object::host_kind().
enum HostKind : std::uint16_t {
  kTensorKind = 1,
  kModuleKind,
  kDTypeKind,
  kDeviceKind,
  kMemoryFormatKind,
  kStreamKind,
  kEventKind,
  kSessionKind,
  kCheckpointKind,
  kKeptResultsKind,
  kNodeKind,
  kAccumulatorKind,
  kGradNodeKind,
};

/// torch.dtype and torch.memory_format values, torch.device.
class DTypeObject final : public lang::HostObject {
 public:
  DTypeObject(lang::Heap& heap, Ref<lang::ClassObject> type, ops::ScalarType scalar)
      : HostObject(heap, std::move(type), kDTypeKind), dtype(scalar) {}
  static bool is(const lang::Object& o) { return o.host_kind() == kDTypeKind; }
  std::string repr(lang::Interp& interp) override;
  lang::Value get_missing_attr(lang::Interp& interp, lang::Name name) override;
  const ops::ScalarType dtype;
};

/// A place for tensors. `torch.device("cuda")` has no index: it is the device that is current when
/// it is used, and no other device equals it.
class DeviceObject final : public lang::HostObject {
 public:
  DeviceObject(lang::Heap& heap, Ref<lang::ClassObject> type, ops::Device where,
               bool names_index = true)
      : HostObject(heap, std::move(type), kDeviceKind), device(where), has_index(names_index) {}
  static bool is(const lang::Object& o) { return o.host_kind() == kDeviceKind; }
  std::string repr(lang::Interp& interp) override;
  std::string str(lang::Interp& interp) override;
  lang::Value get_missing_attr(lang::Interp& interp, lang::Name name) override;
  lang::Value compare(lang::Interp& interp, lang::CompareOp op, const lang::Value& other) override;
  std::optional<std::uint64_t> hash(lang::Interp& interp) override;
  const ops::Device device;
  const bool has_index;
};

class MemoryFormatObject final : public lang::HostObject {
 public:
  MemoryFormatObject(lang::Heap& heap, Ref<lang::ClassObject> type, ops::MemoryFormat which)
      : HostObject(heap, std::move(type), kMemoryFormatKind), format(which) {}
  static bool is(const lang::Object& o) { return o.host_kind() == kMemoryFormatKind; }
  std::string repr(lang::Interp& interp) override;
  const ops::MemoryFormat format;
};

/// What to do about an operator that is not modelled.
inline constexpr const char* kWayOut =
    "declare it as a custom op: docs/scenario.md; docs/language.md lists what is modelled";

/// What to do about compiled code that is not modelled.
inline constexpr const char* kRunAsEager =
    "'--compile eager' runs compiled code as eager, and says how far that errs: docs/compile.md";

class GradientRules;
class ModelWatch;
class OpTable;

/// How a DTensor is spread, as torch.distributed.tensor sees it.
struct SpreadBySpec final : ops::Spread {
  SpreadBySpec(lang::Value description, const ops::Dims& whole_sizes,
               const ops::Dims& whole_strides)
      : Spread(whole_sizes, whole_strides), spec(std::move(description)) {}
  const lang::Value spec;  ///< a DTensorSpec
};

/// What a session knows of DTensors, once a program has imported them.
struct DTensorClasses {
  Ref<lang::ClassObject> tensor;
  Ref<lang::ClassObject> parameter;  ///< of nn.Parameters
  /// dispatch(name, operator, args, kwargs): what an operator does that gets one.
  lang::Value dispatch;
  /// sum(stored, incoming): of gradients that meet.
  lang::Value sum;
  int inside = 0;  ///< calls under way that take DTensors for this rank's parts
};

/// A collective that has not been waited for: whoever first reads what it gives waits.
struct Unwaited {
  ops::RequestNumber result;  ///< the memory that it writes
  lang::Value work;           ///< a torch.distributed Work
};

/// Nodes of autograd's graph that the language holds an object for.
using NodeObjects = std::unordered_map<const ops::Node*, lang::HostObject*>;

/// One program in torch's words: the interpreter, the operators' context, and the classes and
/// objects that stand for torch in the language. Make it before any code runs, and add torch's
/// modules to it (namespaces/torch_module.h); destroy it after the interpreter's modules are gone.
class Session {
 public:
  /// Requires: at least one device.
  Session(lang::Interp& interp, Emitter& emitter, std::vector<DeviceSpec> devices,
          const Wheel& wheel);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  lang::Interp& interp;
  Emitter& emitter;
  const std::vector<DeviceSpec> devices;
  const int device_count;
  const Wheel wheel;  ///< the PyTorch that runs the program
  ops::Context c;
  ops::Device current_device{0};
  std::vector<ops::Device> default_devices;  ///< those outside the `with device:` under way

  // Classes.
  Ref<lang::ClassObject> tensor_class, parameter_class, module_class, size_class, dtype_class,
      device_class, memory_format_class, out_of_memory, node_class, handle_class;

  /// The language's object for a tensor: the same one as long as somebody holds it. None for an
  /// undefined one.
  lang::Value wrap(ops::Tensor tensor);
  lang::Value wrap(ops::Device device);
  lang::Value wrap(ops::ScalarType dtype) const;
  lang::Value size_of(const ops::Dims& dims);
  lang::Value tuple_of(const ops::TensorList& tensors);

  /// "cuda", "cuda:1", "cpu", a torch.device or an index. Errors: Python's RuntimeError.
  ops::Device device_from(const lang::Value& value);

  /// Runs an operator and turns its errors into Python's: OpError into RuntimeError (IndexError for
  /// a dimension out of range), OutOfMemory into torch.OutOfMemoryError, NotModelled into the end
  /// of the program with a message.
  template <class F>
  auto guarded(F&& body) {
    if (emitter.is_over()) [[unlikely]]
      end_program();
    try {
      return body();
    } catch (const ops::NotModelled& e) {
      interp.refuse(e.what(), kWayOut);
    } catch (const ops::OpError& e) {
      raise_op_error(e);
    } catch (const ops::OutOfMemory& e) {
      interp.raise(*out_of_memory, e.what());
    }
  }
  [[noreturn]] void raise_op_error(const ops::OpError& error);
  /// The time is up at which the program is to end: what it holds stays, as at its own end.
  void end_program();
  std::function<void()> at_end_of_time;  ///< tells of it; null: no end is set

  std::unordered_map<std::uint8_t, lang::Value> dtypes;  ///< by ScalarType
  std::unordered_map<std::uint8_t, lang::Value> formats;
  /// torch.return_types, by name.
  std::unordered_map<std::string, Ref<lang::ClassObject>> return_types;
  /// The process that the program is, of a job of several; none: it was not started as one.
  std::optional<Rank> rank;
  DTensorClasses dtensors;
  std::shared_ptr<NodeObjects> node_objects;
  std::vector<Unwaited> unwaited;  ///< in the order in which they began
  /// Null until gradients can be more than plain memory.
  std::unique_ptr<GradientRules> gradient_rules;
  /// Waits for what writes a tensor's memory, if that is under way.
  void wait_for(const ops::Tensor& tensor);
  std::uint64_t backwards = 0;             ///< backward passes begun
  std::int64_t numbered_passes = 0;        ///< backward passes that hooks asked the number of
  std::vector<std::uint16_t> next_stream;  ///< of each pool of streams, four a device
  /// Host threads that the program started and waits for, one after another.
  std::vector<std::unique_ptr<ops::Thread>> workers;
  ModelWatch* watch = nullptr;           ///< looks on; null: nobody does
  lang::Decisions* decisions = nullptr;  ///< null: what is not known counts as zero
  CompileMode compile = CompileMode::kModel;
  /// What torch.compile keeps of a function's code, with gradients and without.
  std::map<const void*, std::shared_ptr<void>> compiled_code;
  bool has_compiled = false;  ///< something, in this process
  /// Of the DistributedDataParallel whose module runs: bytes of a bucket. 0: compiled code is not
  /// split.
  Bytes bucket_cap = 0;
  /// Lists that index tensors of a device in the code that is captured: the bytes of each.
  std::vector<std::pair<Bytes, ops::Device>> lifted;
  std::int64_t compiled_calls = 0;   ///< of compiled functions, so far
  std::int64_t graph_functions = 0;  ///< passes that run as CUDA graphs, so far
  bool has_traced_patterns = false;  ///< inductor's, for code that its cache does not keep
  std::string
      allocator_conf;  ///< what the program's os.environ asks of the allocator; empty: nothing
  bool unknown_number = false;  ///< one is among the arguments of the call under way
  std::size_t generators = 1;   ///< of the host's random numbers
  bool moves_module = false;    ///< a module is being moved: what is copied is no input

  /// Drops what the session itself holds of the language. Call it when the program has ended,
  /// before the interpreter goes.
  void release();

  [[nodiscard]] OpTable& op_table() { return *ops_; }

 private:
  void add_values();
  std::unique_ptr<OpTable> ops_;
};

/// The session that an interpreter belongs to; for host code that gets nothing else. Requires:
/// there is one.
Session& session_of(lang::Interp& interp);

}  // namespace tidemark::torch
