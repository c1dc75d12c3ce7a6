#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "sim/lang/runtime/notes.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/ops/index_error.h"
#include "sim/ops/indexing_ops.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/ops/releases.h"
#include "sim/ops/shape_ops.h"
#include "sim/ops/values/rule.h"
#include "sim/torch/tensors/call_scope.h"
#include "sim/torch/tensors/part_of_rank.h"
#include "sim/torch/tensors/reading.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Value;
using ops::Tensor;

namespace {

bool is_sequence(const Value& key) {
  return key.as<lang::List>() != nullptr || key.as<lang::Tuple>() != nullptr ||
         key.as<lang::Range>() != nullptr;
}

/// The items of x[a, b, ...]; a lone key counts as one, but a short list of other than numbers is
/// taken as a tuple. Source: treatSequenceAsTuple.
std::vector<Value> keys_of(const Value& key) {
  if (const auto* tuple = key.as<lang::Tuple>()) return tuple->items;
  if (const auto* list = key.as<lang::List>(); list != nullptr && list->items.size() < 32) {
    for (const Value& item : list->items) {
      if (is_sequence(item) || item.is_none() || item.tag() == lang::Tag::kEllipsis ||
          item.as<TensorObject>() != nullptr || item.as<lang::Slice>() != nullptr)
        return list->items;
    }
  }
  return {key};
}

/// The tensor of positions in an array of the host, null for anything else. Positions are taken as
/// a list of them is; rows would stand for one dimension each.
const Tensor* array_of(Session& session, const Value& key) {
  const auto* object = key.as<lang::Instance>();
  lang::Interp& in = session.interp;
  if (object == nullptr || object->type().lookup(in.intern("_is_numpy_array")) == nullptr)
    return nullptr;
  const Value* held = object->attrs().find(in.intern("_t"));
  if (held == nullptr || held->as<TensorObject>() == nullptr) return nullptr;
  const Tensor& tensor = held->as<TensorObject>()->tensor;
  if (tensor.dim() != 1 || !ops::is_integral(tensor.dtype())) {
    in.refuse("an array as an index is modelled where it is one row of integers",
              "make a tensor of it: x[torch.from_numpy(index)]");
  }
  return &tensor;
}

/// An object that says which integer it stands for as that integer; anything else as it is.
/// Source: PyIndex_Check, as THPVariable_getitem asks.
Value as_integer(Session& session, const Value& key) {
  const auto* object = key.as<lang::Instance>();
  if (object == nullptr || key.as<TensorObject>() != nullptr || lang::is_of_rank(key)) return key;
  if (lang::plain_of(key).is_int()) return lang::plain_of(key);
  const lang::Name name = session.interp.intern("__index__");
  if (object->type().lookup(name) == nullptr || array_of(session, key) != nullptr) return key;
  return session.interp.call_method(key, name);
}

std::int64_t consumed(const Value& key) {
  if (key.is_none() || key.tag() == lang::Tag::kEllipsis || key.is_bool()) return 0;
  if (const auto* tensor = key.as<TensorObject>()) {
    return tensor->tensor.dtype() == ops::ScalarType::kBool ? tensor->tensor.dim() : 1;
  }
  return 1;
}

/// Whether a bound is counted from the end: x[-n:] is a view of its own even where it is all of x.
/// Source: at::indexing::impl::applySlice.
bool counts_back(const lang::Slice& slice) {
  const auto negative = [](const Value& bound) { return bound.is_int() && bound.as_int() < 0; };
  return negative(slice.start) || negative(slice.stop);
}

/// What the items of a tensor are wanted for.
enum class Purpose : std::uint8_t {
  kRead,        ///< a whole slice alone is a view of its own
  kWrite,       ///< a tensor is written there
  kFillNumber,  ///< a number is
};

/// The slice with integers for bounds, where one is an object: a tensor gives its number, as in
/// x[:, :length]. A bound that is not known leaves nothing out of what is read. Null: they are
/// integers.
Ref<lang::Slice> with_integers(Session& session, const lang::Slice& slice, Purpose purpose) {
  const auto is_object = [](const Value& bound) {
    return bound.as<TensorObject>() != nullptr || bound.as<lang::Instance>() != nullptr;
  };
  if (!is_object(slice.start) && !is_object(slice.stop) && !is_object(slice.step)) return nullptr;
  const auto part = [&](const Value& bound) -> Value {
    if (!is_object(bound)) return bound;
    return session.interp.call_method(bound, session.interp.intern("__index__"));
  };
  const auto end = [&](const Value& bound) -> Value {
    const auto* tensor = bound.as<TensorObject>();
    const bool is_whole_number = tensor != nullptr && tensor->tensor.numel() == 1 &&
                                 ops::is_integral(tensor->tensor.dtype());
    if (purpose != Purpose::kRead || (tensor != nullptr && !is_whole_number)) return part(bound);
    Value read = bound;
    if (tensor != nullptr) {
      session.c.read_value(tensor->tensor);
      read = read_number(session, tensor->tensor);
    }
    const auto* unknown = read.as<lang::Unknown>();
    if (unknown == nullptr || unknown->kind() != lang::Unknown::Type::kInt) return part(read);
    lang::guess(session.interp, "a bound of a slice is not known: nothing is left out");
    return {};
  };
  return make_ref<lang::Slice>(session.interp.heap(), end(slice.start), end(slice.stop),
                               part(slice.step));
}

/// The sizes of the tensor that a list of positions becomes.
ops::Dims sizes_of(Session& session, const Value& sequence) {
  ops::Dims sizes;
  Value at = sequence;
  while (is_sequence(at)) {
    if (const auto* range = at.as<lang::Range>()) {
      sizes.push_back(range->length());
      return sizes;
    }
    const auto* list = at.as<lang::List>();
    const std::vector<Value>& items =
        list != nullptr ? list->items.all() : at.as<lang::Tuple>()->items;
    sizes.push_back(static_cast<std::int64_t>(items.size()));
    if (items.empty()) return sizes;
    const Value first = items.front();
    at = first;
  }
  if (!at.is_int() && at.as<TensorObject>() == nullptr) {
    session.interp.refuse("an index that is a list of other than integers is not modelled",
                          "make a tensor of it");
  }
  return sizes;
}

void add_positions(Session& session, const Value& sequence, std::vector<std::int64_t>& out,
                   bool& known) {
  for (const Value& item : session.interp.unpack(sequence)) {
    if (is_sequence(item)) {
      add_positions(session, item, out, known);
    } else if (item.is_integral()) {
      out.push_back(item.as_int());
    } else {
      const auto* object = item.as<TensorObject>();
      const auto numbers = object == nullptr ? std::nullopt : session.c.look_at(object->tensor);
      known = known && numbers && numbers->is_whole() && numbers->size() == 1;
      if (known) out.push_back(numbers->whole.front());
    }
  }
}

/// Notes the numbers of a list of positions on the tensor that it becomes.
void note_positions(Session& session, const Value& sequence, const Tensor& tensor) {
  ops::Numbers numbers;
  numbers.dtype = tensor.dtype();
  bool known = true;
  add_positions(session, sequence, numbers.whole, known);
  if (known && static_cast<std::int64_t>(numbers.size()) == tensor.numel())
    ops::note_numbers(tensor, std::move(numbers));
}

/// The view that the integers, slices, None and Ellipsis of an index make, and the tensors of it by
/// dimension of that view.
struct Sliced {
  Tensor view;
  ops::TensorList indices;  ///< undefined: the whole dimension
  bool has_tensors = false;
};

Sliced apply_slicing(Session& session, const Tensor& self, const Value& key, Purpose purpose) {
  ops::Context& c = session.c;
  std::vector<Value> keys = keys_of(key);
  for (Value& k : keys) k = as_integer(session, k);
  const bool alone = purpose == Purpose::kRead && key.as<lang::Tuple>() == nullptr;
  const bool keeps_position = purpose == Purpose::kFillNumber && c.rules().numbers_fill_by_index &&
                              std::count_if(keys.begin(), keys.end(), [](const Value& k) {
                                return k.as<TensorObject>() != nullptr;
                              }) == 1;
  std::int64_t specified = 0;
  for (const Value& k : keys) specified += consumed(k);
  if (specified > self.dim()) {
    throw ops::IndexError(fmt::format("too many indices for tensor of dimension {}", self.dim()));
  }
  Sliced out{self, {}, false};
  std::int64_t dim = 0;
  for (const Value& k : keys) {
    if (k.is_none()) {
      out.view = ops::unsqueeze(c, out.view, dim++);
    } else if (k.tag() == lang::Tag::kEllipsis) {
      dim += self.dim() - specified;
    } else if (k.is_int()) {
      out.view = ops::select(c, out.view, dim, k.as_int());
    } else if (auto* place = k.as<lang::RankValue>()) {
      out.view = ops::select(c, out.view, dim, place_of_rank(session, out.view, dim, *place));
    } else if (const auto* given = k.as<lang::Slice>()) {
      Ref<lang::Slice> made = slice_of_rank(session, out.view, dim, *given);
      if (!made) made = with_integers(session, *given, purpose);
      const lang::Slice* slice = made ? made.get() : given;
      const std::int64_t length = out.view.size(dim);
      const auto range = slice->indices(length);
      if (!range) session.interp.type_error("slice indices must be integers or None");
      if (range->step < 0) session.interp.value_error("step must be greater than zero");
      const bool whole = range->start == 0 && range->stop == length && range->step == 1 &&
                         !counts_back(*slice) &&
                         (c.rules().open_slice_is_whole || !slice->stop.is_none());
      if (!whole || alone) {
        out.view = ops::slice(c, out.view, dim, range->start, range->stop, range->step);
      }
      ++dim;
    } else if (const auto* tensor = k.as<TensorObject>()) {
      const Tensor& index = tensor->tensor;
      if (index.dim() == 0 && ops::is_integral(index.dtype()) && !keeps_position) {
        // A 0-dim index is an integer. Where it is not known, any position has the same memory, but
        // what lies there is not known any more.
        const std::optional<ops::Numbers> known = session.c.look_at(index);
        if (!known) self->storage->set_known(nullptr);
        out.view = ops::select(c, out.view, dim, known ? known->whole.front() : 0);
        continue;
      }
      out.indices.resize(static_cast<std::size_t>(dim));
      out.indices.push_back(index);
      out.has_tensors = true;
      dim += index.dtype() == ops::ScalarType::kBool ? index.dim() : 1;
      if (index.dtype() == ops::ScalarType::kBool) {
        // One mask stands for all the dimensions it covers.
        for (std::int64_t i = 1; i < index.dim(); ++i) out.indices.emplace_back();
      }
    } else if (const Tensor* array = array_of(session, k); array != nullptr || is_sequence(k)) {
      const ops::Dims sizes = array != nullptr ? array->sizes() : sizes_of(session, k);
      out.indices.resize(static_cast<std::size_t>(dim));
      out.indices.push_back(c.empty(sizes, ops::ScalarType::kInt64, self.device()));
      if (array != nullptr) {
        ops::note_copy(ops::view_of(*array), out.indices.back(), nullptr);
      } else {
        note_positions(session, k, out.indices.back());
        if (c.tracer != nullptr)
          session.lifted.emplace_back(out.indices.back().bytes(), self.device());
      }
      out.has_tensors = true;
      ++dim;
    } else {
      session.interp.raise(*session.interp.classes().index_error,
                           "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
                           "Variables are valid indices (got " +
                               session.interp.type_name(k) + ")");
    }
  }
  return out;
}

/// The sizes of `source` without leading ones, as an assignment takes it. Source:
/// at::indexing::slicePrefix1sSize.
ops::Dims without_leading_ones(const Tensor& source) {
  ops::Dims sizes = source.sizes();
  while (!sizes.empty() && sizes[0] == 1) sizes.erase(0);
  return sizes;
}

/// Source: at::indexing::copy_to.
void copy_to(Session& session, const Tensor& target, const Tensor& source) {
  if (target.sizes() == source.sizes()) {
    ops::copy_(session.c, target, source);
    return;
  }
  if (source.dim() == 0 && !source.is_cuda()) {
    ops::fill_(session.c, target, source);
    return;
  }
  const Tensor prefix = ops::view(session.c, source, without_leading_ones(source));
  ops::copy_(
      session.c, target,
      prefix.sizes() == target.sizes() ? prefix : ops::expand(session.c, prefix, target.sizes()));
}

/// The dimension of the only tensor among the indices, where there is one, on the view's device.
std::optional<std::size_t> lone_index(const Tensor& view, const ops::TensorList& indices) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].defined()) continue;
    if (found || !(indices[i].device() == view.device())) return std::nullopt;
    found = i;
  }
  return found;
}

