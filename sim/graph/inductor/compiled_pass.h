#pragma once

#include <string>
#include <vector>

#include "sim/graph/inductor/lowering.h"
#include "sim/graph/inductor/pass_graph.h"
#include "sim/graph/inductor/plan.h"

namespace tidemark::graph::inductor {

/// A pass as it runs.
struct CompiledPass {
  PassGraph pass;
  std::vector<Buffer> buffers;
  std::vector<Result> results;
  std::vector<Line> lines;
  bool mixes_orders = false;  ///< as Schedule has it
  std::string kernels;        ///< as text: what was fused
  std::string code;           ///< as text: what gets memory when
};

/// Loops, fusion, order and memory of a pass. Errors: ops::NotModelled, with what is in the way.
/// `wants_text`: fills the texts, too.
CompiledPass compile_pass(PassGraph pass, const DeviceShape& device, SizeHints& hints,
                          bool wants_text);

}  // namespace tidemark::graph::inductor
