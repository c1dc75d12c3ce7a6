#include "sim/ops/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

}  // namespace

Tensor Context::empty_strided(const Dims& sizes, const Dims& strides, ScalarType dtype,
                              Device device) {
  std::int64_t extent = numel_of(sizes) == 0 ? 0 : 1;
  if (extent != 0) {
    for (std::size_t i = 0; i < sizes.size(); ++i) extent += (sizes[i] - 1) * strides[i];
  }
  const auto bytes = checked_multiply(extent, static_cast<std::int64_t>(element_bytes(dtype)));
  if (!bytes) throw OpError("Storage size calculation overflowed with sizes=" + to_string(sizes));
  RequestNumber request = kNoMemory;
  if (device.is_cuda() && *bytes > 0) {
    request = memory_.allocate(static_cast<Bytes>(*bytes), device, stream(device));
  }
  return make(sizes, strides, dtype, device,
              make_ref<Storage>(&memory_, request, static_cast<Bytes>(*bytes), device));
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
  return empty({static_cast<std::int64_t>(bytes)}, ScalarType::kUInt8, device);
}

Tensor Context::empty_pinned(const Dims& sizes, const Dims& strides, ScalarType dtype) {
  Tensor out = empty_strided(sizes, strides, dtype, kHost);
  const Bytes bytes = out->storage->bytes();
  if (bytes > 0) out->storage->take(memory_.allocate_pinned(bytes), bytes);
  return out;
}

void Context::read_value(const Tensor& tensor) {
  if (!tensor.is_cuda()) return;
  const RequestNumber pinned = memory_.allocate_pinned(element_bytes(tensor.dtype()));
  recorder_.copy(tensor.device(), kHost, element_bytes(tensor.dtype()), true);
  if (pinned != kNoMemory) memory_.release(pinned);
}

void Context::copy_across(const Tensor& from, const Tensor& to, bool non_blocking) {
  if (from.is_cuda() == to.is_cuda() || from.numel() == 0) return;
  const Device device = from.is_cuda() ? from.device() : to.device();
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
  return out;
}

Tensor Context::shallow_copy(const Tensor& tensor) {
  Tensor out = alias(tensor, tensor.sizes(), tensor.strides(), tensor->offset);
  out->wrapped_number = tensor->wrapped_number;
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

void Context::end_thread(Thread& thread) {
  for (const auto& [device, handle] : thread.cublas_handles) {
    free_cublas_handles_.push_back(handle);
  }
  thread.cublas_handles.clear();
}

void Context::cublas_workspace(Device device, bool lt) {
  if (!device.is_cuda()) return;
  // 4096 KiB x 8 on compute capability 9.0, else 2 x 4096 KiB + 8 x 16 KiB; cuBLASLt: 1024 KiB.
  constexpr Bytes kHopper = 32 * kMiB;
  constexpr Bytes kOther = 2 * (4096 * kKiB) + 8 * (16 * kKiB);
  const std::uint16_t current = stream(device);
  const auto make_one = [&](std::vector<std::pair<std::uint16_t, Tensor>>& workspaces,
                            Bytes bytes) {
    if (has_stream(workspaces, current)) return;
    Tensor workspace = scratch(bytes, device);
    workspace->storage->set_role(Role::kWorkspace);
    workspaces.emplace_back(current, std::move(workspace));
  };
  CublasHandle& handle = cublas_handle(device);
  make_one(handle.workspaces, spec_.compute_capability == 90 ? kHopper : kOther);
  if (lt) make_one(handle.lt_workspaces, kMiB);
}

}  // namespace tidemark::ops
