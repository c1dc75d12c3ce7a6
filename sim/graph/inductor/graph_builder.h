#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/graph/node_graph.h"

namespace tidemark::graph::inductor {

/// In GraphNode::settings: the number stands before the operand.
inline constexpr std::uint64_t kReflected = std::uint64_t{1} << 63U;

/// What norms, softmaxes and their gradients are computed in. Source: torch's
/// get_computation_dtype.
[[nodiscard]] ops::ScalarType computed_in(ops::ScalarType dtype);

/// Adds nodes to a graph, with the sizes, strides and types that PyTorch's fake tensors have.
class GraphBuilder {
 public:
  explicit GraphBuilder(NodeGraph& graph) : graph_(graph) {}
  GraphNode& operator[](NodeId id) { return graph_.nodes[id]; }

  /// An element-wise operator; `numbers`: its Python numbers, as text. Comparisons give bool.
  NodeId pointwise(std::string_view name, std::vector<NodeId> inputs, std::string_view numbers = {},
                   int count = -1);
  NodeId convert(NodeId x, ops::ScalarType dtype);
  /// Numbers from nothing.
  NodeId fill(std::string_view name, const ops::Dims& sizes, ops::ScalarType dtype,
              std::string_view number = {});
  NodeId reduce(std::string_view name, NodeId x, const std::vector<std::int64_t>& dims,
                bool keeps_dims, ops::ScalarType dtype);
  NodeId view(std::string_view name, NodeId base, const ops::Dims& sizes, const ops::Dims& strides,
              std::int64_t offset);
  NodeId unsqueeze(NodeId x, std::size_t dim);
  NodeId squeeze(NodeId x, const std::vector<std::int64_t>& dims);
  NodeId expand(NodeId x, const ops::Dims& sizes);
  /// A result among several, of an operator that has parts.
  NodeId part(NodeId whole, int number, const ops::Dims& sizes, const ops::Dims& strides,
              ops::ScalarType dtype);
  NodeId opaque(std::string_view name, std::vector<NodeId> inputs, const ops::Dims& sizes,
                ops::ScalarType dtype);
  NodeId add(GraphNode node);
  StorageId new_storage();

  /// What is added from here on belongs where a node of another graph does.
  void follow(const GraphNode& node);

  ops::Device device = ops::kHost;

 private:
  NodeGraph& graph_;
  std::uint32_t module_ = 0;
  std::uint32_t region_ = 0;
  bool is_kept_ = false;
};

/// The strides of an element-wise result, as TensorIterator gives them.
ops::Dims pointwise_strides(const NodeGraph& graph, const std::vector<NodeId>& inputs,
                            const ops::Dims& sizes);

}  // namespace tidemark::graph::inductor
