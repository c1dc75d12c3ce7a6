#include "sim/graph/inductor/graph_builder.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "sim/graph/inductor/index.h"
#include "sim/ops/tensor.h"

namespace tidemark::graph::inductor {

using ops::Dims;
using ops::ScalarType;

namespace {

bool gives_bool(std::string_view name) {
  static constexpr std::string_view kNames[] = {"eq",         "ne",    "lt",          "le",
                                                "gt",         "ge",    "logical_not", "logical_and",
                                                "logical_or", "isnan", "isinf"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

bool is_narrower(ScalarType a, ScalarType b) {
  const auto rank = [](ScalarType type) {
    const int kind = ops::is_floating(type) ? 2 : type == ScalarType::kBool ? 0 : 1;
    return kind * 100 + static_cast<int>(ops::element_bytes(type));
  };
  return rank(a) < rank(b);
}

}  // namespace

NodeId GraphBuilder::add(GraphNode node) {
  node.module = module_;
  node.region = region_;
  node.is_kept = is_kept_;
  graph_.nodes.push_back(std::move(node));
  return static_cast<NodeId>(graph_.nodes.size() - 1);
}

void GraphBuilder::follow(const GraphNode& node) {
  module_ = node.module;
  region_ = node.region;
  is_kept_ = node.is_kept;
}

StorageId GraphBuilder::new_storage() {
  graph_.roles.push_back(ops::Role::kTemporary);
  return static_cast<StorageId>(graph_.roles.size() - 1);
}

Dims pointwise_strides(const NodeGraph& graph, const std::vector<NodeId>& inputs,
                       const Dims& sizes) {
  const Dims dense = dense_strides(sizes);
  const auto is_plain = [&](NodeId id) {
    const GraphNode& node = graph.nodes[id];
    return node.sizes.empty() || (node.sizes == sizes && node.strides == dense);
  };
  if (std::all_of(inputs.begin(), inputs.end(), is_plain)) return dense;
  std::vector<ops::Tensor> tensors;
  std::vector<const ops::Tensor*> operands;
  tensors.reserve(inputs.size());
  for (const NodeId id : inputs) {
    const GraphNode& node = graph.nodes[id];
    Ref<ops::TensorImpl> impl = make_ref<ops::TensorImpl>();
    impl->sizes = node.sizes;
    impl->strides = node.strides;
    impl->dtype = node.dtype;
    tensors.emplace_back(std::move(impl));
  }
  operands.reserve(tensors.size());
  for (const ops::Tensor& tensor : tensors) operands.push_back(&tensor);
  return ops::iterator_strides(sizes, operands);
}

NodeId GraphBuilder::pointwise(std::string_view name, std::vector<NodeId> inputs,
                               std::string_view numbers, int count) {
  GraphNode node;
  node.name = name;
  node.kind = NodeKind::kPointwise;
  node.device = device;
  std::size_t rank = 0;
  bool is_first = true;
  bool has_dims = false;
  for (const NodeId id : inputs) {
    const GraphNode& operand = graph_.nodes[id];
    rank = std::max(rank, operand.sizes.size());
    device = node.device = operand.device;
    if (name == "where" && id == inputs.front() && operand.dtype == ScalarType::kBool) continue;
    const bool counts_less = has_dims && operand.sizes.empty();
    if (is_first || (!has_dims && !operand.sizes.empty()) ||
        (!counts_less && is_narrower(node.dtype, operand.dtype)))
      node.dtype = operand.dtype;
    is_first = false;
    has_dims = has_dims || !operand.sizes.empty();
  }
  if (gives_bool(name)) node.dtype = ScalarType::kBool;
  node.sizes = Dims::filled(rank, 1);
  for (const NodeId id : inputs) {
    const Dims& sizes = graph_.nodes[id].sizes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::int64_t& size = node.sizes[rank - sizes.size() + i];
      size = size == 1 ? sizes[i] : size;
    }
  }
  node.strides = pointwise_strides(graph_, inputs, node.sizes);
  node.inputs = std::move(inputs);
  node.numbers = static_cast<std::uint8_t>(count >= 0 ? count : numbers.empty() ? 0 : 1);
  // "#1r" is the same number as "#1", before the operand instead of behind it.
  const bool is_reflected = !numbers.empty() && numbers.front() == '#' && numbers.back() == 'r';
  if (is_reflected) numbers.remove_suffix(1);
  node.settings = (std::hash<std::string_view>{}(numbers) & ~kReflected) | 1U;
  if (is_reflected) node.settings |= kReflected;
  node.storage = new_storage();
  return add(std::move(node));
}

NodeId GraphBuilder::convert(NodeId x, ScalarType dtype) {
  if (graph_.nodes[x].dtype == dtype) return x;
  const NodeId id = pointwise("convert_element_type", {x});
  graph_.nodes[id].kind = NodeKind::kCast;
  graph_.nodes[id].dtype = dtype;
  return id;
}

NodeId GraphBuilder::fill(std::string_view name, const Dims& sizes, ScalarType dtype,
                          std::string_view number) {
  GraphNode node;
  node.name = name;
  node.kind = NodeKind::kFill;
  node.sizes = sizes;
  node.strides = dense_strides(sizes);
  node.dtype = dtype;
  node.device = device;
  node.settings = std::hash<std::string_view>{}(number) | 1U;
  node.storage = new_storage();
  return add(std::move(node));
}

NodeId GraphBuilder::reduce(std::string_view name, NodeId x, const std::vector<std::int64_t>& dims,
                            bool keeps_dims, ScalarType dtype) {
  GraphNode node;
  node.name = name;
  node.kind = NodeKind::kReduction;
  node.inputs = {x};
  node.dims = dims;
  node.dtype = dtype;
  node.device = graph_.nodes[x].device;
  const Dims& sizes = graph_.nodes[x].sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool goes =
        std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(i)) != dims.end();
    if (!goes) {
      node.sizes.push_back(sizes[i]);
    } else if (keeps_dims) {
      node.sizes.push_back(1);
    }
  }
  node.strides = dense_strides(node.sizes);
  node.settings = keeps_dims ? 3 : 1;
  for (const std::int64_t dim : dims)
    node.settings = mixed(node.settings, static_cast<std::uint64_t>(dim)) | 1U;
  node.storage = new_storage();
  return add(std::move(node));
}

