#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/intrusive.h"
#include "sim/ops/dims.h"
#include "sim/ops/memory.h"
#include "sim/ops/scalar_type.h"
#include "sim/ops/values/known.h"

namespace tidemark::ops {

class Node;
class Tensor;

/// What is more than the part of a tensor that this process holds: the whole, which the ranks of a
/// mesh share (DTensor). The tensor itself is this rank's part; who makes it says how the whole is
/// shared.
struct Spread : RefCounted<Spread> {
  Spread(const Dims& whole_sizes, const Dims& whole_strides)
      : sizes(whole_sizes), strides(whole_strides) {}
  virtual ~Spread() = default;
  const Dims sizes;    ///< of the whole
  const Dims strides;  ///< of the whole, were it in one piece
};

class Storage;

/// Knows whether a storage is there still.
struct StorageWatch final : RefCounted<StorageWatch> {
  Storage* storage = nullptr;  ///< null: it is gone
};

/// The memory under one or several tensors. Its last reference going away is the free.
class Storage final : public RefCounted<Storage> {
 public:
  Storage(Memory* memory, RequestNumber request, Bytes bytes, Device device)
      : memory_(memory), bytes_(bytes), request_(request), device_(device) {}
  ~Storage() {
    drop();
    if (watch_) watch_->storage = nullptr;
  }
  /// Whoever holds it can ask whether this storage is there still.
  [[nodiscard]] const Ref<StorageWatch>& watch() {
    if (!watch_) {
      watch_ = make_ref<StorageWatch>();
      watch_->storage = this;
    }
    return watch_;
  }

  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] Device device() const { return device_; }
  [[nodiscard]] RequestNumber request() const { return request_; }
  void set_role(Role role) {
    if (request_ != kNoMemory) memory_->set_role(request_, role);
  }
  /// What is known of the numbers in it; null: nothing. Whoever writes into it sets it anew.
  [[nodiscard]] const Ref<Known>& known() const { return known_; }
  void set_known(Ref<Known> known) const { known_ = std::move(known); }
  /// untyped_storage().resize_(0): the memory goes, the object stays.
  void drop() {
    if (request_ != kNoMemory) {
      memory_->release(std::exchange(request_, kNoMemory));
    } else if (is_pageable_) {
      is_pageable_ = false;
      memory_->give_host(bytes_);
    }
  }
  /// Its bytes are pageable host memory from here on. Requires: nothing held.
  void take_host() {
    is_pageable_ = true;
    memory_->take_host(bytes_);
  }
  /// Its memory is somebody else's from here on.
  RequestNumber give_up() { return std::exchange(request_, kNoMemory); }
  /// A later call of compiled code has written over it: the memory goes, and nobody may read it.
  void overwrite() {
    drop();
    is_overwritten_ = true;
  }
  [[nodiscard]] bool is_overwritten() const { return is_overwritten_; }
  /// Takes over other memory (resize_ to another size). Requires: nothing held.
  void take(RequestNumber request, Bytes bytes) {
    request_ = request;
    bytes_ = bytes;
  }

 private:
  Memory* memory_;
  Bytes bytes_;
  RequestNumber request_;
  Device device_;
  bool is_pageable_ = false;
  bool is_overwritten_ = false;
  mutable Ref<Known> known_;  ///< about the memory, no part of it
  Ref<StorageWatch> watch_;
};

/// How often a tensor was written over. A tensor, its views and what was detached from it share
/// one; there is none while nobody looks. Source: c10::VariableVersion.
struct VersionCounter final : RefCounted<VersionCounter> {
  std::uint32_t value = 0;
};

/// Under which terms a view may be written into while gradients are recorded. Source: torch's
/// CreationMeta.
enum class ViewKind : std::uint8_t {
  kPlain,
  kNoGrad,        ///< made while recording was off
  kOneOfSeveral,  ///< of an operator that gives several views
};

enum class MemoryFormat : std::uint8_t { kContiguous, kChannelsLast, kChannelsLast3d, kPreserve };

/// What torch calls TensorImpl: a view of a storage and its place in the autograd graph. No values.
class TensorImpl final : public RefCounted<TensorImpl> {
 public:
  TensorImpl() = default;
  ~TensorImpl();

