#include "sim/torch/compile/known_code.h"

#include <algorithm>

#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using graph::GraphNode;
using graph::NodeId;
using graph::NodeKind;
using lang::Value;
using ops::Tensor;

namespace {

/// What both ask for; how long their kernels take does not count.
bool are_same(const std::vector<graph::Effect>& a, const std::vector<graph::Effect>& b) {
  const auto next = [](const std::vector<graph::Effect>& effects, std::size_t at) {
    while (at < effects.size() && effects[at].kind == graph::Effect::Kind::kLaunch) ++at;
    return at;
  };
  std::size_t i = next(a, 0);
  std::size_t j = next(b, 0);
  while (i < a.size() && j < b.size()) {
    const bool is_same = a[i].kind == b[j].kind && a[i].device == b[j].device &&
                         a[i].storage == b[j].storage && a[i].bytes == b[j].bytes &&
                         a[i].calls == b[j].calls;
    if (!is_same) return false;
    i = next(a, i + 1);
    j = next(b, j + 1);
  }
  return i == a.size() && j == b.size();
}

/// By name of memory: where the input that it belongs to begins in it.
std::vector<std::int64_t> starts_of(const graph::NodeGraph& graph) {
  std::vector<std::int64_t> starts(graph.roles.size());
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const GraphNode& node = graph.nodes[i];
    if (node.kind == NodeKind::kInput && node.storage < starts.size())
      starts[node.storage] = node.offset;
  }
  return starts;
}

bool are_same(const graph::GraphNode& a, const graph::GraphNode& b) {
  return a.name == b.name && a.kind == b.kind && a.has_parts == b.has_parts &&
         a.is_parameter == b.is_parameter && a.settings == b.settings && a.module == b.module &&
         a.region == b.region && a.is_kept == b.is_kept && a.numbers == b.numbers &&
         a.call == b.call && a.dims == b.dims && a.inputs == b.inputs && a.storage == b.storage &&
         a.sizes == b.sizes && a.strides == b.strides && a.dtype == b.dtype &&
         a.device == b.device && are_same(a.effects, b.effects);
}

/// Whether the program says that a dimension will be of other sizes. Source:
/// torch._dynamo.mark_dynamic.
bool is_marked(Session& session, const Tensor& tensor, std::size_t dim) {
  if (tensor->wrapper == nullptr) return false;
  lang::Interp& interp = session.interp;
  const Value marked =
      interp.find_attr(session.wrap(tensor), interp.intern("_dynamo_dynamic_indices"));
  const auto* dims = marked.as<lang::Set>();
  if (dims == nullptr) return false;
  const auto& entries = dims->table.entries();
  return std::any_of(entries.begin(), entries.end(), [&](const auto& entry) {
    return entry.key.is_int() && entry.key.as_int() == static_cast<std::int64_t>(dim);
  });
}

/// Whether what an input is seen as has its size along `dim` from a parameter: another size would
/// fail. So PyTorch has the size fixed.
bool is_tied(const graph::NodeGraph& graph, NodeId input, std::size_t dim) {
  const std::size_t rank = graph.nodes[input].sizes.size();
  std::vector<bool> is_seen(graph.nodes.size());
  std::vector<bool> is_parameter(graph.nodes.size());
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const GraphNode& node = graph.nodes[id];
    const bool is_view = node.kind == NodeKind::kView;
    is_seen[id] = id == input || (is_view && is_seen[node.inputs.front()]);
    is_parameter[id] = (node.kind == NodeKind::kInput && node.is_parameter) ||
                       (is_view && is_parameter[node.inputs.front()]);
    if (is_view) continue;
    const auto reads = [&](const std::vector<bool>& which) {
      return std::any_of(node.inputs.begin(), node.inputs.end(),
                         [&](NodeId read) { return which[read]; });
    };
    if (!reads(is_seen) || !reads(is_parameter)) continue;
    const bool is_convolution = node.name.ends_with("convolution");
    const bool is_along_last = node.name == "mm" || node.name == "addmm" || node.name == "linear" ||
                               node.name.ends_with("layer_norm") || node.name.ends_with("rms_norm");
    const bool is_by_channel =
        is_convolution || node.name.ends_with("batch_norm") || node.name.ends_with("group_norm");
    if (is_along_last && dim + 1 == rank) return true;
    if (is_by_channel && dim == 1) return true;
  }
  return false;
}