/// Writes a number where positions or a mask say so; false: not so written. Source:
/// ReleaseRules::numbers_fill_by_index.
bool fill_by_index(Session& session, const Tensor& view, const ops::TensorList& indices) {
  const std::optional<std::size_t> dim = lone_index(view, indices);
  if (!dim) return false;
  Tensor index = indices[*dim];
  if (index.dtype() == ops::ScalarType::kInt64) {
    if (index.dim() > 1) index = ops::reshape(session.c, index, {index.numel()});
    ops::index_fill_(session.c, view, static_cast<std::int64_t>(*dim), index, 0);
    return true;
  }
  if (index.dtype() != ops::ScalarType::kBool) return false;
  ops::check_mask_index(view, indices);
  for (auto d = static_cast<std::int64_t>(*dim) + index.dim(); d < view.dim(); ++d) {
    index = ops::unsqueeze(session.c, index, -1);
  }
  const Tensor number = session.c.empty({}, view.dtype(), ops::kHost);
  ops::masked_fill_(session.c, view, index, number);
  return true;
}

/// Errors: Python's TypeError for what is neither a number, known or not, nor a tensor.
void check_assigned(Session& session, const Value& value) {
  if (value.is_number() || value.as<lang::Unknown>() != nullptr ||
      value.as<TensorObject>() != nullptr)
    return;
  session.interp.type_error("can't assign a " + session.interp.type_name(value) +
                            " to a torch.Tensor");
}

