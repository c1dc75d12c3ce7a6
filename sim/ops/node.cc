#include "sim/ops/node.h"

namespace tidemark::ops {

void Node::release_variables() {
  for (SavedTensor& s : saved) {
    s.tensor.reset();
    s.packed.reset();
  }
  if (on_release) on_release();
  if (!saved.empty()) released = true;
}

namespace {

/// Moves the edges of a dying node that own their target onto the stack. Source: torch's
/// deleteNode.
void gather(Node& node, std::vector<Ref<Node>>& stack) {
  node.release_variables();
  for (Edge& edge : node.next) {
    if (edge.node && edge.node->use_count() == 1) {
      stack.push_back(std::move(edge.node));
    } else {
      edge.node.reset();
    }
  }
  node.next.clear();
}

}  // namespace

Node::~Node() {
  std::vector<Ref<Node>> stack;
  gather(*this, stack);
  while (!stack.empty()) {
    const Ref<Node> node = std::move(stack.back());
    stack.pop_back();
    gather(*node, stack);
  }
  if (variable.defined() && variable->grad_accumulator == this)
    variable->grad_accumulator = nullptr;
}

}  // namespace tidemark::ops
