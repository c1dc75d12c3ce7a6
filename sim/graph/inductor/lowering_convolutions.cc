// What kernels of convolutions and of products of batches copy of their operands, by how they lie
// when they run. Source: docs/rules/compile.md#4; at::native's convolution_backward,
// cudnn_convolution_forward, prepare_batch_matrix_for_cublas.

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "sim/graph/inductor/fake_strides.h"
#include "sim/graph/inductor/lowering.h"

namespace tidemark::graph::inductor {

using ops::Dims;

namespace {

using Effects = std::vector<Effect>;

constexpr StorageId kFirstCopy = 0xf0000000U;  // of a kernel, numbered from here

/// What a kernel asks for, written anew.
class CopyWriter {
 public:
  explicit CopyWriter(const GraphNode& node) : node_(node) {}

  /// Leaves copies of operands of these sizes out. False: it has other scratch.
  bool leave_out_copies(const std::vector<Bytes>& sizes) {
    for (const Effect& effect : node_.effects) {
      const bool is_memory =
          effect.kind == Effect::Kind::kAllocate || effect.kind == Effect::Kind::kFree;
      if (!is_memory || !is_scratch(effect.storage)) {
        rest_.push_back(effect);
      } else if (effect.kind == Effect::Kind::kAllocate &&
                 std::find(sizes.begin(), sizes.end(), effect.bytes) == sizes.end()) {
        return false;
      }
    }
    return true;
  }
  /// Has the second asked for where the first is, if that comes before.
  void swap(StorageId first, StorageId second) {
    const auto place = [this](StorageId storage) {
      return std::find_if(rest_.begin(), rest_.end(), [storage](const Effect& effect) {
        return effect.kind == Effect::Kind::kAllocate && effect.storage == storage;
      });
    };
    const auto a = place(first);
    const auto b = place(second);
    if (a < b && b != rest_.end()) std::iter_swap(a, b);
  }
  /// Whether it has yet to ask for this memory.
  bool before(StorageId storage) const {
    return std::any_of(rest_.begin() + static_cast<std::ptrdiff_t>(next_), rest_.end(),
                       [storage](const Effect& effect) {
                         return effect.kind == Effect::Kind::kAllocate && effect.storage == storage;
                       });
  }
  /// Whether it asks for this memory. Then all before it is written.
  bool write_to(StorageId storage) {
    for (std::size_t i = next_; i < rest_.size(); ++i) {
      if (rest_[i].kind != Effect::Kind::kAllocate || rest_[i].storage != storage) continue;
      while (next_ < i) effects.push_back(rest_[next_++]);
      return true;
    }
    return false;
  }
  void write_one() {
    if (next_ < rest_.size()) effects.push_back(rest_[next_++]);
  }
  void write_rest() {
    while (next_ < rest_.size()) write_one();
  }
  void copy(const GraphNode& of) {
    Effect effect;
    effect.device = of.device;
    effect.storage = kFirstCopy + static_cast<StorageId>(copies_++);
    effect.bytes = bytes_of(of);
    effects.push_back(effect);
    live_.push_back(effect);
  }
  /// Lets go of the copies made since there were so many, the last first.
  void drop_to(std::size_t count) {
    while (live_.size() > count) drop();
  }
  [[nodiscard]] std::size_t live() const { return live_.size(); }
  /// Lets go of the copy made last.
  void drop() {
    Effect effect = live_.back();
    live_.pop_back();
    effect.kind = Effect::Kind::kFree;
    effects.push_back(effect);
  }
  void drop_all() {
    while (!live_.empty()) drop();
  }

  Effects effects;

 private:
  [[nodiscard]] bool is_scratch(StorageId storage) const {
    return std::any_of(node_.effects.begin(), node_.effects.end(), [&](const Effect& effect) {
      return effect.kind == Effect::Kind::kFree && effect.storage == storage;
    });
  }

