#include "sim/ops/context.h"

#include "sim/ops/values/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sim/ops/releases.h"
#include "sim/ops/tracer.h"

namespace tidemark::ops {

namespace {

Tensor make(Dims sizes, Dims strides, ScalarType dtype, Device device, Ref<Storage> storage) {
  Ref<TensorImpl> impl = make_ref<TensorImpl>();
  impl->sizes = sizes;
  impl->strides = strides;
  impl->dtype = dtype;
  impl->device = device;
  impl->storage = std::move(storage);
  return Tensor(std::move(impl));
}

/// From the first element to the last. Errors: OpError.
Bytes extent_bytes(const Dims& sizes, const Dims& strides, ScalarType dtype) {
  std::int64_t extent = numel_of(sizes) == 0 ? 0 : 1;
  bool has_overflown = false;
  if (extent != 0) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::int64_t reach = 0;
      has_overflown |= __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach);
      has_overflown |= __builtin_add_overflow(extent, reach, &extent);
    }
  }
  const auto bytes = checked_multiply(extent, static_cast<std::int64_t>(element_bytes(dtype)));
  if (!bytes || has_overflown)
    throw OpError("Storage size calculation overflowed with sizes=" + to_string(sizes));
  return static_cast<Bytes>(*bytes);
}

}  // namespace

Context::Context(Memory& memory, Recorder& recorder, const DeviceSpec& device)
    : memory_(memory), recorder_(recorder), spec_(device), thread_(&main_thread) {
  engine_thread.is_engine = true;
  set_pytorch(kDefaultWheel);
}

void Context::set_pytorch(const Wheel& wheel) {
  pytorch_ = wheel;
  rules_ = std::make_shared<const ReleaseRules>(rules_of(wheel));
}

Tensor Context::empty_strided(const Dims& sizes, const Dims& strides, ScalarType dtype,
                              Device device) {
  const Bytes bytes = extent_bytes(sizes, strides, dtype);
  RequestNumber request = kNoMemory;
  if (device.is_cuda() && bytes > 0) {
    request = memory_.allocate(bytes, device, stream(device));
    // What was kept of an earlier run may be given instead, or nothing.
    if (request != kNoMemory) next_request_ = std::max(next_request_, request + 1);
  }
  Ref<Storage> storage = make_ref<Storage>(&memory_, request, bytes, device);
  // What a process can address; how much less a host has to give is not known.
  constexpr Bytes kMostHostBytes = Bytes{1} << 47U;
  if (device == kHost && bytes > kMostHostBytes) {
    throw OpError(
        fmt::format("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't "
                    "allocate memory: you tried to allocate {} bytes. Error code 12 (Cannot "
                    "allocate memory)",
                    bytes));
  }
  if (device == kHost && bytes > 0) storage->take_host();
  if (device == kHost && tracer != nullptr) tracer->makes_on_host(*storage);
  return make(sizes, strides, dtype, device, std::move(storage));
}

Tensor Context::empty(const Dims& sizes, ScalarType dtype, Device device) {
  return empty_strided(sizes, contiguous_strides(sizes), dtype, device);
}

Tensor Context::empty_like(const Tensor& like, ScalarType dtype) {
  const Dims strides = like.is_non_overlapping_and_dense()
                           ? like.strides()
                           : dense_strides_like(like.sizes(), like.strides());
  return empty_strided(like.sizes(), strides, dtype, like.device());
}

Tensor Context::empty_in(const Dims& sizes, MemoryFormat format, ScalarType dtype, Device device) {
  const bool last = (format == MemoryFormat::kChannelsLast && sizes.size() == 4) ||
                    (format == MemoryFormat::kChannelsLast3d && sizes.size() == 5);
  return empty_strided(sizes, last ? channels_last_strides(sizes) : contiguous_strides(sizes),
                       dtype, device);
}

Tensor Context::scratch(Bytes bytes, Device device) {
  const auto count = static_cast<std::int64_t>(bytes);
  if (!device.is_cuda()) {
    return make({count}, {1}, ScalarType::kUInt8, device,
                make_ref<Storage>(&memory_, kNoMemory, bytes, device));
  }
  return empty({count}, ScalarType::kUInt8, device);
}

Ref<Storage> Context::memory_of_others(Bytes bytes, Device device) {
  return make_ref<Storage>(&memory_, kNoMemory, bytes, device);
}

Tensor Context::number(ScalarType type) {
  Tensor number =
      make({}, {}, type, kHost, make_ref<Storage>(&memory_, kNoMemory, element_bytes(type), kHost));
  number->wrapped_number = true;
  return number;
}

