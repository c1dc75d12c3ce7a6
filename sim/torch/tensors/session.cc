#include "sim/torch/tensors/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "sim/lang/runtime/rank_value.h"
#include "sim/ops/index_error.h"
#include "sim/torch/autograd/autograd.h"
#include "sim/torch/tensors/op_binding.h"
#include "sim/torch/tensors/own_device.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Value;

namespace {

/// Kinds of devices that can be named and that no tensor is on here.
constexpr std::array<std::string_view, 18> kNamedOnly = {
    "mps",    "xpu",  "xla",  "mtia",   "hpu", "ipu",    "hip", "vulkan", "maia",
    "mkldnn", "fpga", "lazy", "opengl", "ve",  "opencl", "ort", "ideep",  "privateuseone"};
constexpr int kFirstNamed = ops::kMeta.index - 1;

std::string_view type_of(ops::Device device) {
  if (device.is_cuda()) return "cuda";
  if (device == ops::kMeta) return "meta";
  return device.index > kFirstNamed
             ? "cpu"
             : kNamedOnly[static_cast<std::size_t>(kFirstNamed - device.index)];
}

/// The device of a kind that can only be named.
std::optional<ops::Device> named_only(const Value& name) {
  const auto* text = name.as<lang::Str>();
  if (text == nullptr) return std::nullopt;
  const auto* found = std::find(kNamedOnly.begin(), kNamedOnly.end(), text->text());
  if (found == kNamedOnly.end()) return std::nullopt;
  return ops::Device{static_cast<std::int8_t>(kFirstNamed - (found - kNamedOnly.begin()))};
}

}  // namespace

std::string DTypeObject::repr(lang::Interp& /*interp*/) {
  return fmt::format("torch.{}", ops::info(dtype).name);
}
Value DTypeObject::get_missing_attr(lang::Interp& interp, lang::Name name) {
  const std::string_view text = interp.text(name);
  if (text == "is_floating_point") return Value::boolean(ops::is_floating(dtype));
  if (text == "is_complex") return Value::boolean(ops::is_complex(dtype));
  if (text == "is_signed")
    return Value::boolean(dtype != ops::ScalarType::kBool && dtype != ops::ScalarType::kUInt8);
  if (text == "itemsize")
    return Value::integer(static_cast<std::int64_t>(ops::element_bytes(dtype)));
  return {};
}

namespace {

/// Its number is read, which is another on other ranks where it is the own device of this one.
void read_number(lang::Interp& interp, ops::Device device) {
  lang::Alike* alike = lang::alike_of(interp);
  const bool is_own = alike != nullptr && device.is_cuda() && device.index == alike->job().local();
  if (is_own) (void)lang::pinned(interp, alike->local_rank(interp));
}

}  // namespace

std::string DeviceObject::str(lang::Interp& interp) {
  if (has_index) read_number(interp, device);
  return device.is_cuda() && has_index ? fmt::format("cuda:{}", device.index)
                                       : std::string(type_of(device));
}
std::string DeviceObject::repr(lang::Interp& interp) {
  if (has_index) read_number(interp, device);
  if (!device.is_cuda() || !has_index) return fmt::format("device(type='{}')", type_of(device));
  return fmt::format("device(type='cuda', index={})", device.index);
}
Value device_number(lang::Interp& interp, ops::Device device) {
  lang::Alike* alike = lang::alike_of(interp);
  const bool is_own = alike != nullptr && device.index == alike->job().local();
  return is_own ? alike->local_rank(interp) : Value::integer(device.index);
}
Value DeviceObject::get_missing_attr(lang::Interp& interp, lang::Name name) {
  const std::string_view text = interp.text(name);
  if (text == "type") return interp.str(std::string(type_of(device)));
  if (text == "index")
    return device.is_cuda() && has_index ? device_number(interp, device) : Value::none();
  return {};
}
Value DeviceObject::compare(lang::Interp& /*interp*/, lang::CompareOp op, const Value& other) {
  if (op != lang::CompareOp::kEq && op != lang::CompareOp::kNe) return {};
  const auto* device_object = other.as<DeviceObject>();
  if (device_object == nullptr) return {};
  const bool equal = has_index == device_object->has_index &&
                     (device == device_object->device || (device.is_cuda() && !has_index));
  return Value::boolean(equal == (op == lang::CompareOp::kEq));
}
std::optional<std::uint64_t> DeviceObject::hash(lang::Interp& /*interp*/) {
  if (!has_index) return 0x100;
  return static_cast<std::uint64_t>(device.index - INT8_MIN);
}

