#pragma once

#include <vector>

#include "sim/program/instruction.h"

namespace tidemark {

/// What each kernel works on, beside Program::costs and by the same numbers: for plans, which
/// another device executes.
struct KernelDetails {
  struct Kernel {
    LabelId op = 0;  ///< the operator or backward node that queued it
    /// Its operands' types and sizes as ops::kernel_text() has them; 0: not told.
    LabelId shape = 0;
    std::vector<RequestId> operands;  ///< whose memory each operand of `shape` lies in
  };
  std::vector<Kernel> kernels;
};

}  // namespace tidemark
