#pragma once

#include <cstdint>
#include <vector>

#include "sim/torch/compile/plan_run.h"
#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

/// As torch._inductor.cudagraph_trees numbers them.
enum class GraphPass : std::uint8_t { kForward, kBackward, kInference };

struct GraphFunction {
  std::int64_t number = 0;
  GraphPass pass = GraphPass::kForward;
};

/// Runs a pass as torch._inductor.cudagraph_trees has it: once in the graphs' pool, then recorded,
/// then replayed. `is_fixed`: inputs that stay where they lie; the others are copied. Errors: as
/// the pass's. Source: docs/rules/compile.md#11.
void run_as_graph(Session& session, PlanRun& run, GraphFunction function, ops::TensorList inputs,
                  const std::vector<bool>& is_fixed);

/// torch._C's part of it: which outputs of graphs are there still.
void add_graphed_passes(Session& session, lang::Module& module);

}  // namespace tidemark::torch