std::string MemoryFormatObject::repr(lang::Interp& /*interp*/) {
  switch (format) {
    case ops::MemoryFormat::kContiguous:
      return "torch.contiguous_format";
    case ops::MemoryFormat::kChannelsLast:
      return "torch.channels_last";
    case ops::MemoryFormat::kChannelsLast3d:
      return "torch.channels_last_3d";
    case ops::MemoryFormat::kPreserve:
      return "torch.preserve_format";
  }
  return {};
}

namespace {

constexpr std::string_view kSessionName = "__tidemark_session__";

/// Carries the session through the language to where only the interpreter is at hand.
class SessionObject final : public lang::HostObject {
 public:
  SessionObject(lang::Heap& heap, Ref<lang::ClassObject> type, Session& owner)
      : HostObject(heap, std::move(type), kSessionKind), session(owner) {}
  static bool is(const lang::Object& o) { return o.host_kind() == kSessionKind; }
  Session& session;
};

}  // namespace

Session& session_of(lang::Interp& interp) {
  return interp.find_builtin(interp.intern(kSessionName))->as<SessionObject>()->session;
}

Session::Session(lang::Interp& interpreter, Emitter& emit, std::vector<DeviceSpec> specs,
                 const Wheel& pytorch)
    : interp(interpreter),
      emitter(emit),
      devices(std::move(specs)),
      device_count(static_cast<int>(devices.size())),
      wheel(pytorch),
      c(emit, emit, devices.front()),
      ops_(std::make_unique<OpTable>(*this)) {
  c.set_pytorch(wheel);
  add_values();
  interp.set_builtin(
      interp.intern(kSessionName),
      make_ref<SessionObject>(interp.heap(), interp.make_class("Session", "torch._C"), *this));
  add_tensor_class(*this);
}

Session::~Session() = default;

void Session::release() {
  return_types.clear();
  c.cast_cache.clear();
  c.main_thread.pack_hooks.clear();
  c.engine_thread.pack_hooks.clear();
  ops_->release();
  dtensors = {};
  unwaited.clear();
  dtypes.clear();
  formats.clear();
}

void Session::wait_for(const ops::Tensor& tensor) {
  if (!tensor->storage || c.tracer != nullptr) return;  // compiled code waits when it runs
  const ops::RequestNumber request = tensor->storage->request();
  for (std::size_t i = 0; i < unwaited.size(); ++i) {
    if (unwaited[i].result != request) continue;
    const Value work = std::move(unwaited[i].work);
    unwaited.erase(unwaited.begin() + static_cast<std::ptrdiff_t>(i));
    interp.call(interp.get_attr(work, interp.intern("wait")), {});
    return;
  }
}

