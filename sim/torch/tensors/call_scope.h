#pragma once

#include <string_view>
#include <vector>

#include "sim/ops/registry.h"

namespace tidemark::torch {

/// Tells whoever traces what an operator is called with, while it runs.
class CallScope {
 public:
  CallScope(std::string_view name, const ops::Arguments& arguments)
      : tracer_(arguments.context().tracer) {
    if (tracer_ != nullptr) begin(name, arguments);
  }
  /// The same for what is no operator of a table.
  CallScope(ops::Tracer* tracer, std::string_view text,
            const std::vector<const ops::Tensor*>& tensors);
  ~CallScope() {
    if (tracer_ != nullptr) end();
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  void begin(std::string_view name, const ops::Arguments& arguments);
  void end();

  ops::Tracer* tracer_;
};

}  // namespace tidemark::torch
