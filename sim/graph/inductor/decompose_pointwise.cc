// Element-wise operators: as inductor has them, or what they are made of.

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/graph/inductor/decomposer.h"
#include "sim/graph/inductor/index.h"
#include "sim/ops/context.h"

namespace tidemark::graph::inductor {

using ops::ScalarType;

namespace {

/// Element-wise operators that inductor lowers as they are.
bool is_kept(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "add",         "sub",
      "mul",         "div",
      "neg",         "exp",
      "log",         "sqrt",
      "rsqrt",       "tanh",
      "sigmoid",     "relu",
      "sin",         "cos",
      "abs",         "pow",
      "reciprocal",  "erf",
      "where",       "eq",
      "ne",          "lt",
      "le",          "gt",
      "ge",          "maximum",
      "minimum",     "clamp",
      "clamp_min",   "clamp_max",
      "logical_not", "logical_and",
      "logical_or",  "bitwise_and",
      "bitwise_or",  "bitwise_not",
      "expm1",       "_low_memory_max_pool_offsets_to_indices",
      "log1p",       "log2",
      "floor",       "ceil",
      "round",       "sign",
      "pointwise",   "floor_divide",
      "remainder",   "add_",
      "isnan",       "isinf"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// Gradients that are one operator, such as the product of two tensors.
bool is_one_product(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "pointwise",    "mul_backward", "div_backward",   "add_backward",        "sub_backward",
      "neg_backward", "exp_backward", "where_backward", "masked_fill_backward"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// Of a sum or a difference: whether the second operand is scaled (alpha=).
bool is_scaled(const GraphNode& node) {
  const std::string_view call = node.call;
  return (call.starts_with("add") || call.starts_with("sub")) &&
         call.find(", tensor, tensor, ") != std::string_view::npos && !call.ends_with(", 1");
}

}  // namespace

std::string_view Decomposer::without_underscore(std::string_view name) {
  if (name.size() > 1 && name.back() == '_' && name[name.size() - 2] != '_') name.remove_suffix(1);
  return name;
}

/// A formula's value. `names`: the operands' nodes by name.
NodeId Decomposer::evaluate(std::string_view text, std::map<std::string_view, NodeId> names) {
  NodeId last = kNoNode;
  while (!text.empty()) {
    const std::size_t end = text.find(';');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    std::vector<std::string_view> words;
    while (!line.empty()) {
      const std::size_t space = line.find(' ');
      const std::string_view word = line.substr(0, space);
      if (!word.empty()) words.push_back(word);
      line = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
    }
    const bool is_named = words.size() > 2 && words[1] == "=";
    const std::size_t first = is_named ? 2 : 0;
    const std::string_view op = words[first];
    std::vector<NodeId> operands;
    std::string_view number;
    for (std::size_t i = first + 1; i < words.size(); ++i) {
      if (words[i].front() == '#') {
        number = words[i];
      } else {
        operands.push_back(names.at(words[i]));
      }
    }
    if (op == "alias") {
      const GraphNode& node = out_.nodes[operands[0]];
      last = builder_.view("alias", operands[0], node.sizes, node.strides, node.offset);
    } else if (op == "convert") {
      last = builder_.convert(operands[0], out_.nodes[operands[1]].dtype);
    } else if (op == "clone") {
      last = builder_.pointwise("clone", operands);
      out_.nodes[last].kind = NodeKind::kCopy;
    } else if (op == "where" && !number.empty()) {
      const NodeId value = builder_.fill("full", {}, out_.nodes[operands[1]].dtype, number);
      last = builder_.pointwise("where", {operands[0], value, operands[1]});
    } else {
      last = builder_.pointwise(op, operands, number);
    }
    if (is_named) names[words[0]] = last;
  }
  return last;
}

bool Decomposer::by_formula(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const Formula* formula = formula_of(without_underscore(node.name), node.call);
  if (formula == nullptr) return false;
  static constexpr std::string_view kOperands[] = {"x", "y", "z"};
  std::map<std::string_view, NodeId> names;
  std::vector<NodeId> inputs = inputs_of(id);
  for (std::size_t i = 0; i < inputs.size() && i < 3; ++i) {
    const ScalarType dtype = out_.nodes[inputs[i]].dtype;
    const bool is_narrow = ops::is_floating(dtype) && ops::element_bytes(dtype) < 4;
    names[kOperands[i]] = formula->widens && is_narrow
                              ? builder_.convert(inputs[i], ScalarType::kFloat32)
                              : inputs[i];
  }
  NodeId result = evaluate(formula->text, std::move(names));
  if (formula->widens) result = builder_.convert(result, node.dtype);
  gives(id, result);
  return true;
}

void Decomposer::element_wise(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const std::string_view name = without_underscore(node.name);
  if (name == "masked_fill") {
    // The input, the value if it lies on the device, the mask.
    const std::vector<NodeId> inputs = inputs_of(id);
    const NodeId value =
        inputs.size() > 2 ? inputs[1] : builder_.fill("full", {}, node.dtype, node.call);
    const NodeId result = builder_.pointwise("where", {inputs.back(), value, inputs[0]});
    gives(id, result);
    return;
  }
  const bool is_product = is_one_product(name);
  if (!is_kept(name) && !is_product) remember(name);
  std::vector<NodeId> inputs = inputs_of(id);
  if (inputs.empty()) refuse(node.name);
  // Dynamo writes a scaled sum in place as a product and a sum (variables/tensor.py, method_add_).
  const bool scales_first = node.name == "add_" && is_scaled(node) && inputs.size() == 2;
  if (scales_first) inputs[1] = builder_.pointwise("mul", {inputs[1]}, node.call, 1);
  // A gradient's step, or a loss's, is the same operator as the program's.
  const bool is_sum = (name == "add" || name == "sub") && inputs.size() == 2 && !is_scaled(node);
  const bool says_all =
      node.numbers == 0 && (is_sum || name == "mul" || name == "neg" || name == "exp" ||
                            (name == "div" && node.call.find("ounding") == std::string_view::npos));
  const NodeId result = builder_.pointwise(is_product ? "mul" : name, std::move(inputs),
                                           says_all ? std::string_view() : node.call, node.numbers);
  GraphNode& made = out_.nodes[result];
  if (!says_all) made.settings = node.settings;
  if (is_scaled(node) && !scales_first) made.dims = {1};
  made.dtype = node.dtype;
  made.sizes = node.sizes;
  gives(id, result);
}

void Decomposer::copy(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const NodeId x = inputs_of(id).front();
  if (node.dtype != out_.nodes[x].dtype) {
    gives(id, builder_.convert(x, node.dtype));
    return;
  }
  const NodeId result = builder_.pointwise("clone", {x});
  GraphNode& made = out_.nodes[result];
  made.kind = NodeKind::kCopy;
  made.dims = {made.strides == node.strides ? 0 : 1};
  made.settings = node.settings;
  gives(id, result);
}

}  // namespace tidemark::graph::inductor