Tensor Context::empty_pinned(const Dims& sizes, const Dims& strides, ScalarType dtype) {
  const Bytes bytes = extent_bytes(sizes, strides, dtype);
  const RequestNumber request = bytes > 0 ? memory_.allocate_pinned(bytes) : kNoMemory;
  return make(sizes, strides, dtype, kHost, make_ref<Storage>(&memory_, request, bytes, kHost));
}

void Context::count_look(const Tensor& tensor) const {
  ++looks_.all;
  if (tensor->storage->known()->is_random) ++looks_.random;
}

std::optional<Numbers> Context::look_at(const Tensor& tensor) const {
  // What is only assumed decides branches, never sizes.
  if (count_unknown && tensor->storage && tensor->storage->known() &&
      tensor->storage->known()->is_assumed)
    return std::nullopt;
  std::optional<Numbers> numbers = known_numbers(tensor);
  if (numbers) count_look(tensor);
  return numbers;
}

std::int64_t Context::count_nonzero(const Tensor& mask) const {
  // What is only assumed decides branches, never sizes.
  const bool is_assumed = count_unknown && mask->storage && mask->storage->known() &&
                          mask->storage->known()->is_assumed;
  if (const std::optional<std::int64_t> known = is_assumed ? std::nullopt : known_count(mask)) {
    count_look(mask);
    return *known;
  }
  if (!count_unknown) return 0;
  const std::int64_t count = count_unknown(mask);
  // All of it: what is made of the mask from now on agrees.
  if (count > 0 && count == mask.numel() && mask.dtype() == ScalarType::kBool) note_all(mask);
  return count;
}

void Context::read_value(const Tensor& tensor) {
  if (!tensor.is_cuda()) return;
  const RequestNumber pinned = memory_.allocate_pinned(element_bytes(tensor.dtype()));
  recorder_.copy(tensor.device(), kHost, element_bytes(tensor.dtype()), true);
  if (pinned != kNoMemory) memory_.release(pinned);
}

void Context::copy_across(const Tensor& from, const Tensor& to, bool non_blocking) {
  if (from.is_cuda() == to.is_cuda() || from.numel() == 0) return;
  if (tracer != nullptr && to.is_cuda() && tracer->moves(from)) return;
  const Device device = from.is_cuda() ? from.device() : to.device();
  ++launches_;
  recorder_.copy(from.device(), to.device(), to.bytes(), !non_blocking);
  const RequestNumber host = (from.is_cuda() ? to : from)->storage->request();
  if (non_blocking && is_pinned(host)) memory_.use_pinned(host, device, stream(device));
}

void Context::set_stream(Device device, std::uint16_t stream) {
  const std::size_t at = static_cast<std::uint8_t>(device.index);
  if (at >= streams_.size()) {
    if (stream == 0) return;
    streams_.resize(at + 1);
  }
  if (streams_[at] == stream) return;
  streams_[at] = stream;
  recorder_.set_stream(device, stream);
}

Tensor Context::alias(const Tensor& base, const Dims& sizes, const Dims& strides,
                      std::int64_t offset) {
  Tensor out = make(sizes, strides, base.dtype(), base.device(), base->storage);
  out->offset = offset;
  out->producer = base->producer;
  out->is_conj = base->is_conj;
  out->is_async = base->is_async;
  return out;
}

Tensor Context::shallow_copy(const Tensor& tensor) {
  Tensor out = alias(tensor, tensor.sizes(), tensor.strides(), tensor->offset);
  out->wrapped_number = tensor->wrapped_number;
  out->spread = tensor->spread;
  if (tensor.is_sparse()) out->sparse = new TensorImpl::Sparse(*tensor->sparse);
  return out;
}

namespace {

bool has_stream(const std::vector<std::pair<std::uint16_t, Tensor>>& workspaces,
                std::uint16_t stream) {
  for (const auto& [s, workspace] : workspaces) {
    if (s == stream) return true;
  }
  return false;
}

}  // namespace

CublasHandle& Context::cublas_handle(Device device) {
  for (const auto& [at, handle] : thread_->cublas_handles) {
    if (at == device) return cublas_handles_[handle];
  }
  const auto is_of_device = [&](std::size_t handle) {
    return cublas_handles_[handle].device == device;
  };
  const auto last =
      std::find_if(free_cublas_handles_.rbegin(), free_cublas_handles_.rend(), is_of_device);
  std::size_t handle = cublas_handles_.size();
  if (last == free_cublas_handles_.rend()) {
    cublas_handles_.push_back({device, {}, {}});
  } else {
    handle = *last;
    free_cublas_handles_.erase(std::next(last).base());
  }
  thread_->cublas_handles.emplace_back(device, handle);
  return cublas_handles_[handle];
}

