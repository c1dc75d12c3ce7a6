#include <limits>

#include "sim/ops/families.h"
#include "sim/ops/kernels.h"
#include "sim/ops/shape_ops.h"

namespace tidemark::ops {

namespace {

OpResult one(Tensor tensor) { return OpResult(std::move(tensor)); }

}  // namespace

std::span<const OpDef> shape_ops() {
  static constexpr std::string_view kSource = "training-semantics.md 5.6";
  static constexpr OpDef kOps[] = {
      {"view(Tensor input, int[] *size)", "method",
       [](Arguments& a) -> OpResult { return view(a.context(), a.tensor(0), a.dims(1)); }, kSource},
      {"reshape(Tensor input, int[] *shape)", "torch method",
       [](Arguments& a) -> OpResult { return reshape(a.context(), a.tensor(0), a.dims(1)); },
       kSource},
      {"view_as(Tensor input, Tensor other)", "method",
       [](Arguments& a) -> OpResult { return view(a.context(), a.tensor(0), a.tensor(1).sizes()); },
       kSource},
      {"reshape_as(Tensor input, Tensor other)", "method",
       [](Arguments& a) -> OpResult {
         return reshape(a.context(), a.tensor(0), a.tensor(1).sizes());
       },
       kSource},
      {"flatten(Tensor input, int start_dim=0, int end_dim=-1)", "torch method",
       [](Arguments& a) -> OpResult {
         return flatten(a.context(), a.tensor(0), a.integer(1), a.integer(2));
       },
       kSource},
      {"unflatten(Tensor input, int dim, int[] sizes)", "torch method",
       [](Arguments& a) -> OpResult {
         return unflatten(a.context(), a.tensor(0), a.integer(1), a.dims(2));
       },
       kSource},
      {"t(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return t(a.context(), a.tensor(0)); }, kSource},
      {"transpose(Tensor input, int dim0, int dim1)", "torch method",
       [](Arguments& a) -> OpResult {
         return transpose(a.context(), a.tensor(0), a.integer(1), a.integer(2));
       },
       kSource},
      {"swapaxes(Tensor input, int axis0, int axis1)", "torch method",
       [](Arguments& a) -> OpResult {
         return transpose(a.context(), a.tensor(0), a.integer(1), a.integer(2));
       },
       kSource},
      {"permute(Tensor input, int[] *dims)", "torch method",
       [](Arguments& a) -> OpResult { return permute(a.context(), a.tensor(0), a.dims(1)); },
       kSource},
      {"expand(Tensor input, int[] *size)", "method",
       [](Arguments& a) -> OpResult { return expand(a.context(), a.tensor(0), a.dims(1)); },
       kSource},
      {"expand_as(Tensor input, Tensor other)", "method",
       [](Arguments& a) -> OpResult {
         return expand(a.context(), a.tensor(0), a.tensor(1).sizes());
       },
       kSource},
      {"broadcast_to(Tensor input, int[] *size)", "torch method",
       [](Arguments& a) -> OpResult { return expand(a.context(), a.tensor(0), a.dims(1)); },
       kSource},
      {"unsqueeze(Tensor input, int dim)", "torch method",
       [](Arguments& a) -> OpResult { return unsqueeze(a.context(), a.tensor(0), a.integer(1)); },
       kSource},
      {"squeeze(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return squeeze_all(a.context(), a.tensor(0)); }, kSource},
      {"squeeze(Tensor input, int dim)", "torch method",
       [](Arguments& a) -> OpResult { return squeeze(a.context(), a.tensor(0), a.integer(1)); },
       kSource},
      {"narrow(Tensor input, int dim, int start, int length)", "torch method",
       [](Arguments& a) -> OpResult {
         return slice(a.context(), a.tensor(0), a.integer(1), a.integer(2),
                      a.integer(2) + a.integer(3), 1);
       },
       kSource},
      {"select(Tensor input, int dim, int index)", "torch method",
       [](Arguments& a) -> OpResult {
         return select(a.context(), a.tensor(0), a.integer(1), a.integer(2));
       },
       kSource},
      {"split(Tensor tensor, int split_size_or_sections, int dim=0)", "torch",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(split(a.context(), a.tensor(0), a.integer(1), a.integer(2)));
       },
       kSource},
      {"split(Tensor tensor, int[] split_size_or_sections, int dim=0)", "torch",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(
             split_with_sizes(a.context(), a.tensor(0), a.dims(1), a.integer(2)));
       },
       kSource},
      {"split(Tensor input, int split_size, int dim=0)", "method",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(split(a.context(), a.tensor(0), a.integer(1), a.integer(2)));
       },
       kSource},
      {"split(Tensor input, int[] split_size, int dim=0)", "method",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(
             split_with_sizes(a.context(), a.tensor(0), a.dims(1), a.integer(2)));
       },
       kSource},
      {"chunk(Tensor input, int chunks, int dim=0)", "torch method",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(chunk(a.context(), a.tensor(0), a.integer(1), a.integer(2)));
       },
       kSource},
      {"unbind(Tensor input, int dim=0)", "torch method",
       [](Arguments& a) -> OpResult {
         return OpResult::tuple(unbind(a.context(), a.tensor(0), a.integer(1)));
       },
       kSource},
      {"cat(Tensor[] tensors, int dim=0)", "torch",
       [](Arguments& a) -> OpResult { return cat(a.context(), a.tensors(0), a.integer(1)); },
       kSource},
      {"concat(Tensor[] tensors, int dim=0)", "torch",
       [](Arguments& a) -> OpResult { return cat(a.context(), a.tensors(0), a.integer(1)); },
       kSource},
      {"stack(Tensor[] tensors, int dim=0)", "torch",
       [](Arguments& a) -> OpResult { return stack(a.context(), a.tensors(0), a.integer(1)); },
       kSource},
      {"clone(Tensor input, *, memory_format? memory_format=None)", "torch method",
       [](Arguments& a) -> OpResult {
         return clone(a.context(), a.tensor(0),
                      a.memory_format(1).value_or(MemoryFormat::kPreserve));
       },
       kSource},
      {"contiguous(Tensor input, memory_format? memory_format=None)", "method",
       [](Arguments& a) -> OpResult {
         require_rank(a.context(), a.tensor(0),
                      a.memory_format(1).value_or(MemoryFormat::kContiguous), a.tensor(0).dtype(),
                      a.tensor(0).device());
         return contiguous(a.context(), a.tensor(0),
                           a.memory_format(1).value_or(MemoryFormat::kContiguous));
       },
       kSource},
      {"detach(Tensor input)", "torch method",
       [](Arguments& a) -> OpResult { return one(detach(a.context(), a.tensor(0))); }, kSource},
      {"copy_(Tensor input, Tensor src, bool non_blocking=False)", "method",
       [](Arguments& a) -> OpResult {
         return copy_(a.context(), a.tensor(0), a.tensor(1), a.flag(2));
       },
       kSource},
      {"type_as(Tensor input, Tensor other)", "method",
       [](Arguments& a) -> OpResult {
         ToOptions options;
         options.dtype = a.tensor(1).dtype();
         options.device = a.tensor(1).device();
         return to(a.context(), a.tensor(0), options);
       },
       kSource},
  };
  return kOps;
}

}  // namespace tidemark::ops
