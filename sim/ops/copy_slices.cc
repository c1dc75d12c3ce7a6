#include "sim/ops/copy_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "sim/ops/kernels.h"
#include "sim/ops/op.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/tracer.h"

namespace tidemark::ops {

namespace {

/// Sizes, strides and offset of a tensor, without it.
struct Geometry {
  explicit Geometry(const Tensor& t) : sizes(t.sizes()), strides(t.strides()), offset(t->offset) {}
  Dims sizes;
  Dims strides;
  std::int64_t offset;
};

/// The dimensions that count: those of one element say nothing about memory.
Geometry without_ones(const Geometry& geometry) {
  Geometry out = geometry;
  out.sizes = {};
  out.strides = {};
  for (std::size_t i = 0; i < geometry.sizes.size(); ++i) {
    if (geometry.sizes[i] == 1) continue;
    out.sizes.push_back(geometry.sizes[i]);
    out.strides.push_back(geometry.strides[i]);
  }
  return out;
}

/// Source: torch's _maybe_overlapping_memory.
bool may_overlap(const Geometry& g) {
  std::vector<std::size_t> order(g.sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return g.strides[a] < g.strides[b]; });
  std::int64_t highest = 0;
  for (const std::size_t i : order) {
    if (g.strides[i] <= highest) return true;
    highest += g.strides[i] * (g.sizes[i] - 1);
  }
  return false;
}

std::int64_t extent_of(const Geometry& g, std::int64_t offset) {
  std::int64_t extent = offset + 1;
  for (std::size_t i = 0; i < g.sizes.size(); ++i) extent += (g.sizes[i] - 1) * g.strides[i];
  return extent;
}

bool is_empty(const Geometry& g) {
  return std::find(g.sizes.begin(), g.sizes.end(), 0) != g.sizes.end();
}

/// The gradient of a strided look at a tensor: written into memory as large as both reach. Source:
/// torch's as_strided_backward.
Tensor strided_look_backward(Context& c, Tensor grad, const Geometry& base, const Geometry& view) {
  if (is_empty(base) || is_empty(view)) {
    return zeros(c, base.sizes, grad.dtype(), grad.device());
  }
  Geometry out = view;
  for (std::size_t i = out.sizes.size(); i-- > 0;) {
    if (out.sizes[i] == 1) {
      grad = squeeze(grad, static_cast<std::int64_t>(i));
    } else if (out.strides[i] == 0) {
      grad = sum(c, grad, {static_cast<std::int64_t>(i)}, false);
    } else {
      continue;
    }
    out.sizes.erase(i);
    out.strides.erase(i);
  }
  const Geometry in = without_ones(base);
  if (may_overlap(out) || may_overlap(in)) {
    throw NotModelled(
        "the gradient of a view that was rebuilt after a write to its base is not modelled where "
        "its elements share memory; take a clone() of the expanded tensor first");
  }
  const std::int64_t shared = std::min(base.offset, view.offset);
  const std::int64_t count =
      std::max(extent_of(in, base.offset - shared), extent_of(out, view.offset - shared));
  const Tensor storage = zeros(c, {count}, grad.dtype(), grad.device());
  return as_view(storage, Context::alias(storage, base.sizes, base.strides, base.offset - shared));
}

Ref<Node> new_node(Context& c, std::string_view name) {
  Ref<Node> node = make_ref<Node>();
  node->name = name;
  node->sequence = c.thread().next_sequence++;
  node->label = c.module_label;
  return node;
}

/// Source: torch's CopySlices::apply.
void copy_slices_backward(Backward& b, Node& fn, const Geometry& base, const Geometry& view) {
  if (!b.grad().defined()) return;
  Tensor result;
  {
    const KernelScope kernel(b.c, KernelKind::kCopy, {&b.grad()});
    result = kernel.gives(
        b.c.empty_strided(base.sizes, base.strides, b.grad().dtype(), b.grad().device()));
  }
  const Tensor slice = Context::alias(result, view.sizes, view.strides, view.offset - base.offset);
  TensorList grads;
  {
    TensorList incoming{clone_in(b.c, slice, MemoryFormat::kContiguous)};
    grads = run_backward_function(b.c, fn, incoming);
  }
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined() || !b.needs(i)) continue;
    if (i == 0) {
      if (b.c.tracer != nullptr) b.c.tracer->puts(slice, grads[i]);
      b.grads[i] = result;
    } else {
      b.grads[i] = std::move(grads[i]);
    }
  }
}

}  // namespace