void Session::add_values() {
  size_class = interp.make_class("Size", "torch", {interp.classes().tuple});
  size_class->construct = [](lang::Interp& in, lang::ClassObject& own,
                             lang::CallArgs& args) -> Value {
    std::vector<Value> sizes;
    if (args.positional > 0) sizes = in.unpack(args.values[0]);
    return make_ref<lang::Tuple>(in.heap(), std::move(sizes), Ref<lang::ClassObject>(&own));
  };
  dtype_class = interp.make_class("dtype", "torch");
  device_class = interp.make_class("device", "torch");
  memory_format_class = interp.make_class("memory_format", "torch");
  for (const auto& type : {dtype_class, device_class, memory_format_class}) {
    for (const std::string_view signature : {"__copy__(self)", "__deepcopy__(self, memo)"})
      lang::define(interp, *type, signature,
                   [](lang::Interp&, lang::Arguments& a) { return a[0]; });
  }
  out_of_memory =
      interp.make_exception_class("OutOfMemoryError", "torch", interp.classes().runtime_error);
  for (std::size_t i = 0; i < ops::kScalarTypes.size(); ++i) {
    const auto type = static_cast<ops::ScalarType>(i);
    dtypes.emplace(static_cast<std::uint8_t>(i),
                   make_ref<DTypeObject>(interp.heap(), dtype_class, type));
  }
  for (const auto format : {ops::MemoryFormat::kContiguous, ops::MemoryFormat::kChannelsLast,
                            ops::MemoryFormat::kChannelsLast3d, ops::MemoryFormat::kPreserve}) {
    formats.emplace(static_cast<std::uint8_t>(format),
                    make_ref<MemoryFormatObject>(interp.heap(), memory_format_class, format));
  }
  device_class->final = true;
  device_class->construct = [this](lang::Interp&, lang::ClassObject&,
                                   lang::CallArgs& args) -> Value {
    if (args.positional == 0 && args.keyword_count == 0)
      interp.type_error("device() missing argument");
    const Value& named = lang::plain_of(args.values[0]);
    if (const auto other = named_only(named))
      return make_ref<DeviceObject>(interp.heap(), device_class, *other);
    ops::Device device = device_from(named);
    const bool is_numbered = args.positional + args.keyword_count > 1 && device.is_cuda() &&
                             (args.values[1].is_int() || lang::is_of_rank(args.values[1]));
    if (is_numbered) device = device_from(args.values[1]);
    const auto* text = lang::shown(named).as<lang::Str>();
    const auto* given = named.as<DeviceObject>();
    const bool has_index = is_numbered || !((text != nullptr && text->text() == "cuda") ||
                                            (given != nullptr && !given->has_index));
    return make_ref<DeviceObject>(interp.heap(), device_class, device, has_index);
  };
  // `with device:` makes it that of new tensors.
  device_class->attrs.set(
      interp.intern("__enter__"),
      interp.function("__enter__(self)", [this](lang::Interp&, lang::Arguments& a) {
        default_devices.push_back(c.default_device);
        c.default_device = device_from(a[0]);
        return a.take(0);
      }));
  device_class->attrs.set(
      interp.intern("__exit__"),
      interp.function("__exit__(self, *error)", [this](lang::Interp& in, lang::Arguments&) {
        if (default_devices.empty()) in.runtime_error("the device was not entered");
        c.default_device = default_devices.back();
        default_devices.pop_back();
        return Value::none();
      }));
  size_class->attrs.set(interp.intern("numel"),
                        interp.function("numel(self)", [this](lang::Interp&, lang::Arguments& a) {
                          ops::Dims sizes;
                          for (const Value& item : a.object<lang::Tuple>(0, "torch.Size").items)
                            sizes.push_back(item.is_int() ? item.as_int() : 0);
                          return Value::integer(guarded([&] { return ops::numel_of(sizes); }));
                        }));
}

Value Session::wrap(ops::Tensor tensor) {
  if (!tensor.defined()) return Value::none();
  if (tensor->wrapper != nullptr) {
    return Ref<TensorObject>(static_cast<TensorObject*>(tensor->wrapper));
  }
  const bool is_spread = static_cast<bool>(tensor->spread);
  const Ref<lang::ClassObject>& type = tensor->is_parameter
                                           ? (is_spread ? dtensors.parameter : parameter_class)
                                           : (is_spread ? dtensors.tensor : tensor_class);
  return make_ref<TensorObject>(*this, type, std::move(tensor));
}

Value Session::wrap(ops::Device device) {
  return make_ref<DeviceObject>(interp.heap(), device_class, device);
}

Value Session::wrap(ops::ScalarType dtype) const {
  return dtypes.at(static_cast<std::uint8_t>(dtype));
}

Value Session::size_of(const ops::Dims& dims) {
  std::vector<Value> items;
  items.reserve(dims.size());
  for (const std::int64_t size : dims) items.push_back(Value::integer(size));
  return make_ref<lang::Tuple>(interp.heap(), std::move(items), size_class);
}

