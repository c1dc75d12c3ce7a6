#include "sim/torch/compile/plan_run.h"

#include <algorithm>
#include <iterator>

#include "sim/base/check.h"
#include "sim/graph/inductor/fake_strides.h"
#include "sim/graph/inductor/index.h"

namespace tidemark::torch {

using graph::Effect;
using graph::GraphNode;
using graph::kNoNode;
using graph::inductor::Buffer;
using graph::inductor::BufferId;
using graph::inductor::kNoBuffer;
using graph::inductor::Line;
using ops::Tensor;

namespace {

/// The state of random numbers among the results of efficient attention: the third and the fourth.
constexpr std::int64_t kFirstState = 2;
constexpr graph::StorageId kState = 0xfffffff0U;  // and the one behind it
constexpr Bytes kStateBytes = 8;

bool has_gaps(const Buffer& buffer) {
  using graph::inductor::dense_strides;
  return !graph::inductor::lies_as(buffer.sizes, buffer.strides, dense_strides(buffer.sizes));
}

}  // namespace

PlanRun::PlanRun(ops::Context& c, const graph::inductor::CompiledPass& compiled)
    : c_(c),
      compiled_(compiled),
      held_(compiled.buffers.size()),
      wholes_(compiled.buffers.size()) {}

void PlanRun::give(std::size_t input, const Tensor& tensor) {
  held_[input] = tensor->storage;  // the first buffers are the inputs
}

void PlanRun::allocate(BufferId id) {
  const Buffer& buffer = compiled_.buffers[id];
  const Tensor memory = c_.scratch(buffer.bytes(), buffer.device);
  memory->storage->set_role(ops::Role::kTemporary);
  held_[id] = memory->storage;
}

void PlanRun::call_library(const Line& line) {
  const Buffer& buffer = compiled_.buffers[line.buffer];
  const GraphNode& node = compiled_.pass.graph.nodes[line.node];
  const ops::LabelScope label(c_, node.name, node.module);
  std::vector<Memory> made;
  // Attention gives all its results at once: eager lets go of those that nobody wants at its end.
  const bool gives_all = buffer.is_library_made && node.name.starts_with("_scaled_dot_product");
  const std::size_t results_from = gives_all ? node.results_from : node.effects.size();
  // The state lies on the device where the stream is captured. Source:
  // at::native::_efficient_attention_forward.
  std::vector<Memory> states;
  if (is_recorded_ && !node.effects.empty() &&
      node.name == "_scaled_dot_product_efficient_attention") {
    for (const graph::StorageId state : {kState, kState + 1})
      states.emplace_back(state, c_.scratch(kStateBytes, node.effects.front().device)->storage);
  }
  for (const Effect& effect : node.effects) {
    const auto at = static_cast<std::size_t>(&effect - node.effects.data());
    switch (effect.kind) {
      case Effect::Kind::kAllocate:
        // Its result is there already, unless the kernel asks for it itself.
        if (!buffer.is_library_made && effect.storage == node.storage) break;
        made.emplace_back(effect.storage, c_.scratch(effect.bytes, effect.device)->storage);
        break;
      case Effect::Kind::kFree:
        if (at >= results_from) break;
        std::erase_if(made, [&](const Memory& memory) { return memory.first == effect.storage; });
        break;
      case Effect::Kind::kWorkspace:
        c_.cublas_workspace(effect.device, effect.calls);
        break;
      case Effect::Kind::kLtWorkspace:
        // A product that came apart from its bias takes the other library's, and one whose result
        // has gaps. Source: at::native's addmm_out_cuda_impl.
        if (node.name == "mm" || has_gaps(buffer)) {
          c_.cublas_workspace(effect.device, 1);
        } else {
          c_.cublaslt_workspace(effect.device);
        }
        break;
      case Effect::Kind::kLaunch:
        c_.launch(effect.device, effect.flops, effect.bytes_moved, effect.kernel, effect.precision);
        break;
    }
  }
  if (!buffer.is_library_made) return;
  if (buffer.is_whole) {
    std::move(states.begin(), states.end(), std::back_inserter(made));
    wholes_[line.buffer] = std::move(made);
    return;
  }
  for (const Memory& memory : made) {
    if (memory.first == node.storage) held_[line.buffer] = memory.second;
  }
  while (!made.empty()) made.pop_back();
}

void PlanRun::launch(const Line& line) {
  c_.launch(compiled_.buffers.empty() ? ops::kHost : compiled_.buffers.back().device, 0, line.bytes,
            ops::KernelClass::kElementwise, ops::ScalarType::kFloat32);
}

void PlanRun::run() {
  for (const Line& line : compiled_.lines) {
    switch (line.kind) {
      case Line::Kind::kAllocate: {
        const ops::LabelScope label(c_, "call");
        allocate(line.buffer);
        break;
      }
      case Line::Kind::kFree:
        held_[line.buffer] = {};
        break;
      case Line::Kind::kFreeWhole:
        // As Python takes a tuple apart: from its end.
        while (!wholes_[line.buffer].empty()) wholes_[line.buffer].pop_back();
        break;
      case Line::Kind::kReuse:
        held_[line.buffer] = std::move(held_[line.other]);
        held_[line.other] = {};
        break;
      case Line::Kind::kWithin:
        held_[line.buffer] = held_[line.other];
        break;
      case Line::Kind::kLoops:
        launch(line);
        break;
      case Line::Kind::kLibrary:
        call_library(line);
        break;
      case Line::Kind::kPart: {
        if (line.node == kNoNode) break;
        const BufferId alias = compiled_.buffers[line.other].alias_of;
        if (alias != kNoBuffer) {
          held_[line.buffer] = held_[alias];
          break;
        }
        const GraphNode& part = compiled_.pass.graph.nodes[line.node];
        const bool is_state = part.device == ops::kHost && !part.dims.empty();
        const graph::StorageId wanted =
            is_state ? kState + static_cast<graph::StorageId>(part.dims[0] - kFirstState)
                     : part.storage;
        for (const Memory& memory : wholes_[line.other]) {
          if (memory.first == wanted) held_[line.buffer] = memory.second;
        }
        break;
      }
      case Line::Kind::kNothing:
        break;
    }
  }
}

BufferId PlanRun::root_of(std::size_t result) const {
  BufferId id = compiled_.results[result].buffer;
  while (compiled_.buffers[id].changes != kNoBuffer) id = compiled_.buffers[id].changes;
  return id;
}

void PlanRun::look_back() {
  for (std::size_t i = 0; i < compiled_.results.size(); ++i) {
    if (compiled_.results[i].buffer == kNoBuffer) continue;
    const BufferId id = root_of(i);
    const Buffer& buffer = compiled_.buffers[id];
    if (!held_[id]) held_[id] = c_.memory_of_others(buffer.bytes(), buffer.device);
  }
}

std::vector<Ref<ops::Storage>> PlanRun::results() const {
  std::vector<BufferId> made;
  for (const Line& line : compiled_.lines) made.push_back(line.buffer);
  const auto when = [&](BufferId id) { return std::find(made.begin(), made.end(), id); };
  std::vector<BufferId> order;
  for (std::size_t i = 0; i < compiled_.results.size(); ++i) {
    if (compiled_.results[i].buffer != kNoBuffer) order.push_back(root_of(i));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](BufferId a, BufferId b) { return when(a) < when(b); });
  std::vector<Ref<ops::Storage>> all;
  all.reserve(order.size());
  for (const BufferId id : order) all.push_back(held_[id]);
  return all;
}

const Ref<ops::Storage>& PlanRun::memory_of(std::size_t result) const {
  const BufferId id = root_of(result);
  TIDEMARK_CHECK(held_[id] != nullptr, "a result of compiled code has no memory");
  return held_[id];
}

Tensor PlanRun::take(std::size_t result) const {
  const GraphNode& of = compiled_.pass.graph.nodes[compiled_.results[result].node];
  if (of.device == ops::kHost && !held_[root_of(result)]) return c_.number(of.dtype);
  Ref<ops::TensorImpl> impl = make_ref<ops::TensorImpl>();
  impl->sizes = of.sizes;
  impl->strides = compiled_.results[result].strides;
  impl->offset = of.offset;
  impl->dtype = of.dtype;
  impl->device = of.device;
  impl->storage = memory_of(result);
  return Tensor(std::move(impl));
}

}  // namespace tidemark::torch
