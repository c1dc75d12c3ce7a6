#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ops/context.h"

namespace tidemark::ops {

/// What a kernel does, as far as a compiler asks.
enum class KernelKind : std::uint8_t {
  kPointwise,
  kReduction,
  kCopy,     ///< the same numbers, laid out anew
  kCast,     ///< in another type
  kFill,     ///< zeros and the like, from nothing
  kProduct,  ///< of matrices
  kCat,
};

/// Writes down what operators are made of while code is compiled: a sink of nodes. The memory that
/// they ask for meanwhile is pretended. Operators, backward functions and kernels tell it where
/// they begin and end; docs/compile.md.
class Tracer {
 public:
  Tracer() = default;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  virtual ~Tracer() = default;

  /// The program calls an operator, which may be made of several. `settings`: its arguments that
  /// are no tensors, as text; `tensors`: those that are.
  virtual void begin_call(std::string settings, const std::vector<const Tensor*>& tensors) = 0;
  virtual void end_call() = 0;
  /// The program asks what a tensor is: its sizes, its type.
  virtual void looks_at(const Tensor& tensor) = 0;
  /// One operator of ATen: all that is asked for until end_op() is its.
  virtual void begin_op(std::string_view name, const std::vector<const Tensor*>& reads) = 0;
  /// A result.
  virtual void gives(const Tensor& tensor) = 0;
  /// Kept for backward: a result too where its memory is the operator's.
  virtual void keeps(const Tensor& tensor) = 0;
  /// It works in place. Called when it has been computed.
  virtual void writes(const Tensor& tensor) = 0;
  virtual void end_op() = 0;
  /// Gradients are written into a part of another.
  virtual void puts(const Tensor& part, const Tensor& values) = 0;
  virtual void begin_backward(const Node& node, const TensorList& incoming,
                              const TensorList& saved) = 0;
  virtual void end_backward(const TensorList& grads) = 0;
  virtual void begin_kernel(KernelKind kind, const std::vector<const Tensor*>& reads) = 0;
  virtual void end_kernel() = 0;
  /// Memory of the host is taken.
  virtual void makes_on_host(const Storage& memory) = 0;
  /// Numbers of the host come to a device. False: they were there before what is traced.
  virtual bool moves(const Tensor& from) = 0;
  /// Products take workspaces of cuBLAS, which outlive them.
  virtual void workspace(Device device, bool lt, std::int64_t calls) = 0;
};

/// A kernel, while it lives. Costs one look where nothing is compiled.
class KernelScope {
 public:
  KernelScope(const Context& c, KernelKind kind, std::initializer_list<const Tensor*> reads)
      : tracer_(c.tracer) {
    if (tracer_ != nullptr) tracer_->begin_kernel(kind, reads);
  }
  KernelScope(const Context& c, KernelKind kind, const TensorList& reads) : tracer_(c.tracer) {
    if (tracer_ != nullptr) begin(kind, reads);
  }
  ~KernelScope() {
    if (tracer_ != nullptr) tracer_->end_kernel();
  }
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;
  /// The result, on its way out.
  Tensor gives(Tensor tensor) const {
    if (tracer_ != nullptr) tracer_->gives(tensor);
    return tensor;
  }

 private:
  void begin(KernelKind kind, const TensorList& reads) {
    std::vector<const Tensor*> pointers;
    pointers.reserve(reads.size());
    for (const Tensor& t : reads) pointers.push_back(&t);
    tracer_->begin_kernel(kind, pointers);
  }

  Tracer* tracer_;
};

}  // namespace tidemark::ops
