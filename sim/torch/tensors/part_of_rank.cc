#include "sim/torch/tensors/part_of_rank.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "sim/torch/tensors/own_device.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::RankValue;
using lang::Value;
using ops::Tensor;

namespace {

/// Elements. No rule of an operator looks at more of where a tensor begins than its rest by 4
/// (docs/rules/reductions.md) or by 2 (Fourier transforms).
constexpr std::int64_t kAlignment = 4;

/// Elements from one place of a dimension to the next.
std::int64_t step_of(const Tensor& tensor, std::int64_t dim) {
  const auto d = static_cast<std::size_t>(dim < 0 ? dim + tensor.dim() : dim);
  return d >= tensor.strides().size() ? 1 : tensor.strides()[d];
}

/// Numbers that are known are another rank's elsewhere: from here on nobody knows them, which ends
/// in what it ends in without them, unless something that is not known decides later.
void forget(const Tensor& tensor, lang::Alike& alike, const Value& place) {
  if (!tensor->storage || !tensor->storage->known()) return;
  tensor->storage->set_known(nullptr);
  if (lang::is_of_rank(place)) alike.rest_on(place);
}

/// The value of a bound on a rank.
Value on_rank(const Value& bound, int rank) {
  const auto* varying = bound.as<RankValue>();
  return varying == nullptr ? bound : varying->of(rank);
}

bool is_negative(const Value& bound) { return bound.is_int() && bound.as_int() < 0; }

/// All of a tensor's that memory may depend on.
bool are_alike(const Tensor& a, const Tensor& b) {
  const auto rest = [](const Tensor& t) { return t->offset % kAlignment; };
  return a.sizes() == b.sizes() && a.strides() == b.strides() && a.dtype() == b.dtype() &&
         a.device() == b.device() && rest(a) == rest(b) && a->storage == b->storage &&
         a->grad_fn == b->grad_fn && a.requires_grad() == b.requires_grad();
}

/// items[index], where the items are parts of one tensor that nobody can tell apart.
Value picked(lang::Interp& interp, const std::vector<Value>& items, RankValue& index) {
  const auto size = static_cast<std::int64_t>(items.size());
  const auto place = [&](int rank) -> std::int64_t {
    const Value& value = index.of(rank);
    if (!value.is_int()) return -1;
    const std::int64_t i = value.as_int() < 0 ? value.as_int() + size : value.as_int();
    return i >= size ? -1 : i;
  };
  const auto at = [&](int rank) -> const TensorObject* {
    const std::int64_t i = place(rank);
    return i < 0 ? nullptr : items[static_cast<std::size_t>(i)].as<TensorObject>();
  };
  lang::Alike& alike = index.alike();
  const TensorObject* own = at(alike.job().index);
  const std::int64_t own_at = place(alike.job().index);
  if (own == nullptr) return {};
  alike.keep_only(interp, [&](int rank) {
    const TensorObject* other = at(rank);
    return other != nullptr && are_alike(own->tensor, other->tensor);
  });
  forget(own->tensor, alike, Ref<lang::Instance>(&index));
  return items[static_cast<std::size_t>(own_at)];
}

/// "cuda:3" and "device(type='cuda', index=3)" as texts of each rank's own.
Value text_of_device(lang::Interp& interp, const Value& value) {
  const auto* object = value.as<DeviceObject>();
  if (object == nullptr || !object->device.is_cuda() || !object->has_index) return {};
  const Value number[] = {device_number(interp, object->device)};
  if (!lang::is_of_rank(number[0])) return {};
  return lang::by_rank(interp, number, [&](std::span<const Value> of) {
    return interp.str("cuda:" + interp.to_str(of[0]));
  });
}

}  // namespace

std::int64_t place_of_rank(Session& session, const Tensor& tensor, std::int64_t dim,
                           RankValue& place, bool is_copied) {
  const lang::Interp& interp = session.interp;
  const Value& own = place.own();
  if (!own.is_int()) session.interp.type_error("an index is no integer");
  forget(tensor, place.alike(), Ref<lang::Instance>(&place));
  const std::int64_t size = dim >= -tensor.dim() && dim < tensor.dim() ? tensor.size(dim) : 0;
  const std::int64_t step = is_copied ? 0 : step_of(tensor, dim);
  const auto kind = [&](const Value& value) {
    const std::int64_t at = value.is_int() ? value.as_int() : size + 1;
    const std::int64_t side = at < 0 ? (at < -size ? -2 : -1) : at < size ? 0 : at == size ? 1 : 2;
    return std::pair(side, at * step % kAlignment);
  };
  place.alike().keep_only(interp, [&](int rank) { return kind(place.of(rank)) == kind(own); });
  return own.as_int();
}

std::int64_t part_of_rank(Session& session, const Tensor& tensor, RankValue& number) {
  const Value& own = number.own();
  if (!own.is_int()) session.interp.type_error("a part's number is no integer");
  forget(tensor, number.alike(), Ref<lang::Instance>(&number));
  return own.as_int();
}

Ref<lang::Slice> slice_of_rank(Session& session, const Tensor& tensor, std::int64_t dim,
                               const lang::Slice& slice) {
  const Value bounds[] = {slice.start, slice.stop, slice.step};
  if (!lang::any_of_rank(bounds)) return nullptr;
  lang::Alike* alike = lang::alike_of(session.interp);
  for (const Value& bound : bounds) forget(tensor, *alike, bound);
  const std::int64_t size = tensor.size(dim);
  const std::int64_t step = step_of(tensor, dim);
  lang::Heap& heap = session.interp.heap();
  const auto on = [&](int rank) {
    return make_ref<lang::Slice>(heap, on_rank(slice.start, rank), on_rank(slice.stop, rank),
                                 on_rank(slice.step, rank));
  };
  Ref<lang::Slice> own = on(alike->job().index);
  const auto own_range = own->indices(size);
  if (!own_range) return own;
  const auto is_whole = [&](const auto& range) {
    return range.start == 0 && range.stop == size && range.step == 1;
  };
  alike->keep_only(session.interp, [&](int rank) {
    const Ref<lang::Slice> other = on(rank);
    const auto range = other->indices(size);
    return range && range->count == own_range->count && range->step == own_range->step &&
           is_whole(*range) == is_whole(*own_range) &&
           (range->start - own_range->start) * step % kAlignment == 0 &&
           is_negative(other->start) == is_negative(own->start) &&
           is_negative(other->stop) == is_negative(own->stop) &&
           other->stop.is_none() == own->stop.is_none();
  });
  return own;
}

void tell_of_tensors(lang::Alike& alike) {
  alike.pick = picked;
  alike.text_of = text_of_device;
}

}  // namespace tidemark::torch
