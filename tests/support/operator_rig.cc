#include "tests/support/operator_rig.h"

#include <fmt/format.h>

#include <stdexcept>

#include "sim/ops/op.h"
#include "sim/torch/autograd/autograd.h"

namespace tidemark::test {

DeviceSpec h100() {
  DeviceSpec device;
  device.id = "h100";
  device.compute_capability = 90;
  device.sm_count = 132;
  device.max_threads_per_sm = 2048;
  device.total_bytes = 80 * kGiB;
  device.shared_memory_per_block_optin = 227 * kKiB;
  device.shared_memory_per_sm = 228 * kKiB;
  return device;
}

ops::RequestNumber RecordingMemory::allocate(Bytes bytes, ops::Device /*device*/,
                                             std::uint16_t /*stream*/) {
  const auto signed_bytes = static_cast<std::int64_t>(bytes);
  sizes_.push_back(signed_bytes);
  events_.push_back(signed_bytes);
  return static_cast<ops::RequestNumber>(sizes_.size() - 1);
}

void RecordingMemory::release(ops::RequestNumber request) { events_.push_back(-sizes_[request]); }

std::uint32_t GraphRecorder::add_op(std::string_view name, std::uint32_t /*module_label*/,
                                    const std::vector<const ops::Tensor*>& /*inputs*/,
                                    ops::Node* node) {
  graph::OpVertex vertex;
  vertex.name = name;
  vertex.payload = node;
  const graph::VertexId v = graph_.add_vertex(vertex);
  if (node != nullptr) {
    for (const ops::Edge& edge : node->next) {
      if (edge.node) {
        graph_.add_edge(edge.node->vertex, graph::EdgeKind::kGradient, edge.input_nr);
      }
    }
  }
  return v;
}

ops::Tensor OperatorRig::leaf(const ops::Dims& sizes, ops::ScalarType dtype, bool requires_grad,
                              ops::MemoryFormat format) {
  ops::Tensor t = context_.empty_in(sizes, format, dtype, ops::Device{0});
  t->requires_grad = requires_grad;
  return t;
}

ops::TensorList OperatorRig::call(std::string_view signature,
                                  std::vector<ops::Argument> arguments) {
  for (const auto& family : ops::op_families()) {
    for (const ops::OpDef& op : family) {
      if (!op.signature.starts_with(signature)) continue;
      ops::Arguments given(context_, std::move(arguments));
      return op.run(given).tensors;
    }
  }
  throw std::logic_error(fmt::format("no operator begins with '{}'", signature));
}

namespace {

void drop_last_first(ops::TensorList& tensors) {
  while (!tensors.empty()) tensors.pop_back();
}

}  // namespace

std::string OperatorRig::run(const std::function<ops::TensorList()>& forward,
                             const std::vector<ops::Tensor>& leaves) {
  memory_.take();
  std::string out;
  const auto phase = [&](std::string_view name) {
    const std::vector<std::int64_t> events = memory_.take();
    if (events.empty()) return;
    out += name;
    for (const std::int64_t e : events) out += fmt::format(" {:+}", e);
    out += '\n';
  };
  ops::TensorList outputs = forward();
  phase("forward");
  ops::TensorList differentiable;
  for (const ops::Tensor& t : outputs) {
    if (t->grad_fn) differentiable.push_back(t);
  }
  if (!differentiable.empty()) {
    ops::TensorList gradients;
    std::vector<ops::Edge> roots;
    for (const ops::Tensor& t : differentiable) {
      gradients.push_back(context_.empty_like(t));
      roots.push_back(ops::gradient_edge(context_, t));
    }
    phase("grad");
    torch::run_backward(context_, recorder_.graph(), roots, gradients, {});
    roots.clear();
    phase("backward");
    drop_last_first(gradients);
    phase("drop_incoming");
  }
  drop_last_first(outputs);
  drop_last_first(differentiable);
  phase("drop_out");
  for (const ops::Tensor& leaf : leaves) leaf->grad.reset();
  phase("drop_grads");
  return out;
}

}  // namespace tidemark::test