Value Session::tuple_of(const ops::TensorList& tensors) {
  std::vector<Value> items;
  items.reserve(tensors.size());
  for (const ops::Tensor& tensor : tensors) items.push_back(wrap(tensor));
  return interp.tuple(std::move(items));
}

namespace {

/// The number of a device that a number or a text names; -1: none.
std::int64_t number_of(const Value& value) {
  if (value.is_int()) return value.as_int();
  const auto* text = value.as<lang::Str>();
  if (text == nullptr || !text->text().starts_with("cuda:")) return -1;
  const std::string_view digits = std::string_view(text->text()).substr(5);
  std::int64_t number = -1;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size() ? number : -1;
}

/// Whether what names a device names each rank's own. Ranks for which it does not are parted.
bool names_own_device(lang::Interp& interp, const lang::RankValue& value) {
  lang::Alike& alike = value.alike();
  const auto local = [&](int rank) { return rank % alike.job().per_node; };
  if (number_of(value.own()) != alike.job().local()) return false;
  alike.keep_only(interp, [&](int rank) { return number_of(value.of(rank)) == local(rank); });
  return true;
}

}  // namespace

ops::Device device_in_use(Session& session) {
  lang::Alike* alike = lang::alike_of(session.interp);
  const ops::Device device = session.current_device;
  if (alike != nullptr && !alike->has_device) alike->name_device(session.interp, device.index);
  return device;
}

ops::Device Session::device_from(const Value& given) {
  if (const auto* varying = given.as<lang::RankValue>();
      varying != nullptr && names_own_device(interp, *varying))
    return ops::Device{static_cast<std::int8_t>(varying->alike().job().local())};
  const Value& value = lang::pinned(interp, lang::plain_of(given));
  const auto* object = value.as<DeviceObject>();
  const auto other = named_only(value);
  if (other || (object != nullptr && object->device.index <= kFirstNamed)) {
    interp.runtime_error(fmt::format("PyTorch is not linked with support for {} devices",
                                     type_of(other ? *other : object->device)));
  }
  if (object != nullptr) return object->has_index ? object->device : device_in_use(*this);
  std::int64_t index = -1;
  std::string shown = interp.repr(value);
  if (value.is_int()) {
    index = value.as_int();
  } else if (const auto* text = value.as<lang::Str>()) {
    std::string_view name = text->text();
    if (name == "cpu") return ops::kHost;
    if (name == "meta") return ops::kMeta;
    if (name == "cuda") return device_in_use(*this);
    if (!name.starts_with("cuda:")) {
      interp.runtime_error(
          fmt::format("Expected one of cpu, cuda device type at start of device string: {}", name));
    }
    name.remove_prefix(5);
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), index);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) {
      interp.runtime_error(fmt::format("Invalid device string: '{}'", text->text()));
    }
  } else {
    interp.type_error(fmt::format("expected a device, not {}", interp.type_name(value)));
  }
  if (index < 0 || index >= device_count) {
    interp.runtime_error(
        fmt::format("CUDA error: invalid device ordinal: {} (this scenario has {} device{})", shown,
                    device_count, device_count == 1 ? "" : "s"));
  }
  if (lang::Alike* alike = lang::alike_of(interp))
    alike->name_device(interp, static_cast<int>(index));
  return ops::Device{static_cast<std::int8_t>(index)};
}

void Session::end_program() {
  // A handler of the program's own may catch the exit: it changes nothing any more.
  if (!at_end_of_time) return;
  const std::function<void()> tell = std::exchange(at_end_of_time, nullptr);
  tell();
  emitter.flush();
  emitter.stop();
  interp.raise(*interp.classes().system_exit, "");
}

void Session::raise_op_error(const ops::OpError& error) {
  const lang::BuiltinClasses& classes = interp.classes();
  if (dynamic_cast<const ops::IndexError*>(&error) != nullptr)
    interp.raise(*classes.index_error, error.what());
  if (dynamic_cast<const ops::ValueError*>(&error) != nullptr)
    interp.raise(*classes.value_error, error.what());
  interp.raise(*classes.runtime_error, error.what());
}

}  // namespace tidemark::torch
