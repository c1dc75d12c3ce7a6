#pragma once

#include "sim/torch/autograd/autograd.h"
#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

/// A node of autograd's graph as the language sees it: x.grad_fn, and what its next_functions name.
/// It keeps the node, and all that hangs on it, alive.
class GradNodeObject final : public lang::HostObject {
 public:
  GradNodeObject(Session& session, Ref<ops::Node> shown);
  ~GradNodeObject() override;
  static bool is(const lang::Object& o) { return o.host_kind() == kGradNodeKind; }
  std::string repr(lang::Interp& interp) override;

  [[nodiscard]] Session& session() const { return session_; }
  const Ref<ops::Node> node;

 private:
  Session& session_;
  std::shared_ptr<NodeObjects> objects_;
};

/// The language's object for a node: the same one as long as somebody holds it. None for null.
lang::Value wrap_node(Session& session, const Ref<ops::Node>& node);

/// Makes the class of nodes: name(), next_functions, register_prehook() and variable.
void add_grad_nodes(Session& session);

/// The edge that a gradient of `value` follows, a tensor or a (node, number of an input).
ops::Edge edge_of(Session& session, const lang::Value& value);

/// The start of a backward pass at `roots`, tensors or edges, one gradient each.
BackwardStart start_at(Session& session, const std::vector<lang::Value>& roots,
                       const ops::TensorList& gradients);

/// What register_*hook gives: remove() takes the hook away.
lang::Value removable_handle(Session& session, const std::shared_ptr<lang::Value>& hook);

}  // namespace tidemark::torch