void assign_tensors(Session& session, const Tensor& view, const ops::TensorList& indices,
                    const Value& value) {
  check_assigned(session, value);
  const auto* source = value.as<TensorObject>();
  if (source == nullptr && session.c.rules().numbers_fill_by_index &&
      fill_by_index(session, view, indices)) {
    return;
  }
  Tensor values =
      source != nullptr ? source->tensor : session.c.empty({}, view.dtype(), ops::kHost);
  if (const ops::Dims sizes = without_leading_ones(values); !(sizes == values.sizes())) {
    values = ops::view(session.c, values, sizes);
  }
  ops::index_put_(session.c, view, indices, values, false);
}

/// A number that is written, as the tensor keeps it; nullopt: it is not known.
std::optional<ops::View> number_of(ops::ScalarType dtype, const Value& value) {
  if (!value.is_number() || !ops::keeps_numbers(dtype)) return std::nullopt;
  ops::Numbers number;
  number.dtype = dtype;
  number.resize(1);
  number.set(0, value.number());
  return ops::View{make_ref<ops::Known>(std::move(number)), {}, {}, 0};
}

/// What indexing reads or writes is waited for, where a collective is under way.
void wait_for_all(Session& session, const Sliced& sliced) {
  if (session.unwaited.empty()) return;
  session.wait_for(sliced.view);
  for (const Tensor& index : sliced.indices) {
    if (index.defined()) session.wait_for(index);
  }
}

}  // namespace

