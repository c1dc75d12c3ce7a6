#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/ops/context.h"

namespace tidemark::graph {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xffffffffU;
/// Memory as a graph names it: every run of the graph has its own.
using StorageId = std::uint32_t;
inline constexpr StorageId kNoStorage = 0xffffffffU;

enum class NodeKind : std::uint8_t {
  kInput,
  kTangent,  ///< an incoming gradient of the backward pass
  kView,
  kPart,  ///< one of several results
  kPointwise,
  kReduction,
  kCopy,
  kCast,
  kFill,  ///< from nothing
  kProduct,
  kCat,
  kOpaque,  ///< an operator that is no one kernel of the above
};

/// What running a node asks for, in order.
struct Effect {
  enum class Kind : std::uint8_t { kAllocate, kFree, kWorkspace, kLtWorkspace, kLaunch };
  Kind kind = Kind::kAllocate;
  ops::Device device = ops::kHost;
  StorageId storage = kNoStorage;  ///< kAllocate, kFree
  Bytes bytes = 0;                 ///< kAllocate
  std::int64_t calls = 0;          ///< kWorkspace
  std::uint64_t flops = 0;         ///< kLaunch
  std::uint64_t bytes_moved = 0;
  ops::KernelClass kernel = ops::KernelClass::kElementwise;
  ops::ScalarType precision = ops::ScalarType::kFloat32;
};

/// One operator call of compiled code, and the tensor that it gives. One that gives several has
/// parts behind it, each a node of its own.
struct GraphNode {
  std::string_view name;  ///< as ATen calls it; lives as long as the program
  NodeKind kind = NodeKind::kOpaque;
  bool has_parts = false;
  bool is_parameter = false;  ///< kInput: of a module, which keeps it anyway
  /// Two of the same name, inputs and settings give the same; 0: nobody knows the settings.
  std::uint64_t settings = 0;
  std::uint32_t module = 0;  ///< label of the module path it ran under
  /// The checkpointed code that it is part of, by the order of the calls; 0: none. It is computed
  /// again in backward.
  std::uint32_t region = 0;
  bool is_kept = false;      ///< of a region: the program has its result kept nevertheless
  std::uint8_t numbers = 0;  ///< operands that are Python numbers
  /// How it was called, in text: the arguments that are no tensors. Lives as long as the program.
  std::string_view call{};
  std::vector<std::int64_t> dims{};  ///< of a reduction: those that go; of others what they say
  std::vector<NodeId> inputs;
  std::vector<Effect> effects;
  std::uint32_t results_from = 0;  ///< so many effects come before it gives its results
  StorageId storage = kNoStorage;
  ops::Dims sizes;
  ops::Dims strides;
  std::int64_t offset = 0;
  ops::ScalarType dtype = ops::ScalarType::kFloat32;
  ops::Device device = ops::kHost;
};

/// Compiled code as AOTAutograd sees it: the forward pass, then tangents and the backward pass. A
/// node comes after those that it reads.
struct NodeGraph {
  std::vector<GraphNode> nodes;
  std::vector<ops::Role> roles;   ///< by storage
  std::vector<NodeId> outputs;    ///< of the forward pass
  std::vector<NodeId> written;    ///< inputs that the last of the outputs are written into
  std::vector<NodeId> gradients;  ///< of the inputs that want one; kNoNode: nothing reaches it

  /// Computes once what is computed twice alike. What shares memory with a result stays as it is.
  /// Source: torch's fx_graph_cse.
  void merge_equal(const std::vector<bool>& are_converted = {});
  /// By node: those that read it, in order, each once.
  [[nodiscard]] std::vector<std::vector<NodeId>> users() const;
  /// What `wanted` needs, in order, without looking behind `given`.
  [[nodiscard]] std::vector<NodeId> needed_for(const std::vector<NodeId>& wanted,
                                               const std::vector<NodeId>& given) const;
};

/// An operator of torch.ops._c10d_functional; the wait for one is another.
bool is_collective(std::string_view name);
/// What a tensor takes by its sizes, as the partitioner counts: 0 of several.
Bytes bytes_of(const GraphNode& node);

}  // namespace tidemark::graph
