#pragma once

#include "validation/cuda/libraries.h"

namespace harness {

/// A matrix, or several, as cuBLAS reads it column by column.
struct Matrix {
  bool turned = false;    ///< its rows lie dense: column by column it is its own transpose
  std::int64_t ld = 1;    ///< from one column to the next
  std::int64_t step = 0;  ///< from one matrix to the next
};
/// False: cuBLAS cannot read it as it lies.
bool matrix_of(const Operand& operand, Matrix& matrix);

/// A product with what is added to it, by cuBLASLt; false: it is not there, or cannot.
bool product_lt(const Kernel& kernel, const std::vector<void*>& places, const Workspace& workspace,
                cudaStream_t stream);

}  // namespace harness