  Dims sizes;
  Dims strides;
  std::int64_t offset = 0;  ///< in elements
  ScalarType dtype = ScalarType::kFloat32;
  Device device = kHost;
  bool requires_grad = false;   ///< asked for by the user (a leaf)
  bool is_parameter = false;    ///< an nn.Parameter
  bool wrapped_number = false;  ///< a Python number on its way through an operator
  bool retains_grad = false;
  bool is_inference = false;
  bool is_conj = false;   ///< stands for the conjugate of what its storage holds
  bool is_async = false;  ///< a functional collective's, AsyncCollectiveTensor in PyTorch
  ViewKind view_kind = ViewKind::kPlain;
  std::uint32_t output_nr = 0;        ///< which output of grad_fn this is
  std::uint32_t history_version = 0;  ///< of a view: `version` when grad_fn was made
  Ref<VersionCounter> version;
  Ref<Storage> storage;
  Ref<Node> grad_fn;
  Ref<TensorImpl> grad;
  Node* grad_accumulator = nullptr;  ///< of a leaf, owned by the graph: cleared when that node dies
  Ref<TensorImpl> view_base;         ///< of a differentiable view: the tensor it looks into
  struct Sparse;                     ///< indices and values of a sparse COO tensor
  Sparse* sparse = nullptr;
  Ref<Spread> spread;                    ///< null: the tensor is all there is
  std::uint32_t producer = 0xffffffffU;  ///< vertex of the operator that made it
  void* wrapper = nullptr;  ///< the language's object for it while there is one; not owned
};

/// A handle on a TensorImpl, possibly undefined, as at::Tensor is.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}

  [[nodiscard]] bool defined() const { return static_cast<bool>(impl_); }
  void reset() { impl_.reset(); }
  [[nodiscard]] TensorImpl* impl() const { return impl_.get(); }
  [[nodiscard]] const Ref<TensorImpl>& ref() const { return impl_; }
  TensorImpl* operator->() const { return impl_.get(); }

  [[nodiscard]] const Dims& sizes() const { return impl_->sizes; }
  [[nodiscard]] const Dims& strides() const { return impl_->strides; }
  [[nodiscard]] std::int64_t size(std::int64_t dim) const;  ///< negative counts from the end
  [[nodiscard]] std::int64_t stride(std::int64_t dim) const;
  [[nodiscard]] std::int64_t dim() const { return static_cast<std::int64_t>(impl_->sizes.size()); }
  [[nodiscard]] std::int64_t numel() const;
  [[nodiscard]] ScalarType dtype() const { return impl_->dtype; }
  [[nodiscard]] Device device() const { return impl_->device; }
  [[nodiscard]] bool is_cuda() const { return impl_->device.is_cuda(); }
  [[nodiscard]] Bytes bytes() const;  ///< numel times element size, whatever the storage holds
  [[nodiscard]] bool requires_grad() const {
    return impl_->requires_grad || static_cast<bool>(impl_->grad_fn) ||
           (impl_->view_base && (impl_->view_base->requires_grad || impl_->view_base->grad_fn));
  }
  [[nodiscard]] bool is_leaf() const { return !impl_->grad_fn; }
  [[nodiscard]] bool is_sparse() const { return impl_->sparse != nullptr; }

  [[nodiscard]] bool is_contiguous(MemoryFormat format = MemoryFormat::kContiguous) const;
  /// No two elements share memory and no gaps, in some order of the dimensions.
  [[nodiscard]] bool is_non_overlapping_and_dense() const;
  /// channels_last when strides say so (and they are not ambiguous), else contiguous.
  [[nodiscard]] MemoryFormat suggest_memory_format() const;

  friend bool operator==(const Tensor&, const Tensor&) = default;

 private:
  Ref<TensorImpl> impl_;
};

using TensorList = std::vector<Tensor>;

struct TensorImpl::Sparse {
  Tensor indices;
  Tensor values;
};

/// Something is wrong with shapes, types or devices of an operator's arguments: the user's mistake.
/// The message is PyTorch's where PyTorch has one.
class OpError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// The operator, or this use of it, is not modelled. The message says what to do.
class NotModelled : public OpError {
 public:
  using OpError::OpError;
};

// ---- arithmetic on shapes

/// Errors: OpError on overflow or a negative size.
std::int64_t numel_of(const Dims& sizes);
Dims contiguous_strides(const Dims& sizes);
/// Requires: 4 (or 5) dimensions. NHWC (NDHWC) order.
Dims channels_last_strides(const Dims& sizes);
/// -1 and the like into [0, rank). Errors: OpError, PyTorch's words.
std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank);
/// Errors: OpError: "The size of tensor a (3) must match the size of tensor b (4) at non-singleton
/// dimension 1".
Dims broadcast(const Dims& a, const Dims& b);
/// Strides under which a tensor of `old_sizes` and `old_strides` can be seen as `new_sizes`; empty
/// optional when a copy is needed. Source: at::detail::computeStride.
std::optional<Dims> view_strides(const Dims& old_sizes, const Dims& old_strides,
                                 const Dims& new_sizes);
/// Replaces one -1. Errors: OpError: "shape '[2, -1]' is invalid for input of size 5".
Dims infer_size(const Dims& wanted, std::int64_t numel);
/// Strides of a dense tensor whose dimensions are ordered in memory as those of the given strides.
Dims dense_strides_like(const Dims& sizes, const Dims& strides);
/// Strides that TensorIterator gives a new output of `shape` for these operands.
/// Source: TensorIteratorBase::reorder_dimensions and fast set-up.
Dims iterator_strides(const Dims& shape, const std::vector<const Tensor*>& operands);

}  // namespace tidemark::ops