  const GraphNode& node_;
  Effects rest_;
  Effects live_;
  std::size_t next_ = 0;
  std::size_t copies_ = 0;
};

}  // namespace

/// `is_last`: the kernel wants its operands with their channels innermost.
void Lowering::copy_operands(NodeId id, bool is_last) {
  const GraphNode& node = nodes_[id];
  std::vector<Bytes> sizes;
  for (const NodeId input : node.inputs) {
    const std::size_t rank = nodes_[input].sizes.size();
    if (rank == 3 || rank == 4) sizes.push_back(bytes_of(nodes_[input]));
  }
  const bool is_gradient = node.name.ends_with("convolution_backward");
  if (sizes.size() < (is_gradient ? 3U : 2U)) return;
  const auto lies = [&](NodeId input, bool last) {
    const Dims& of = nodes_[input].sizes;
    return lies_as(of, strides_of(values_[input]), last ? channels_last(of) : dense_strides(of));
  };
  CopyWriter writer(node);
  if (!writer.leave_out_copies(sizes)) return;
  if (!is_gradient) {
    if (!lies(node.inputs[0], is_last)) writer.copy(nodes_[node.inputs[0]]);
    if (writer.write_to(node.storage)) writer.write_one();
    if (!lies(node.inputs[1], is_last)) writer.copy(nodes_[node.inputs[1]]);
  } else {
    std::array<StorageId, 2> results{kNoStorage, kNoStorage};
    const NodeId x = node.inputs[1];
    const NodeId weight = node.inputs[2];
    // What nobody wants is no part.
    for (const NodeId part : users_[id]) {
      if (nodes_[part].sizes.size() == 1) continue;
      const bool is_of_input = nodes_[part].sizes == nodes_[x].sizes && results[0] == kNoStorage;
      results[is_of_input ? 0 : 1] = nodes_[part].storage;
    }
    const bool is_transposed = node.call.find("transpose") != std::string_view::npos;
    const bool is_depthwise =
        nodes_[weight].sizes[1] == 1 && nodes_[x].sizes[1] > 1 && !is_transposed;
    if (is_depthwise && is_last) writer.swap(results[1], results[0]);
    if (results[1] != kNoStorage && !lies(x, is_last)) writer.copy(nodes_[x]);
    // What comes in has the input's format first, whatever gaps it has, unless the convolution is
    // transposed; each gradient wants it, and its other operand, without gaps.
    const NodeId g = node.inputs[0];
    const bool is_flat = nodes_[g].sizes.size() != 4;
    const bool is_double = nodes_[g].dtype == ops::ScalarType::kFloat64;
    const auto suggests = [&](NodeId input) {
      return !is_double && suggests_channels_last(nodes_[input].sizes, strides_of(values_[input]));
    };
    const bool is_x_last = results[1] != kNoStorage ? is_last : suggests(x);
    const bool is_packed = is_flat || is_depthwise || is_transposed;
    const bool is_recast = is_packed ? !lies(g, is_last) : suggests(g) != is_x_last;
    if (is_recast) writer.copy(nodes_[g]);
    const bool is_g_last = is_recast ? is_x_last : suggests(g);
    const std::size_t held = writer.live();
    const auto has_gaps = [&](bool last) {
      return !is_packed && (is_recast ? last != is_x_last : !lies(g, last));
    };
    if (results[0] != kNoStorage && writer.write_to(results[0])) {
      writer.write_one();
      const bool last = is_packed ? is_last : is_g_last || suggests(weight);
      if (!lies(weight, last)) writer.copy(nodes_[weight]);
      if (has_gaps(last)) writer.copy(nodes_[g]);
      writer.drop_to(held);
    }
    if (results[1] != kNoStorage && has_gaps(is_last || is_g_last) && writer.before(results[1])) {
      writer.copy(nodes_[g]);
      writer.write_to(results[1]);
      writer.write_one();
      writer.drop_to(held);
    }
  }
  writer.write_rest();
  writer.drop_all();
  program.effects.emplace_back(id, std::move(writer.effects));
}

/// Copies of the factors of a product of batches that cuBLAS cannot read. A view that was taken of
/// a loop, before that had memory, has a stride of 0 where its size is 1. Source: torch's
/// ExternKernel.convert_to_reinterpret_view.
void Lowering::copy_factors(NodeId id) {
  const GraphNode& node = nodes_[id];
  if (node.sizes.size() != 3 || !node.device.is_cuda()) return;
  std::vector<NodeId> factors{node.inputs.end() - 2, node.inputs.end()};
  const auto is_readable = [&](NodeId factor) {
    const View& view = values_[factor];
    if (!is_strided(view)) return true;  // it was copied
    Dims strides = strides_of(view);
    const Dims& sizes = view.sizes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (!view.is_whole && !view.is_memory && sizes[i] == 1) strides[i] = 0;
    }
    const auto leads = [&](std::size_t dense, std::size_t other) {
      return strides[dense] == 1 && strides[other] >= std::max<std::int64_t>(1, sizes[dense]);
    };
    const bool has_no_gaps = lies_as(sizes, strides, dense_strides(sizes));
    return leads(2, 1) || leads(1, 2) || (has_no_gaps && strides[1] != 0 && strides[2] != 0);
  };
  // Rows are columns to cuBLAS: the second factor comes first, unless the result is one column.
  if (node.sizes[2] != 1) std::swap(factors[0], factors[1]);
  if (is_readable(factors[0]) && is_readable(factors[1])) return;
  CopyWriter writer(node);
  if (!writer.leave_out_copies({bytes_of(nodes_[factors[0]]), bytes_of(nodes_[factors[1]])}))
    return;
  if (writer.write_to(node.storage)) writer.write_one();
  for (const NodeId factor : factors) {
    if (!is_readable(factor)) writer.copy(nodes_[factor]);
  }
  writer.write_rest();
  writer.drop_all();
  program.effects.emplace_back(id, std::move(writer.effects));
}

}  // namespace tidemark::graph::inductor
