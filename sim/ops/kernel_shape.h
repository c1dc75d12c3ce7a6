#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ops/context.h"
#include "sim/ops/tensor.h"

namespace tidemark::ops {

/// A tensor as a kernel sees it. It holds nothing alive.
struct Operand {
  Dims sizes;
  Dims strides;
  std::int64_t offset = 0;  ///< in elements, from where its memory begins
  ScalarType dtype = ScalarType::kFloat32;
  RequestNumber request = kNoMemory;
};

/// What one kernel works on, for whoever launches it elsewhere.
struct KernelShape {
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  /// What sizes do not tell, as words "key=value" apart by one space: of a convolution for example.
  std::string settings;

  /// Undefined tensors are left out, and those without memory on a device.
  void reads(const Tensor& t);
  void writes(const Tensor& t);
};

/// A recorder that may ask what kernels work on.
class ShapeTaker {
 public:
  virtual ~ShapeTaker() = default;
  [[nodiscard]] virtual bool asks() const = 0;
  /// Of the kernel queued last.
  virtual void take_shape(const KernelShape& shape) = 0;
};

/// Null where nobody asks.
ShapeTaker* shape_taker(const Context& c);

/// Tells what the kernel queued last works on, where somebody asks; nothing for the host.
/// `settings` as KernelShape has them.
void works_on(const Context& c, std::initializer_list<const Tensor*> inputs,
              std::initializer_list<const Tensor*> outputs, std::string_view settings = {});

/// "bfloat16[64,128] bfloat16[128,32]:1,128 -> bfloat16[64,32] key=value": dtype and sizes, strides
/// after a colon where they are not contiguous, the offset after a plus where there is one.
std::string kernel_text(const KernelShape& shape);

/// "2,2".
std::string dims_text(const Dims& dims);

}  // namespace tidemark::ops
