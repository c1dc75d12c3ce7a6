#pragma once

#include <string_view>
#include <vector>

#include "sim/graph/node_graph.h"

namespace tidemark::graph::inductor {

/// A captured graph in the operators that inductor lowers: those that it has decompositions for
/// become what they are made of, each name as torch.fx counts it, backward functions as well.
/// Errors: ops::NotModelled, with the operator's name. Source: docs/rules/compile.md#1.
/// `places`: by node of the captured graph, which one it is now; kNoNode: it is none any more.
/// `under_autocast`: it was traced so, and its backward functions too.
/// `unknown`: operators whose decompositions are not known; each is a loop, a reduction or a kernel
/// of its own.
NodeGraph decompose(const NodeGraph& captured, bool under_autocast, std::vector<NodeId>& places,
                    std::vector<std::string_view>& unknown);

/// A decomposition of element-wise operators, as text: statements `name = operator operands`, the
/// last without a name; operands are names, `x y z` those of the operator, or numbers behind `#`.
struct Formula {
  std::string_view op;
  std::string_view when;  ///< part of the call's text; empty: always
  std::string_view text;
  bool widens = false;  ///< computes in float32 what is narrower
};

/// The formula of an operator; nullptr: it has none.
const Formula* formula_of(std::string_view op, std::string_view call);

}  // namespace tidemark::graph::inductor