void count_write(const Tensor& tensor) {
  if (!tensor->version) tensor->version = make_ref<VersionCounter>();
  ++tensor->version->value;
}

void share_version(const Tensor& tensor, const Tensor& other) {
  if (!tensor->version) tensor->version = make_ref<VersionCounter>();
  other->version = tensor->version;
}

void check_view_write(const Tensor& view, bool indirect) {
  if (view->view_kind == ViewKind::kPlain) return;
  const std::string written =
      indirect ? "its base or another view of its base has been" : "is being";
  std::string text = view->grad_fn && view->view_kind != ViewKind::kNoGrad
                         ? fmt::format("Output {} of {} is a view and {} modified inplace.",
                                       view->output_nr, view->grad_fn->name, written)
                         : fmt::format(
                               "A view was created in no_grad mode and {} modified inplace "
                               "with grad mode enabled.",
                               written);
  if (view->view_kind == ViewKind::kOneOfSeveral) {
    text +=
        " This view is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace. You should replace the inplace operation "
        "by an out-of-place one.";
  } else {
    text +=
        " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
        "your code by moving both the view and the inplace either both inside the no_grad block "
        "(if you don't want the inplace to be tracked) or both outside (if you want the inplace to "
        "be tracked).";
  }
  throw OpError(text);
}

void rebase_view(Context& c, const Tensor& view, Ref<Node> fn) {
  check_view_write(view, false);
  const Tensor base(view->view_base);
  if (base->requires_grad && !base->grad_fn) {
    throw OpError(
        "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  }
  const Ref<Node> node = new_node(c, "CopySlices");
  node->metadata.push_back(metadata_of(c, base));
  node->next = fn->next;
  node->next[0] = gradient_edge(c, base);
  node->vertex = c.recorder().add_op(node->name, c.module_label, {&base}, node.get());
  // The node holds the operator's until it is released itself.
  const auto held = std::make_shared<Ref<Node>>(std::move(fn));
  node->backward = [held, base_geometry = Geometry(base),
                    view_geometry = Geometry(view)](Backward& b) {
    if (!*held) throw OpError("Trying to backward through the graph a second time.");
    copy_slices_backward(b, **held, base_geometry, view_geometry);
  };
  node->on_release = [held] { held->reset(); };
  base->grad_fn = node;
  base->output_nr = 0;
  base->producer = node->vertex;
  refresh_view_history(c, view);
}

void refresh_view_history(Context& c, const Tensor& view) {
  const Tensor base(view->view_base);
  if (!view->version || view->history_version == view->version->value) return;
  if (!view->grad_fn && !base->grad_fn && !base->requires_grad) return;
  check_view_write(view, true);
  const Ref<Node> node = new_node(c, "AsStridedBackward0");
  node->metadata.push_back(metadata_of(c, view));
  node->next.push_back(gradient_edge(c, base));
  node->vertex = c.recorder().add_op("as_strided", c.module_label, {&base}, node.get());
  node->backward = [base_geometry = Geometry(base), view_geometry = Geometry(view)](Backward& b) {
    b.grads[0] = strided_look_backward(b.c, b.grad(), base_geometry, view_geometry);
  };
  view->grad_fn = node;
  view->output_nr = 0;
  view->history_version = view->version->value;
}

}  // namespace tidemark::ops