void Context::clear_cublas_workspaces() {
  // A tree keyed by handle and stream is dropped from its end, cuBLASLt's after the other. Handles
  // are taken to rise as they are made. Source: docs/rules/products.md#4.
  const auto drop = [&](auto member) {
    for (auto handle = cublas_handles_.rbegin(); handle != cublas_handles_.rend(); ++handle) {
      auto& workspaces = (*handle).*member;
      std::sort(workspaces.begin(), workspaces.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      while (!workspaces.empty()) workspaces.pop_back();
    }
  };
  drop(&CublasHandle::workspaces);
  drop(&CublasHandle::lt_workspaces);
}

void Context::end_thread(Thread& thread) {
  for (const auto& [device, handle] : thread.cublas_handles) {
    free_cublas_handles_.push_back(handle);
  }
  thread.cublas_handles.clear();
}

Bytes Context::cublas_workspace_bytes() const {
  if (backends.cublas.workspace) return *backends.cublas.workspace;
  if (cublas_environment_.workspace) return *cublas_environment_.workspace;
  // 4096 KiB x 8, else 2 x 4096 KiB + 8 x 16 KiB.
  constexpr Bytes kWide = 32 * kMiB;
  constexpr Bytes kOther = 2 * (4096 * kKiB) + 8 * (16 * kKiB);
  const bool is_hopper = spec_.compute_capability / 10 == 9;
  const bool is_later = spec_.compute_capability >= 100;
  return is_hopper || (is_later && rules().wide_workspace_from_blackwell) ? kWide : kOther;
}

bool Context::keeps_workspaces() const {
  return rules().cublas_workspace == CublasWorkspace::kKept ||
         backends.cublas.cache.value_or(cublas_environment_.cache.value_or(false));
}

bool Context::set_cublas_environment(std::string_view name, std::string_view value) {
  if (has_read_cublas_environment_) return false;
  set_cublas_variable(cublas_environment_, name, value);
  return true;
}

void Context::keep_workspace(Device device, bool lt, Bytes bytes) {
  CublasHandle& handle = cublas_handle(device);
  auto& workspaces = lt ? handle.lt_workspaces : handle.workspaces;
  const std::uint16_t current = stream(device);
  if (has_stream(workspaces, current)) return;
  Tensor workspace = scratch(bytes, device);
  if (workspace->storage->request() == kNoMemory) return;  // nothing is computed
  workspace->storage->set_role(Role::kWorkspace);
  workspaces.emplace_back(current, std::move(workspace));
}

void Context::cublas_workspace(Device device, std::int64_t calls) {
  if (!device.is_cuda() || calls == 0) return;
  if (tracer != nullptr) {
    tracer->workspace(device, false, calls);
    return;
  }
  has_read_cublas_environment_ = true;
  if (keeps_workspaces()) {
    keep_workspace(device, false, cublas_workspace_bytes());
    return;
  }
  for (std::int64_t call = 0; call < calls; ++call) {
    scratch(cublas_workspace_bytes(), device)->storage->set_role(Role::kWorkspace);
  }
}

void Context::cublaslt_workspace(Device device) {
  if (!device.is_cuda()) return;
  if (tracer != nullptr) {
    tracer->workspace(device, true, 1);
    return;
  }
  has_read_cublas_environment_ = true;
  const Bytes lt_bytes =
      backends.cublas.lt_workspace.value_or(cublas_environment_.lt_workspace.value_or(kMiB));
  const auto of_call = [&] {
    Tensor workspace = scratch(lt_bytes, device);
    workspace->storage->set_role(Role::kWorkspace);
    return workspace;
  };
  switch (rules().cublaslt_workspace) {
    case CublasLtWorkspace::kCallBesideKept: {
      const Tensor workspace = of_call();
      keep_workspace(device, false, cublas_workspace_bytes());
      return;
    }
    case CublasLtWorkspace::kKeptBesideKept:
      keep_workspace(device, false, cublas_workspace_bytes());
      keep_workspace(device, true, lt_bytes);
      return;
    case CublasLtWorkspace::kShared:
      keep_workspace(device, false, cublas_workspace_bytes());
      return;
    case CublasLtWorkspace::kCall:
      if (keeps_workspaces()) {
        keep_workspace(device, false, cublas_workspace_bytes());
      } else {
        of_call();
      }
      return;
  }
}

}  // namespace tidemark::ops
