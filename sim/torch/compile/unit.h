#pragma once

#include <memory>
#include <vector>

#include "sim/graph/partition.h"
#include "sim/torch/compile/capture.h"
#include "sim/torch/compile/inductor_call.h"

namespace tidemark::torch {

/// What a call of compiled code is made into. A pass runs it as often as it is asked to.
struct Compiled {
  graph::NodeGraph graph;
  graph::Partition parts;
  std::vector<graph::NodeId> tangents;
};

/// Code that is compiled by itself: a captured graph, or a piece of it.
struct Unit {
  std::shared_ptr<Compiled> compiled = std::make_shared<Compiled>();
  std::shared_ptr<const InductorCode> inductor;
  InputTensors inputs;
  ops::TensorList arguments;  ///< among the inputs: none of a module
  ops::TensorList results;
  GradientSpreads spreads;
  bool has_backward = false;
};

/// What was captured, with its backward pass: one graph, or the pieces that PyTorch splits it into.
/// `arguments`: what the code is called with.
std::vector<Unit> traced_units(Session& session, Capture& captured,
                               const ops::TensorList& arguments, ops::TensorList results);

}  // namespace tidemark::torch
