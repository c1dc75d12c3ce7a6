// Losses as inductor has them: loops, then a mean or a sum. Source: docs/rules/compile.md#1.

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "sim/graph/inductor/decomposer.h"
#include "sim/graph/inductor/index.h"

namespace tidemark::graph::inductor {

using ops::ScalarType;

namespace {

constexpr std::string_view kBceBackward =
    "a = sub y z; b = mul x a; c = sub y #1r; d = mul c y; e = clamp_min d #1e-12; div b e";

/// What is computed of each pair; `x y` are the operands, of a gradient behind the incoming one.
constexpr Formula kLosses[] = {
    {"mse_loss", "", "a = sub x y; pow a #2", true},
    {"l1_loss", "", "a = sub x y; abs a", true},
    {"smooth_l1_loss", "",
     "a = sub x y; b = abs a; c = lt b #beta; d = pow b #2; e = mul d #0.5; f = div e #beta; "
     "g = sub b #half; where c f g",
     true},
    {"huber_loss", "",
     "a = sub x y; b = abs a; c = le b #delta; d = mul b #0.5; e = mul d b; f = sub b #half; "
     "g = mul f #delta; where c e g",
     true},
    {"soft_margin_loss", "", "a = neg x; b = mul a y; c = exp b; log1p c", true},
    {"binary_cross_entropy_with_logits", "",
     "a = sub y #1r; b = mul a x; n = abs x; m = neg n; e = exp m; l = log1p e; "
     "z = minimum x #0; s = sub z l; sub b s",
     true},
    {"binary_cross_entropy", "",
     "a = sub y #1; b = neg x; c = log1p b; d = clamp_min c #-100; e = mul a d; f = log x; "
     "g = clamp_min f #-100; h = mul y g; sub e h",
     true},
};

constexpr Formula kLossGradients[] = {
    {"mse_loss_backward", "", "a = sub y z; b = mul a #norm; mul b x", true},
    {"smooth_l1_loss_backward", "",
     "a = sub y z; b = abs a; c = mul x #norm; d = lt b #beta; e = mul c a; f = div e #beta; "
     "g = sign a; h = mul c g; where d f h",
     true},
    {"huber_loss_backward", "",
     "a = sub y z; b = lt a #delta; c = mul x #norm; d = gt a #delta; e = mul a #norm; "
     "f = mul e x; g = where d c f; where b c g",
     true},
    {"binary_cross_entropy_backward", "", kBceBackward, true},
    {"binary_cross_entropy_with_logits_backward", "",
     "s = sigmoid y; a = sub s z; b = mul a x; div b #n", true},
};

const Formula* find(const Formula* begin, const Formula* end, std::string_view op) {
  const Formula* found = std::find_if(begin, end, [op](const Formula& f) { return f.op == op; });
  return found == end ? nullptr : found;
}

}  // namespace

/// As the call says: each loss, their sum, or their mean.
NodeId Decomposer::summed_up(NodeId losses, std::string_view call, ScalarType dtype) {
  if (call.find(", none") != std::string_view::npos) return builder_.convert(losses, dtype);
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < out_.nodes[losses].sizes.size(); ++i)
    dims.push_back(static_cast<std::int64_t>(i));
  const bool is_sum = call.find(", sum") != std::string_view::npos;
  const ScalarType own = out_.nodes[losses].dtype;
  return builder_.convert(builder_.reduce(is_sum ? "sum" : "mean", losses, dims, false, own),
                          dtype);
}

/// Where both operands want a gradient, the target's is the input's with the operands exchanged.
/// Source: PyTorch's derivatives.yaml.
void Decomposer::loss_of_both(NodeId id, const Formula& formula) {
  const std::vector<NodeId> parts = parts_of(id);
  const std::vector<NodeId> inputs = inputs_of(id);
  if (inputs.size() != 3 || parts.size() != 2 || formula.op.starts_with("binary"))
    refuse(formula.op);
  const auto wide = [&](NodeId of) {
    const ScalarType dtype = out_.nodes[of].dtype;
    return builder_.convert(of, computed_in(dtype));
  };
  for (std::size_t i = 0; i < 2; ++i) {
    const NodeId result =
        evaluate(formula.text,
                 {{"x", wide(inputs[0])}, {"y", wide(inputs[1 + i])}, {"z", wide(inputs[2 - i])}});
    gives(parts[i], builder_.convert(result, in_.nodes[parts[i]].dtype));
  }
}

bool Decomposer::loss(NodeId id) {
  const GraphNode& node = in_.nodes[id];
  const Formula* of_loss = find(std::begin(kLosses), std::end(kLosses), node.name);
  const Formula* formula =
      of_loss != nullptr ? of_loss
                         : find(std::begin(kLossGradients), std::end(kLossGradients), node.name);
  if (formula == nullptr) return false;
  if (node.has_parts) {
    loss_of_both(id, *formula);
    return true;
  }
  const std::vector<NodeId> inputs = inputs_of(id);
  if (inputs.size() < (of_loss != nullptr ? 2U : 3U)) return false;
  static constexpr std::string_view kOperands[] = {"x", "y", "z"};
  std::map<std::string_view, NodeId> names;
  for (std::size_t i = 0; i < inputs.size() && i < 3; ++i) {
    const ScalarType dtype = out_.nodes[inputs[i]].dtype;
    const bool is_narrow = ops::is_floating(dtype) && ops::element_bytes(dtype) < 4;
    names[kOperands[i]] = is_narrow ? builder_.convert(inputs[i], ScalarType::kFloat32) : inputs[i];
  }
  // Weights of pairs.
  const std::size_t operands = of_loss != nullptr ? 2 : 3;
  NodeId result = evaluate(formula->text, std::move(names));
  for (std::size_t i = operands; i < inputs.size(); ++i)
    result = builder_.pointwise("mul", {result, inputs[i]});
  if (of_loss != nullptr) {
    gives(id, summed_up(result, node.call, node.dtype));
    return true;
  }
  const bool is_mean = node.call.find(", none") == std::string_view::npos &&
                       node.call.find(", sum") == std::string_view::npos;
  if (is_mean && node.name == "binary_cross_entropy_backward")
    result = builder_.pointwise("div", {result}, "#n");
  gives(id, builder_.convert(result, node.dtype));
  return true;
}

}  // namespace tidemark::graph::inductor
