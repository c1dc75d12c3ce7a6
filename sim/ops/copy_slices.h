#pragma once

#include <string>

#include "sim/ops/context.h"

namespace tidemark::ops {

// Writing in place into views while gradients are recorded. Source: torch's CopySlices,
// VariableHooks::grad_fn, rebase_history.

/// Errors: OpError with PyTorch's words where a view must not be written into (`indirect`: its base
/// or another view of it was written, and its history is asked for).
void check_view_write(const Tensor& view, bool indirect);
/// `view` was written by the operator of `fn`: a CopySlices node becomes the history of its base,
/// and the view follows from the base.
void rebase_view(Context& c, const Tensor& view, Ref<Node> fn);
/// Where a view's base was written since the view got its history, the view gets a new one: a
/// strided look at the base.
void refresh_view_history(Context& c, const Tensor& view);
/// `tensor` was written in place.
void count_write(const Tensor& tensor);
/// Makes `other` count its writes together with `tensor`.
void share_version(const Tensor& tensor, const Tensor& other);

}  // namespace tidemark::ops
