// Operators that inductor leaves to PyTorch.

#include <algorithm>
#include <utility>

#include "sim/graph/inductor/lowering.h"
#include "sim/ops/tensor.h"

namespace tidemark::graph::inductor {

/// Loops have no complex numbers. Source: torch's fallback_node_due_to_unsupported_type.
bool Lowering::is_beyond_loops(NodeId id) const {
  const GraphNode& node = nodes_[id];
  if (node.kind == NodeKind::kInput || node.kind == NodeKind::kTangent || node.has_parts)
    return false;
  return ops::is_complex(node.dtype) ||
         std::any_of(node.inputs.begin(), node.inputs.end(),
                     [this](NodeId input) { return ops::is_complex(nodes_[input].dtype); });
}

/// The kernel's result is a part of what it gives; that of a view is another name of what it reads.
/// Source: torch's ir.FallbackKernel.
void Lowering::fallback(NodeId id) {
  const GraphNode& node = nodes_[id];
  const bool is_view = node.kind == NodeKind::kView;
  Operation call;
  call.node = id;
  for (const NodeId input : node.inputs) {
    const BufferId buffer = realized(input);
    if (std::find(call.reads.begin(), call.reads.end(), buffer) == call.reads.end())
      call.reads.push_back(buffer);
  }
  Buffer whole;
  whole.device = node.device;
  whole.node = id;
  whole.is_library_made = true;
  whole.is_whole = true;
  if (is_view) whole.alias_of = call.reads.front();
  const BufferId given = new_operation(std::move(call), std::move(whole));
  Operation taking;
  taking.is_part = true;
  taking.reads = {given};
  taking.node = id;
  Buffer part;
  part.sizes = node.sizes;
  part.strides = node.strides;
  part.dtype = node.dtype;
  part.device = node.device;
  part.node = id;
  part.is_library_made = true;
  if (is_view) part.alias_of = given;
  if (!is_view && node.effects.empty()) {
    Effect made;
    made.device = node.device;
    made.storage = node.storage;
    made.bytes = bytes_of(node);
    program.effects.emplace_back(id, std::vector<Effect>{made});
  }
  give(id, add_box(id, nullptr, new_operation(std::move(taking), std::move(part))));
}

}  // namespace tidemark::graph::inductor
