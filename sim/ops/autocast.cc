#include "sim/ops/autocast.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

/// Source: at::autocast::cached_cast; docs/rules/autocast.md#2.2.
Tensor cached_cast(Context& c, const Tensor& arg, ScalarType dtype) {
  if (!arg.defined() || !arg.is_cuda() || !is_floating(arg.dtype()) ||
      arg.dtype() == ScalarType::kFloat64 || arg.dtype() == dtype) {
    return arg;
  }
  const Autocast& autocast = c.thread().autocast;
  const bool cached = autocast.cache_enabled && dtype == autocast.dtype && is_half(dtype) &&
                      arg.dtype() == ScalarType::kFloat32 && arg.requires_grad() && arg.is_leaf() &&
                      !arg->view_base &&
                      (!c.thread().inference_mode || c.rules().autocast_caches_in_inference);
  if (!cached) return to(c, arg, dtype);
  for (const CastCacheEntry& entry : c.cast_cache) {
    if (entry.source == arg) return entry.cast;
  }
  // A cast that is kept is to be of use when gradients are recorded again.
  const GradMode recorded(c, c.grad_enabled() || c.rules().autocast_copies_have_history);
  Tensor cast = to(c, arg, dtype);
  c.cast_cache.push_back({arg, cast});
  return cast;
}

}  // namespace

AutocastScope::AutocastScope(Context& c, CastPolicy policy,
                             std::initializer_list<Tensor*> arguments)
    : autocast_(c.thread().autocast), before_(autocast_.enabled) {
  if (!before_) return;
  autocast_.enabled = false;
  ScalarType dtype = policy == CastPolicy::kFp32 ? ScalarType::kFloat32 : autocast_.dtype;
  if (policy == CastPolicy::kPromote) {
    for (const Tensor* t : arguments) {
      if (t->defined() && t->is_cuda() && is_floating(t->dtype()) &&
          t->dtype() != ScalarType::kFloat64) {
        dtype = promote(dtype, t->dtype());
      }
    }
  }
  TIDEMARK_CHECK(arguments.size() <= kMostArguments, "an operator casts too many arguments");
  std::copy(arguments.begin(), arguments.end(), replaced_.begin());
  const LabelScope label(c, "autocast");
  for (auto at = arguments.end(); at != arguments.begin();) {
    Tensor& t = **--at;
    t = cached_cast(c, t, dtype);
  }
}

AutocastScope::AutocastScope(Context& c, CastPolicy policy, TensorList& arguments)
    : autocast_(c.thread().autocast), before_(autocast_.enabled) {
  if (!before_) return;
  autocast_.enabled = false;
  ScalarType dtype = policy == CastPolicy::kFp32 ? ScalarType::kFloat32 : autocast_.dtype;
  if (policy == CastPolicy::kPromote) {
    for (const Tensor& t : arguments) {
      if (t.is_cuda() && is_floating(t.dtype())) dtype = promote(dtype, t.dtype());
    }
  }
  const LabelScope label(c, "autocast");
  for (Tensor& t : arguments) t = cached_cast(c, t, dtype);
}

AutocastScope::~AutocastScope() {
  autocast_.enabled = before_;
  for (Tensor* t : replaced_) {
    if (t == nullptr) break;
    t->reset();
  }
}

void clear_autocast_cache(Context& c) {
  const LabelScope label(c, "autocast cache cleared");
  std::vector<CastCacheEntry> entries = std::move(c.cast_cache);
  c.cast_cache.clear();
  for (CastCacheEntry& entry : entries) entry.cast.reset();
}

}  // namespace tidemark::ops