Tensor get_item(Session& session, const Tensor& self, const Value& key) {
  Sliced sliced = apply_slicing(session, self, key, Purpose::kRead);
  if (sliced.has_tensors) {
    wait_for_all(session, sliced);
    // How much a mask chooses is seen on the device: whoever traces is told.
    std::vector<const Tensor*> read{&sliced.view};
    bool has_mask = false;
    for (const Tensor& index : sliced.indices) {
      if (!index.defined()) continue;
      read.push_back(&index);
      has_mask = has_mask || index.dtype() == ops::ScalarType::kBool ||
                 index.dtype() == ops::ScalarType::kUInt8;
    }
    const CallScope call(has_mask ? session.c.tracer : nullptr, "index by a mask", read);
    Tensor out = ops::index(session.c, sliced.view, sliced.indices);
    ops::note_index(sliced.view, sliced.indices, out);
    return out;
  }
  if (sliced.view == self) {
    return ops::alias(session.c, self);  // x[...] and x[:, :] are views of their own
  }
  return sliced.view;
}

void set_item(Session& session, const Tensor& self, const Value& key, const Value& value) {
  const auto* source = value.as<TensorObject>();
  Sliced sliced =
      apply_slicing(session, self, key, source != nullptr ? Purpose::kWrite : Purpose::kFillNumber);
  wait_for_all(session, sliced);
  if (source != nullptr) session.wait_for(source->tensor);
  const Ref<ops::Known> before = sliced.view->storage->known();
  if (sliced.has_tensors) {
    const std::optional<ops::View> known =
        source != nullptr ? ops::view_of(source->tensor) : number_of(sliced.view.dtype(), value);
    assign_tensors(session, sliced.view, sliced.indices, value);
    if (known) ops::note_index_put(sliced.view, sliced.indices, *known, before);
  } else if (source != nullptr) {
    // It may look into the same memory: x[0] += 1 copies a view onto itself.
    std::optional<ops::View> known = ops::view_of(source->tensor);
    copy_to(session, sliced.view, source->tensor);
    ops::note_copy(std::move(known), sliced.view, before);
  } else {
    check_assigned(session, value);
    ops::fill_(session.c, sliced.view);
    if (value.is_number()) ops::note_fill(sliced.view, value.number(), before);
  }
}

}  // namespace tidemark::torch
