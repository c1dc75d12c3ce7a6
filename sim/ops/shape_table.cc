#include <limits>

#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/type_view.h"

namespace tidemark::ops {

namespace {

OpResult one(Tensor tensor) { return OpResult(std::move(tensor)); }

}  // namespace

std::span<const OpDef> shape_ops() {
  static constexpr std::string_view kViews = "docs/rules/shapes.md#1";
  static constexpr std::string_view kCopies = "docs/rules/shapes.md#2";
  static constexpr OpDef kOps[] = {
      {"view(Tensor input, int[] *size)", "method",
       [](Arguments& a) -> OpResult { return view(a.context(), a.tensor(0), a.dims(1)); }, kViews},
      {"view(Tensor input, dtype dtype)", "method",
       [](Arguments& a) -> OpResult { return view_as_type(a.tensor(0), *a.dtype(1)); }, kViews},
      {"reshape(Tensor input, int[] *shape)", "torch method",
       [](Arguments& a) -> OpResult { return reshape(a.context(), a.tensor(0), a.dims(1)); },
       kCopies},
      {"view_as(Tensor input, Tensor other)", "method",
       [](Arguments& a) -> OpResult { return view(a.context(), a.tensor(0), a.tensor(1).sizes()); },
       kViews},
      {"reshape_as(Tensor input, Tensor other)", "method",
       [](Arguments& a) -> OpResult {
         return reshape(a.context(), a.tensor(0), a.tensor(1).sizes());
       },
       kCopies},
      {"flatten(Tensor input, int start_dim=0, int end_dim=-1)", "torch method",
       [](Arguments& a) -> OpResult {
         return flatten(a.context(), a.tensor(0), a.integer(1), a.integer(2));
       },
       kCopies},
      {"unflatten(Tensor input, int dim, int[] sizes)", "torch method",
       [](Arguments& a) -> OpResult {
         return unflatten(a.context(), a.tensor(0), a.integer(1), a.dims(2));
       },
       kViews},
      {"t(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return t(a.context(), a.tensor(0)); }, kViews},
      {"transpose(Tensor input, int dim0, int dim1)", "torch method",
       [](Arguments& a) -> OpResult {
         return transpose(a.context(), a.tensor(0), a.integer(1), a.integer(2));
       },
       kViews},
      {"swapaxes(Tensor input, int axis0, int axis1)", "torch method",
       [](Arguments& a) -> OpResult {
         return transpose(a.context(), a.tensor(0), a.integer(1), a.integer(2));
       },
       kViews},
      {"permute(Tensor input, int[] *dims)", "torch method",
       [](Arguments& a) -> OpResult { return permute(a.context(), a.tensor(0), a.dims(1)); },
       kViews},
      {"expand(Tensor input, int[] *size)", "method",
       [](Arguments& a) -> OpResult { return expand(a.context(), a.tensor(0), a.dims(1)); },
       kViews},
      {"expand_as(Tensor input, Tensor other)", "method",
       [](Arguments& a) -> OpResult {
         return expand(a.context(), a.tensor(0), a.tensor(1).sizes());
       },
       kViews},
      {"broadcast_to(Tensor input, int[] *size)", "torch method",
       [](Arguments& a) -> OpResult { return expand(a.context(), a.tensor(0), a.dims(1)); },
       kViews},
      {"unsqueeze(Tensor input, int dim)", "torch method",
       [](Arguments& a) -> OpResult { return unsqueeze(a.context(), a.tensor(0), a.integer(1)); },
       kViews},
      {"squeeze(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return squeeze_all(a.context(), a.tensor(0)); }, kViews},
      {"squeeze(Tensor input, int dim)", "torch method",
       [](Arguments& a) -> OpResult { return squeeze(a.context(), a.tensor(0), a.integer(1)); },
       kViews},
      {"narrow(Tensor input, int dim, place start, int length)", "torch method",
       [](Arguments& a) -> OpResult {
         return slice(a.context(), a.tensor(0), a.integer(1), a.integer(2),
                      a.integer(2) + a.integer(3), 1);
       },
       kViews},
      {"select(Tensor input, int dim, place index)", "torch method",
       [](Arguments& a) -> OpResult {
         return select(a.context(), a.tensor(0), a.integer(1), a.integer(2));
       },
       kViews},
      {"split(Tensor tensor, int split_size_or_sections, int dim=0)", "torch",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(split(a.context(), a.tensor(0), a.integer(1), a.integer(2)));
       },
       kViews},
      {"split(Tensor tensor, parts[] split_size_or_sections, int dim=0)", "torch",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(
             split_with_sizes(a.context(), a.tensor(0), a.sizes(1), a.integer(2)));
       },
       kViews},
      {"split(Tensor input, int split_size, int dim=0)", "method",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(split(a.context(), a.tensor(0), a.integer(1), a.integer(2)));
       },
       kViews},
      {"split(Tensor input, parts[] split_size, int dim=0)", "method",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(
             split_with_sizes(a.context(), a.tensor(0), a.sizes(1), a.integer(2)));
       },
       kViews},
      {"chunk(Tensor input, int chunks, int dim=0)", "torch method",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(chunk(a.context(), a.tensor(0), a.integer(1), a.integer(2)));
       },
       kViews},
      {"unbind(Tensor input, int dim=0)", "torch method",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(unbind(a.context(), a.tensor(0), a.integer(1)));
       },
       kViews},
      {"cat(Tensor[] tensors, int dim=0)", "torch",
       [](Arguments& a) -> OpResult { return cat(a.context(), a.tensors(0), a.integer(1)); },
       kCopies},
      {"concat(Tensor[] tensors, int dim=0)", "torch",
       [](Arguments& a) -> OpResult { return cat(a.context(), a.tensors(0), a.integer(1)); },
       kCopies},
      {"stack(Tensor[] tensors, int dim=0)", "torch",
       [](Arguments& a) -> OpResult { return stack(a.context(), a.tensors(0), a.integer(1)); },
       kCopies},
      {"clone(Tensor input, *, memory_format? memory_format=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return clone(a.context(), a.tensor(0),
                      a.memory_format(1).value_or(MemoryFormat::kPreserve));
       },
       kCopies},
      {"contiguous(Tensor input, memory_format? memory_format=None)", "method",
       [](Arguments& a) -> OpResult {
         require_rank(a.context(), a.tensor(0),
                      a.memory_format(1).value_or(MemoryFormat::kContiguous), a.tensor(0).dtype(),
                      a.tensor(0).device());
         return contiguous(a.context(), a.tensor(0),
                           a.memory_format(1).value_or(MemoryFormat::kContiguous));
       },
       kCopies},
      {"detach(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return one(detach(a.context(), a.tensor(0))); }, kViews},
      {"copy_(Tensor input, Tensor src, bool non_blocking=False)", "method",
       [](Arguments& a) -> OpResult {
         return copy_(a.context(), a.tensor(0), a.tensor(1), a.flag(2));
       },
       kCopies},
      {"type_as(Tensor input, Tensor other)", "method",
       [](Arguments& a) -> OpResult {
         ToOptions options;
         options.dtype = a.tensor(1).dtype();
         options.device = a.tensor(1).device();
         return to(a.context(), a.tensor(0), options);
       },
       kCopies},
  };
  return kOps;
}

}  // namespace tidemark::ops
