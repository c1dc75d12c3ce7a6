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

/// Whether nobody reads what is sent, or a view of it, behind: then it is summed up where it lies.
/// Source: torch's fx_passes/reinplace.py, can_inplace.
bool Lowering::is_sent_in_place(NodeId id) const {
  const GraphNode& node = nodes_[id];
  if (node.name != "all_reduce") return false;
  std::vector<NodeId> names{node.inputs.front()};
  const auto looks = [](const GraphNode& of) {
    return of.kind == NodeKind::kView || of.kind == NodeKind::kPart;
  };
  while (looks(nodes_[names.front()])) names.front() = nodes_[names.front()].inputs.front();
  const NodeKind kind = nodes_[names.front()].kind;
  if (kind == NodeKind::kInput || kind == NodeKind::kTangent) return false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_output_[names[i]]) return false;
    for (const NodeId user : users_[names[i]]) {
      if (looks(nodes_[user])) {
        names.push_back(user);
      } else if (user > id) {
        return false;
      }
    }
  }
  return true;
}

/// A collective is a kernel of its own. One that sums up, or sends to all, writes in place, into a
/// copy where others read what is sent; the wait for it writes there again. Others make their
/// result themselves, and what they read is read until the wait. What is written has a name of its
/// own. Source: torch's comm_lowering.py; ir.py, _CollectiveKernel, _WaitKernel.
void Lowering::collective(NodeId id) {
  const GraphNode& node = nodes_[id];
  const NodeId from = node.inputs.front();
  const bool is_wait = node.name == "wait_tensor";
  const bool writes = is_wait || node.name == "all_reduce" || node.name == "broadcast";
  if (!is_wait) require_strides(from, fake_strides_[from]);
  Operation call;
  call.node = id;
  if (!writes) {
    call.reads = {realized(from)};
    Buffer made = buffer_for(id);
    made.is_library_made = true;
    give(id, add_box(id, nullptr, new_operation(std::move(call), std::move(made))));
    return;
  }
  if (!is_wait && !is_sent_in_place(id)) {
    const BoxId copy = copy_of(from);
    freeze(copy);
    give(id, copy);
  } else {
    freeze(values_[from].box);
    values_[id] = values_[from];
  }
  const BoxId target = values_[id].box;
  const BufferId written = boxes_[target].buffer;
  call.reads = {written};
  if (is_wait) {
    // What is sent to make another result is read until that is there.
    const Buffer& sent = program.buffers[written];
    if (sent.is_library_made && sent.maker >= 0) {
      const auto& reads = program.operations[static_cast<std::size_t>(sent.maker)].reads;
      call.reads.insert(call.reads.end(), reads.begin(), reads.end());
    }
  }
  Buffer buffer = program.buffers[written];
  buffer.changes = written;
  buffer.is_library_made = false;
  ++names_of_writes_;
  const BufferId made = new_operation(std::move(call), std::move(buffer));
  Box box = boxes_[target];
  box.buffer = made;
  boxes_.push_back(std::move(box));
  values_[id].box = static_cast<BoxId>(boxes_.size() - 1);
}

}  // namespace tidemark::graph::inductor
