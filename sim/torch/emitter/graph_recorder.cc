#include "sim/torch/emitter/graph_recorder.h"

#include <algorithm>

namespace tidemark::torch {

std::uint32_t GraphRecorder::add(std::string_view name, std::string_view module) {
  const auto phase = static_cast<std::uint32_t>(into_.phases.size() - 1);
  into_.vertices.push_back({std::string(name), std::string(module), phase, 0});
  current_op_ = graph::kNoVertex;
  return current_ = static_cast<std::uint32_t>(into_.vertices.size() - 1);
}

void GraphRecorder::add_edge(std::uint32_t from, std::uint32_t to, graph::EdgeKind kind,
                             Bytes bytes) {
  if (from != kNone && from != to) into_.edges.push_back({from, to, kind, bytes});
}

void GraphRecorder::begin_phase(std::string_view name) {
  into_.phases.emplace_back(name);
  current_ = kNone;
  current_op_ = graph::kNoVertex;
}

void GraphRecorder::mark_shared(std::uint32_t vertex, ops::RequestNumber request) {
  const auto found = reads_.find(vertex);
  if (found == reads_.end()) return;
  const bool writes = into_.vertices[vertex].name.ends_with('_');
  for (const auto& [read, edge] : found->second) {
    if (read == request)
      into_.edges[edge].kind = writes ? graph::EdgeKind::kControl : graph::EdgeKind::kAlias;
  }
}

void GraphRecorder::add_op(graph::VertexId vertex, std::string_view name, std::string_view module,
                           const std::vector<const ops::Tensor*>& inputs) {
  if (name == "AccumulateGrad") return;  // it runs in backward, if at all
  const std::uint32_t own = add(name, module);
  current_op_ = vertex;
  of_op_[vertex] = own;
  for (const ops::Tensor* input : inputs) {
    const ops::Tensor& tensor = *input;
    const ops::RequestNumber request =
        tensor->storage ? tensor->storage->request() : ops::kNoMemory;
    const std::uint32_t maker =
        request != ops::kNoMemory && request < requests_.size() ? requests_[request].maker : kNone;
    const auto producer = of_op_.find(tensor->producer);
    const std::uint32_t from = producer == of_op_.end() ? maker : producer->second;
    if (from == kNone) continue;
    if (maker != from && request != ops::kNoMemory) mark_shared(from, request);
    if (from != own) reads_[own].emplace_back(request, into_.edges.size());
    add_edge(from, own, graph::EdgeKind::kData, tensor.bytes());
  }
}

void GraphRecorder::run_node(const ops::Node& node, std::string_view module) {
  const graph::VertexId vertex = node.vertex;
  if (node.variable.defined()) {  // AccumulateGrad: gradients end here
    gradients_.erase(vertex);
    return;
  }
  const std::uint32_t own = add(node.name, module);
  if (const auto saved = saved_.find(vertex); saved != saved_.end()) {
    for (const ops::RequestNumber request : saved->second)
      add_edge(requests_[request].maker, own, graph::EdgeKind::kSaved, requests_[request].bytes);
  }
  if (const auto arrived = gradients_.find(vertex); arrived != gradients_.end()) {
    for (const auto& [from, bytes] : arrived->second)
      add_edge(from, own, graph::EdgeKind::kData, bytes);
    gradients_.erase(arrived);
  }
  for (const ops::Edge& edge : node.next) {
    if (!edge.node || edge.input_nr >= edge.node->metadata.size()) continue;
    const ops::GradMetadata& m = edge.node->metadata[edge.input_nr];
    const auto bytes = static_cast<Bytes>(ops::numel_of(m.sizes)) * ops::element_bytes(m.dtype);
    gradients_[edge.node->vertex].emplace_back(own, bytes);
  }
}

void GraphRecorder::allocate(ops::RequestNumber request, Bytes bytes, std::string_view name,
                             std::string_view module) {
  if (current_ == kNone || into_.vertices[current_].name != name) add(name, module);
  into_.vertices[current_].bytes += bytes;
  if (request >= requests_.size()) requests_.resize(request + 1);
  requests_[request] = {bytes, current_};
}

void GraphRecorder::keep(ops::RequestNumber request) {
  if (current_op_ == graph::kNoVertex || request >= requests_.size()) return;
  std::vector<ops::RequestNumber>& kept = saved_[current_op_];
  if (std::find(kept.begin(), kept.end(), request) == kept.end()) kept.push_back(request);
}

}  // namespace tidemark::torch