NodeId input_of(const InputTensors& inputs, const Tensor& argument) {
  for (const auto& [tensor, id] : inputs) {
    if (tensor.impl() == argument.impl()) return id;
  }
  return graph::kNoNode;
}

}  // namespace

std::vector<ops::Dims> sizes_of(const ops::TensorList& tensors) {
  std::vector<ops::Dims> sizes;
  for (const Tensor& tensor : tensors) sizes.push_back(tensor.sizes());
  return sizes;
}

std::vector<std::int64_t> offsets_of(const InputTensors& inputs, const ops::TensorList& tensors) {
  std::vector<std::int64_t> offsets;
  for (const Tensor& tensor : tensors) {
    const bool is_read = input_of(inputs, tensor) != graph::kNoNode;
    offsets.push_back(is_read ? tensor->offset : 0);
  }
  return offsets;
}

OpenSizes SeenSizes::open(Session& session, ForSizes sizes, const TracedCode& traced,
                          const ops::TensorList& arguments) {
  OpenSizes out;
  const std::vector<ops::Dims> now = sizes_of(arguments);
  if (first_.size() < now.size()) first_.resize(now.size());
  if (are_others_.size() < now.size()) are_others_.resize(now.size());
  if (have_other_ranks_.size() < now.size()) have_other_ranks_.resize(now.size());
  bool is_any = false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (first_[i].empty()) first_[i] = now[i];
    const NodeId input = input_of(traced.inputs, arguments[i]);
    // What the code does not read may be of any size.
    std::vector<bool>& of = out.emplace_back(now[i].size(), input == graph::kNoNode);
    if (input == graph::kNoNode) continue;
    // Of another number of dimensions: any size may be another from then on.
    if (now[i].size() != first_[i].size()) have_other_ranks_[i] = true;
    are_others_[i].resize(std::max(are_others_[i].size(), now[i].size()));
    for (std::size_t dim = 0; dim < now[i].size(); ++dim) {
      if (have_other_ranks_[i] || now[i][dim] != first_[i][dim] ||
          is_marked(session, arguments[i], dim))
        are_others_[i][dim] = true;
      const bool is_wanted =
          sizes == ForSizes::kOthersToo || (sizes == ForSizes::kAutomatic && are_others_[i][dim]);
      // A size of 1 is always by itself.
      of[dim] = is_wanted && now[i][dim] > 1 && !is_tied(traced.graph, input, dim);
      is_any = is_any || of[dim];
    }
  }
  return is_any || sizes == ForSizes::kOthersToo ? out : OpenSizes();
}

bool KnownCode::is_made_for(const CapturedCall& other) const {
  const graph::NodeGraph& a = call.graph;
  const graph::NodeGraph& b = other.graph;
  // Where an input begins in its memory has no bearing on the code, where its views begin has.
  const std::vector<std::int64_t> of_a = starts_of(a);
  const std::vector<std::int64_t> of_b = starts_of(b);
  const auto start = [](const GraphNode& node, const std::vector<std::int64_t>& starts) {
    return node.storage < starts.size() ? node.offset - starts[node.storage] : node.offset;
  };
  return call.has_backward == other.has_backward && call.under_autocast == other.under_autocast &&
         call.inputs == other.inputs && call.tangents == other.tangents && a.roles == b.roles &&
         a.outputs == b.outputs && a.written == b.written && a.gradients == b.gradients &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                    [&](const GraphNode& x, const GraphNode& y) {
                      return are_same(x, y) && start(x, of_a) == start(y, of_b);
                    });
}

