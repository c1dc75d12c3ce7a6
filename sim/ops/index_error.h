#pragma once

#include "sim/ops/tensor.h"

namespace tidemark::ops {

/// An argument that does not fit the others: Python's ValueError.
class ValueError final : public OpError {
 public:
  using OpError::OpError;
};

/// An index, or a dimension's number, that is not there: Python's IndexError.
class IndexError final : public OpError {
 public:
  using OpError::OpError;
};

}  // namespace tidemark::ops
