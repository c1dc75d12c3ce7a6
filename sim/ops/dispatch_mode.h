#pragma once

#include "sim/ops/context.h"

namespace tidemark::ops {

/// A recorder that may look on as one of PyTorch's dispatch modes does.
class DispatchMode {
 public:
  virtual ~DispatchMode() = default;
  [[nodiscard]] virtual bool is_dispatching() const = 0;
};

/// Whether operators go through a dispatch mode first, as selective checkpointing's do. PyTorch
/// takes every tensor for one of a subclass then, and so writes into none of its own results.
/// Source: c10::impl::dispatch_mode_enabled, isTensorSubclassLike.
inline bool is_dispatching(const Context& c) {
  const auto* mode = dynamic_cast<const DispatchMode*>(&c.recorder());
  return mode != nullptr && mode->is_dispatching();
}

}  // namespace tidemark::ops
