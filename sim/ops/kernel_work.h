#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

/// The work of an operator or backward function that states none itself, for the clock: one kernel
/// that reads what goes in and writes what comes out. Rules that know better (products,
/// convolutions, attention) launch by Context::launch, and this then stays silent; so it does where
/// nothing is written (views). On one stream no byte of memory depends on it.
class KernelWork {
 public:
  explicit KernelWork(const Context& c) : launches_(c.launches()), first_(c.next_request()) {}

  void reads(const Tensor& t) {
    if (t.defined() && t.is_cuda()) read_bytes_ += t.bytes();
  }
  /// It takes from its inputs (embedding, index_select) no more than it gives.
  void gathers() { gathers_ = true; }
  /// A result: counts if its memory was asked for since this object was made.
  void gives(const Tensor& t) {
    if (!t.defined() || !t->storage) return;
    const RequestNumber request = t->storage->request();
    if (request != kNoMemory && request >= first_) writes(t);
  }
  /// Written in place.
  void writes(const Tensor& t) {
    if (!t.is_cuda()) return;
    written_bytes_ += t.bytes();
    device_ = t.device();
    dtype_ = t.dtype();
  }
  void launch(Context& c) const {
    if (written_bytes_ == 0 || c.launches() != launches_) return;
    const Bytes read = gathers_ ? written_bytes_ : read_bytes_;
    c.launch(device_, 0, read + written_bytes_,
             read > written_bytes_ * kReduces ? KernelClass::kReduction : KernelClass::kElementwise,
             dtype_);
  }

 private:
  static constexpr Bytes kReduces = 8;  ///< reads this many times what it writes: a reduction

  std::uint64_t launches_;
  RequestNumber first_;
  Bytes read_bytes_ = 0;
  Bytes written_bytes_ = 0;
  Device device_;
  ScalarType dtype_ = ScalarType::kFloat32;
  bool gathers_ = false;
};

}  // namespace tidemark::ops
