#pragma once

#include <span>
#include <string_view>

#include "sim/ops/tensor.h"

namespace tidemark::ops {

/// Refuses an operator whose tensors lie on different devices, as PyTorch's wrappers and its
/// TensorIterator do. `inputs`, `others`: as Op's; undefined ones are passed over. Operators that
/// may read from several devices (copies, indexing by host indices) pass. Errors: OpError with
/// PyTorch's words.
void check_same_device(std::string_view op, std::span<const Tensor* const> inputs,
                       std::span<const Tensor* const> others);

/// The same of an operator on a list of tensors.
void check_list_device(std::string_view op, const TensorList& tensors);

/// Refuses what reads a result of a CUDA graph that a later call has overwritten, as PyTorch does.
/// A view of such a result may be looked at once more, and the result be detached. Errors: OpError
/// with PyTorch's words. Source: c10::StorageImpl::throw_data_ptr_access_error,
/// TensorImpl::throw_storage_access_error.
void refuse_overwritten(std::string_view op, const Tensor& tensor);
inline void check_is_there(std::string_view op, const Tensor& tensor) {
  if (tensor->storage && tensor->storage->is_overwritten()) refuse_overwritten(op, tensor);
}

/// Where the tensor's elements lie, for `op` if that is named. Errors: OpError for a sparse tensor,
/// whose parts have storages and it has none; as check_is_there.
Storage& storage_of(const Tensor& tensor, std::string_view op = {});

}  // namespace tidemark::ops