bool KnownCode::fits(const CapturedCall& other) const {
  if (open.empty()) return is_made_for(other);
  const std::vector<ops::Dims>& now = other.sizes;
  const std::vector<ops::Dims>& sizes = call.sizes;
  if (now.size() != sizes.size()) return false;
  // Where a tensor of open sizes begins is open, too, but for 0 and 1. Source: torch's
  // _create_symbolic_sizes_strides_storage_offset.
  for (std::size_t i = 0; i < other.offsets.size() && i < call.offsets.size(); ++i) {
    const bool has_open = std::find(open[i].begin(), open[i].end(), true) != open[i].end();
    const bool is_fit =
        call.offsets[i] == other.offsets[i] || (call.offsets[i] > 1 && other.offsets[i] > 1);
    if (has_open && !is_fit) return false;
  }
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i].size() != sizes[i].size()) return false;
    for (std::size_t dim = 0; dim < now[i].size(); ++dim) {
      const bool is_fit =
          now[i][dim] == sizes[i][dim] || (open[i][dim] && now[i][dim] > 1 && sizes[i][dim] > 1);
      if (!is_fit) return false;
    }
  }
  const auto is_alike = [](const GraphNode& x, const GraphNode& y) {
    return x.name == y.name && x.kind == y.kind && x.dtype == y.dtype && x.inputs == y.inputs &&
           (!x.is_parameter || x.sizes == y.sizes);
  };
  return call.has_backward == other.has_backward && call.under_autocast == other.under_autocast &&
         call.inputs == other.inputs && call.tangents == other.tangents &&
         std::equal(call.graph.nodes.begin(), call.graph.nodes.end(), other.graph.nodes.begin(),
                    other.graph.nodes.end(), is_alike);
}

std::vector<int> KnownCode::open_inputs(const InputTensors& inputs,
                                        const ops::TensorList& arguments) const {
  std::vector<int> counts;
  std::vector<std::int64_t> seen;
  for (const auto& input : inputs) {
    const Tensor& tensor = input.first;
    int& count = counts.emplace_back(0);
    const auto at = std::find_if(
        arguments.begin(), arguments.end(),
        [&tensor](const Tensor& argument) { return argument.impl() == tensor.impl(); });
    const auto i = static_cast<std::size_t>(at - arguments.begin());
    if (i >= open.size()) continue;
    for (std::size_t dim = 0; dim < open[i].size(); ++dim) {
      const std::int64_t size = tensor.sizes()[dim];
      const bool is_new = std::find(seen.begin(), seen.end(), size) == seen.end();
      if (!open[i][dim] || !is_new) continue;
      seen.push_back(size);
      ++count;
    }
  }
  return counts;
}

std::vector<std::pair<std::int64_t, std::int64_t>> KnownCode::open_images() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> images;
  for (std::size_t i = 0; i < open.size() && i < call.sizes.size(); ++i) {
    if (open[i].size() == 4 && (open[i][2] || open[i][3]))
      images.emplace_back(call.sizes[i][2], call.sizes[i][3]);
  }
  return images;
}

std::vector<std::int64_t> KnownCode::open_lengths() const {
  std::vector<std::int64_t> lengths;
  bool is_behind = false;  // the first dimension, which no stride is made of
  for (std::size_t i = 0; i < open.size() && i < call.sizes.size(); ++i) {
    for (std::size_t dim = 0; dim < open[i].size(); ++dim) {
      if (!open[i][dim]) continue;
      lengths.push_back(call.sizes[i][dim]);
      is_behind = is_behind || dim > 0;
    }
  }
  if (!is_behind) lengths.clear();
  return lengths;
}

KnownCode* KnownCodes::find(const CapturedCall& call) {
  const auto found = std::find_if(codes_.begin(), codes_.end(),
                                  [&](const KnownCode& code) { return code.fits(call); });
  if (found == codes_.end()) return nullptr;
  codes_.splice(codes_.begin(), codes_, found);
  return &codes_.front();
}

KnownCode& KnownCodes::add(CapturedCall call, OpenSizes open) {
  constexpr std::size_t kMostKept = 16;
  if (codes_.size() == kMostKept) codes_.pop_back();
  KnownCode& code = codes_.emplace_front();
  code.kept.is_dynamic = !open.empty();
  code.open = std::move(open);
  code.call = std::move(call);
  return code;
}

void KnownCodes::forget(const KnownCode* code) {
  std::erase_if(codes_, [code](const KnownCode& each) { return &each == code; });
}

}  // namespace tidemark::torch
