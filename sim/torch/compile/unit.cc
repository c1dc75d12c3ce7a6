#include "sim/torch/compile/unit.h"

#include <algorithm>
#include <utility>

#include "sim/torch/autograd/autograd.h"
#include "sim/torch/compile/pieces.h"

namespace tidemark::torch {

using graph::kNoNode;
using graph::NodeId;
using ops::Tensor;

namespace {

/// The joint graph: gradients of `results`, those that have any, with respect to the inputs that
/// want one.
struct TracedBackward {
  std::vector<NodeId> tangents;   ///< by result; kNoNode: it wants none
  std::vector<NodeId> gradients;  ///< by input; kNoNode: it gets none
  GradientSpreads spreads;
};

/// `is_piece`: what lies behind the inputs is another's.
TracedBackward trace_backward(Session& session, Capture& capture, const InputTensors& inputs,
                              const ops::TensorList& results, bool is_piece) {
  ops::Context& c = session.c;
  capture.begin_gradients();
  TracedBackward out;
  std::vector<ops::Edge> roots;
  ops::TensorList starts;
  for (const Tensor& result : results) {
    out.tangents.push_back(kNoNode);
    if (!result.requires_grad()) continue;
    starts.push_back(capture.tangent_of(result));
    out.tangents.back() = capture.node_of(starts.back());
    roots.push_back(ops::gradient_edge(c, result));
  }
  BackwardOptions options;
  options.accumulate = false;
  options.is_traced = true;
  options.rules = session.gradient_rules.get();
  options.ends_at_inputs = is_piece;
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i].first;
    if (!input.requires_grad()) continue;
    wanted.push_back(i);
    options.inputs.push_back(ops::gradient_edge(c, input));
  }
  const ops::TensorList gradients =
      run_backward(c, session.emitter.graph(), roots, std::move(starts), options);
  out.gradients.assign(inputs.size(), kNoNode);
  out.spreads.resize(inputs.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!gradients[i].defined()) continue;
    out.gradients[wanted[i]] = capture.node_of(gradients[i]);
    out.spreads[wanted[i]] = gradients[i]->spread;
  }
  return out;
}

/// The joint graph of a piece: what it gives, and gradients as far as its inputs.
void trace_piece(Session& session, Capture& captured, Unit& unit, const Piece& piece) {
  InputTensors read;
  for (const NodeId id : piece.inputs) {
    const auto input = std::find_if(captured.inputs.begin(), captured.inputs.end(),
                                    [id](const auto& entry) { return entry.second == id; });
    read.emplace_back(input != captured.inputs.end() ? input->first : captured.read_tensors.at(id),
                      id);
  }
  const auto first = static_cast<NodeId>(captured.graph.nodes.size());
  TracedBackward backward;
  if (unit.has_backward) backward = trace_backward(session, captured, read, unit.results, true);
  if (std::any_of(backward.spreads.begin(), backward.spreads.end(),
                  [](const auto& spread) { return spread != nullptr; }))
    session.interp.refuse("DTensors under DistributedDataParallel are not modelled", kRunAsEager);
  PieceGraph own(captured, piece, {first, static_cast<NodeId>(captured.graph.nodes.size())});
  const auto place = [&own](NodeId id) { return id == kNoNode ? id : own.place(id); };
  for (const Tensor& result : unit.results)
    own.graph.outputs.push_back(place(captured.node_of(result)));
  for (const auto& [input, id] : captured.written_inputs) {
    if (id < piece.first || id >= piece.last) continue;
    own.graph.outputs.push_back(place(id));
    own.graph.written.push_back(place(captured.input_of(input)));
  }
  for (const NodeId id : backward.tangents) unit.compiled->tangents.push_back(place(id));
  for (const NodeId id : backward.gradients) own.graph.gradients.push_back(place(id));
  for (const NodeId id : own.inputs) {
    const auto at = std::find_if(read.begin(), read.end(),
                                 [id](const auto& entry) { return entry.second == id; });
    if (at == read.end())
      session.interp.refuse("such code under DistributedDataParallel is not modelled", kRunAsEager);
    unit.inputs.emplace_back(at->first, own.place(id));
    if (!own.graph.nodes[own.place(id)].is_parameter) unit.arguments.push_back(at->first);
  }
  unit.compiled->graph = std::move(own.graph);
}

std::vector<Unit> in_pieces(Session& session, Capture& captured, const std::vector<Piece>& pieces,
                            const ops::TensorList& results) {
  std::vector<Unit> units;
  for (const Piece& piece : pieces) {
    Unit& unit = units.emplace_back();
    for (const NodeId id : piece.outputs) {
      const auto given = std::find_if(results.begin(), results.end(), [&](const Tensor& result) {
        return captured.node_of(result) == id;
      });
      const Tensor& tensor = given != results.end() ? *given : captured.read_tensors.at(id);
      captured.read_tensors.insert_or_assign(id, tensor);
      if (Capture::is_made_here(tensor)) unit.results.push_back(tensor);
    }
    unit.has_backward =
        session.c.grad_enabled() && std::any_of(unit.results.begin(), unit.results.end(),
                                                [](const Tensor& t) { return t.requires_grad(); });
  }
  for (std::size_t i = 0; i < pieces.size(); ++i)
    trace_piece(session, captured, units[i], pieces[i]);
  return units;
}

}  // namespace

std::vector<Unit> traced_units(Session& session, Capture& captured,
                               const ops::TensorList& arguments, ops::TensorList results) {
  if (captured.notes_calls) {
    std::vector<NodeId> given;
    for (const Tensor& result : results) given.push_back(captured.node_of(result));
    const std::vector<Piece> pieces = pieces_of(captured, given, session.bucket_cap);
    if (pieces.size() > 1) return in_pieces(session, captured, pieces, results);
  }
  std::vector<Unit> units;
  Unit& unit = units.emplace_back();
  graph::NodeGraph& graph = captured.graph;
  for (const Tensor& result : results) graph.outputs.push_back(captured.node_of(result));
  unit.has_backward =
      session.c.grad_enabled() && std::any_of(results.begin(), results.end(),
                                              [](const Tensor& t) { return t.requires_grad(); });
  if (unit.has_backward) {
    TracedBackward backward =
        trace_backward(session, captured, captured.inputs, results, /*is_piece=*/false);
    unit.compiled->tangents = std::move(backward.tangents);
    graph.gradients = std::move(backward.gradients);
    unit.spreads = std::move(backward.spreads);
  }
  std::vector<NodeId> written;
  for (const auto& [input, id] : captured.written_inputs) {
    written.push_back(id);
    graph.written.push_back(captured.input_of(input));
  }
  graph.outputs.insert(graph.outputs.end(), written.begin(), written.end());
  unit.compiled->graph = std::move(graph);
  unit.inputs = captured.inputs;
  unit.arguments = arguments;
  unit.results = std::move(results);
  return units;
}

}  // namespace tidemark::torch