NodeId GraphBuilder::view(std::string_view name, NodeId base, const Dims& sizes,
                          const Dims& strides, std::int64_t offset) {
  GraphNode node;
  node.name = name;
  node.kind = NodeKind::kView;
  node.inputs = {base};
  node.sizes = sizes;
  node.strides = strides;
  node.offset = offset;
  node.dtype = graph_.nodes[base].dtype;
  node.device = graph_.nodes[base].device;
  node.storage = graph_.nodes[base].storage;
  return add(std::move(node));
}

NodeId GraphBuilder::unsqueeze(NodeId x, std::size_t dim) {
  Dims sizes = graph_.nodes[x].sizes;
  Dims strides = graph_.nodes[x].strides;
  const std::int64_t stride = dim < sizes.size() ? sizes[dim] * strides[dim] : 1;
  sizes.insert(dim, 1);
  strides.insert(dim, stride);
  return view("unsqueeze", x, sizes, strides, graph_.nodes[x].offset);
}

NodeId GraphBuilder::squeeze(NodeId x, const std::vector<std::int64_t>& dims) {
  Dims sizes;
  Dims strides;
  for (std::size_t i = 0; i < graph_.nodes[x].sizes.size(); ++i) {
    if (std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(i)) != dims.end()) continue;
    sizes.push_back(graph_.nodes[x].sizes[i]);
    strides.push_back(graph_.nodes[x].strides[i]);
  }
  return view("squeeze", x, sizes, strides, graph_.nodes[x].offset);
}

NodeId GraphBuilder::expand(NodeId x, const Dims& sizes) {
  Dims strides = Dims::filled(sizes.size(), 0);
  const GraphNode& node = graph_.nodes[x];
  const std::size_t more = sizes.size() - node.sizes.size();
  for (std::size_t i = 0; i < node.sizes.size(); ++i) {
    if (node.sizes[i] == sizes[more + i]) strides[more + i] = node.strides[i];
  }
  return view("expand", x, sizes, strides, node.offset);
}

NodeId GraphBuilder::part(NodeId whole, int number, const Dims& sizes, const Dims& strides,
                          ScalarType dtype) {
  GraphNode node;
  node.name = "getitem";
  node.kind = NodeKind::kPart;
  node.inputs = {whole};
  node.dims = {number};
  node.sizes = sizes;
  node.strides = strides;
  node.dtype = dtype;
  node.device = graph_.nodes[whole].device;
  node.storage = new_storage();
  return add(std::move(node));
}

NodeId GraphBuilder::opaque(std::string_view name, std::vector<NodeId> inputs, const Dims& sizes,
                            ScalarType dtype) {
  GraphNode node;
  node.name = name;
  node.kind = NodeKind::kOpaque;
  node.inputs = std::move(inputs);
  node.sizes = sizes;
  node.strides = dense_strides(sizes);
  node.dtype = dtype;
  node.device = device;
  node.storage = new_storage();
  return add(std::move(node));
}

ScalarType computed_in(ScalarType dtype) {
  const bool is_narrow = ops::is_floating(dtype) && ops::element_bytes(dtype) < 4;
  return is_narrow ? ScalarType::kFloat32 : dtype;
}

}  // namespace tidemark::graph::inductor
