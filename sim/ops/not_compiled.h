#pragma once

#include "sim/ops/tensor.h"

namespace tidemark::ops {

/// The code does what cannot be compiled, or what is not modelled of compiling.
class NotCompiled : public NotModelled {
 public:
  using NotModelled::NotModelled;
};

}  // namespace tidemark::ops
