#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/bytes.h"
#include "sim/graph/op_graph.h"

namespace tidemark::graph {

/// What ran: an operator call, or a node of the backward pass.
struct DetailVertex {
  std::string name;         ///< "addmm", "AddmmBackward0"
  std::string module;       ///< "h.0.attn.c_attn"; empty: no module's
  std::uint32_t phase = 0;  ///< index into Details::phases
  Bytes bytes = 0;          ///< asked for while it ran
};

/// What one gave to another. kData: a tensor that it reads, gradients among them; kAlias: that it
/// looks at under another shape; kSaved: kept for it since forward; kControl: that it writes over.
struct DetailEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  EdgeKind kind = EdgeKind::kData;
  Bytes bytes = 0;
  friend bool operator==(const DetailEdge&, const DetailEdge&) = default;
};

/// What a call of a compiled function was made into, as text.
struct CompiledCode {
  std::string joint;        ///< forward and backward in one graph
  std::string partitioned;  ///< cut in two, with what the first keeps for the second
  std::string fused;        ///< by inductor: which operations share a kernel
  std::string buffers;      ///< by inductor: what gets memory when
  friend bool operator==(const CompiledCode&, const CompiledCode&) = default;
};

/// A run's graph as people look at it: with backward, bytes and phases. Plain data.
struct Details {
  std::vector<std::string> phases{""};  ///< in order; the first is before any mark
  std::vector<DetailVertex> vertices;   ///< in the order they ran
  std::vector<DetailEdge> edges;
  std::vector<CompiledCode> compiled;  ///< each that differs from the others, in order
};

/// One box and one arrow of a drawing.
struct DotVertex {
  std::string label;
  std::string fill;  ///< colour
};
struct DotEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::string label;
  std::string style;  ///< "solid", "dashed", "dotted"
  std::string colour;
};

/// Graphviz's text, by Boost's write_graphviz.
std::string graphviz(const std::string& title, const std::vector<DotVertex>& vertices,
                     const std::vector<DotEdge>& edges);

}  // namespace tidemark::graph
