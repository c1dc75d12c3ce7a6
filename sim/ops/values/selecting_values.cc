#include <algorithm>

#include "sim/ops/values/places.h"
#include "sim/ops/values/rule.h"

/// Numbers that other numbers pick out.
namespace tidemark::ops {

bool wrap_indices(std::vector<std::int64_t>& indices, std::int64_t size) {
  for (std::int64_t& index : indices) {
    if (index < 0) index += size;
    if (index < 0 || index >= size) return false;
  }
  return true;
}

std::optional<IndexedPlaces> indexed_places(const View& source,
                                            std::span<const ValueCall::Given> indices) {
  // What masks and positions say, a list of places and a shape for each dimension they stand for.
  struct Column {
    std::vector<std::int64_t> index;
    Dims sizes;
    bool is_given = false;
  };
  std::vector<Column> columns;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].is_tensor) {
      columns.emplace_back();
      continue;
    }
    const View& view = indices[i].views.front();
    const auto numbers = numbers_of(view);
    if (!numbers || !numbers->is_whole()) return std::nullopt;
    if (numbers->dtype != ScalarType::kBool && numbers->dtype != ScalarType::kUInt8) {
      columns.push_back({numbers->whole, view.sizes, true});
      continue;
    }
    const std::size_t first = columns.size();
    columns.resize(first + view.sizes.size());
    std::int64_t found = 0;
    for (std::size_t k = 0; k < numbers->size(); ++k) {
      if (numbers->whole[k] == 0) continue;
      ++found;
      auto rest = static_cast<std::int64_t>(k);
      for (std::size_t d = view.sizes.size(); d-- > 0;) {
        columns[first + d].index.push_back(rest % view.sizes[d]);
        rest /= view.sizes[d];
      }
    }
    for (std::size_t d = 0; d < view.sizes.size(); ++d) {
      columns[first + d].sizes = {found};
      columns[first + d].is_given = true;
    }
    i += view.sizes.size() - 1;  // placeholders for the other dimensions of the mask follow
  }
  columns.resize(source.sizes.size());
  Dims shape;
  std::size_t first = columns.size();
  std::size_t last = 0;
  std::size_t given = 0;
  for (std::size_t d = 0; d < columns.size(); ++d) {
    if (!columns[d].is_given) continue;
    shape = broadcast(shape, columns[d].sizes);
    first = std::min(first, d);
    last = d;
    ++given;
  }
  std::vector<std::int64_t> picked(static_cast<std::size_t>(numel_of(shape)), 0);
  for (std::size_t d = 0; d < columns.size(); ++d) {
    if (!columns[d].is_given) continue;
    if (!wrap_indices(columns[d].index, source.sizes[d])) return std::nullopt;
    const View own{nullptr, columns[d].sizes, contiguous_strides(columns[d].sizes), 0};
    const View wide = broadcast_view(own, shape);
    const std::vector<std::int64_t> from = places_of(wide.sizes, wide.strides, 0);
    for (std::size_t i = 0; i < picked.size(); ++i)
      picked[i] += columns[d].index[static_cast<std::size_t>(from[i])] * source.strides[d];
  }
  const bool is_adjacent = given > 0 && last - first + 1 == given;
  Dims before_sizes, before_strides, after_sizes, after_strides;
  for (std::size_t d = 0; d < columns.size(); ++d) {
    if (columns[d].is_given) continue;
    const bool before = is_adjacent && d < first;
    (before ? before_sizes : after_sizes).push_back(source.sizes[d]);
    (before ? before_strides : after_strides).push_back(source.strides[d]);
  }
  const auto before = places_of(before_sizes, before_strides, source.offset);
  const auto after = places_of(after_sizes, after_strides, 0);
  IndexedPlaces out;
  out.places.reserve(before.size() * picked.size() * after.size());
  for (const std::int64_t b : before) {
    for (const std::int64_t p : picked) {
      for (const std::int64_t a : after) out.places.push_back(b + p + a);
    }
  }
  out.sizes = before_sizes;
  for (const std::int64_t size : shape) out.sizes.push_back(size);
  for (const std::int64_t size : after_sizes) out.sizes.push_back(size);
  return out;
}

namespace {

bool pick(const View& source, const std::vector<std::int64_t>& places, Numbers& out) {
  const Numbers* all = source.known->numbers();
  if (all == nullptr || places.size() != out.size()) return false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 || static_cast<std::size_t>(places[i]) >= all->size()) return false;
    copy_number(*all, static_cast<std::size_t>(places[i]), out, i);
  }
  return true;
}

/// gather, take_along_dim and index_select: the result's own place, but along `dim` the index's.
bool along(const ValueCall& call, std::size_t dim_at, std::size_t index_at, bool one_row,
           Numbers& out) {
  const View& source = call.view(0);
  const auto index = call.own(index_at);
  const std::size_t rank = source.sizes.size();
  const std::size_t dim = call.dim(dim_at, rank);
  if (!index || rank == 0 || call.sizes.size() != rank) return false;
  std::vector<std::int64_t> chosen = index->whole;
  if (!wrap_indices(chosen, source.sizes[dim])) return false;
  Dims strides = source.strides;
  strides[dim] = 0;
  std::vector<std::int64_t> places = places_of(call.sizes, strides, source.offset);
  std::int64_t inner = 1;
  for (std::size_t d = dim + 1; d < rank; ++d) inner *= call.sizes[d];
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t from = one_row ? i / static_cast<std::size_t>(inner) % chosen.size() : i;
    if (from >= chosen.size()) return false;
    places[i] += chosen[from] * source.strides[dim];
  }
  return pick(source, places, out);
}
bool gathered(const ValueCall& call, Numbers& out) { return along(call, 1, 2, false, out); }
bool selected(const ValueCall& call, Numbers& out) { return along(call, 1, 2, true, out); }

bool taken(const ValueCall& call, Numbers& out) {
  const View& source = call.view(0);
  const auto index = call.own(1);
  if (!index) return false;
  std::vector<std::int64_t> chosen = index->whole;
  if (!wrap_indices(chosen, source.numel())) return false;
  const std::vector<std::int64_t> all = places_of(source.sizes, source.strides, source.offset);
  for (std::int64_t& each : chosen) each = all[static_cast<std::size_t>(each)];
  return pick(source, chosen, out);
}

bool nonzero(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x) return false;
  const Dims& sizes = call.view(0).sizes;
  std::size_t at = 0;
  for (std::size_t i = 0; i < x->size(); ++i) {
    if (x->at(i) == 0) continue;
    if (at + sizes.size() > out.size()) return false;
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      out.set_whole(at + d, rest % sizes[d]);
      rest /= sizes[d];
    }
    at += sizes.size();
  }
  return at == out.size();
}

bool masked_select(const ValueCall& call, Numbers& out) {
  const Dims sizes = broadcast(call.view(0).sizes, call.view(1).sizes);
  const auto x = numbers_of(broadcast_view(call.view(0), sizes));
  const auto mask = numbers_of(broadcast_view(call.view(1), sizes));
  if (!x || !mask) return false;
  std::size_t at = 0;
  for (std::size_t i = 0; i < x->size(); ++i) {
    if (mask->at(i) == 0) continue;
    if (at == out.size()) return false;
    copy_number(*x, i, out, at++);
  }
  return at == out.size();
}

bool one_hot(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  if (!x || call.sizes.empty()) return false;
  const auto classes = static_cast<std::size_t>(call.sizes.back());
  for (std::size_t i = 0; i < x->size(); ++i) {
    const auto at = static_cast<std::size_t>(x->whole[i]);
    if (at >= classes) return false;
    out.set_whole(i * classes + at, 1);
  }
  return true;
}

bool outer(const ValueCall& call, Numbers& out) {
  const auto x = call.own(0);
  const auto y = call.own(1);
  if (!x || !y || x->size() * y->size() != out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i)
    out.set(i, x->at(i / y->size()) * y->at(i % y->size()));
  return true;
}

/// Where values would stand among sorted boundaries of one dimension.
bool searched(const ValueCall& call, std::size_t values, std::size_t boundaries, bool right,
              Numbers& out) {
  const auto x = call.own(values);
  const auto edges = call.own(boundaries);
  if (!x || !edges || call.view(boundaries).sizes.size() != 1) return false;
  for (std::size_t i = 0; i < x->size(); ++i) {
    std::size_t at = 0;
    while (at < edges->size() && (right ? edges->at(at) <= x->at(i) : edges->at(at) < x->at(i)))
      ++at;
    out.set_whole(i, static_cast<std::int64_t>(at));
  }
  return true;
}
/// Sorted sequences of any rank; each row of the values has its own.
bool search_sorted(const ValueCall& call, Numbers& out) {
  const auto* side = std::get_if<std::string>(&call.plain(4));
  const bool right = call.flag(3) || (side != nullptr && *side == "right");
  if (call.is_tensor(1) && call.view(0).sizes.size() == 1) return searched(call, 1, 0, right, out);
  const auto edges = call.own(0);
  if (!edges || call.view(0).sizes.empty()) return false;
  const auto length = static_cast<std::size_t>(call.view(0).sizes.back());
  const auto wanted = call.is_tensor(1) ? call.own(1) : call.spread(1);
  if (!wanted || wanted->size() != out.size() || length == 0) return false;
  const std::size_t rows = edges->size() / length;
  const std::size_t width = out.size() / std::max<std::size_t>(rows, 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t first = i / std::max<std::size_t>(width, 1) * length;
    std::size_t at = 0;
    const double x = wanted->at(i);
    while (at < length && (right ? edges->at(first + at) <= x : edges->at(first + at) < x)) ++at;
    out.set_whole(i, static_cast<std::int64_t>(at));
  }
  return true;
}

/// take_along_dim(indices, dim): as gather, but the shapes broadcast; without a dim of all.
bool taken_along(const ValueCall& call, Numbers& out) {
  if (call.is_none(2)) return taken(call, out);
  ValueCall wide = call;
  const std::size_t rank = call.sizes.size();
  const std::size_t dim = call.dim(2, rank);
  Dims sizes = call.sizes;
  if (call.view(0).sizes.size() != rank || dim >= rank) return false;
  sizes[dim] = call.view(0).sizes[dim];
  wide.given[0].views[0] = broadcast_view(call.view(0), sizes);
  wide.given[1].views[0] = broadcast_view(call.view(1), call.sizes);
  return along(wide, 2, 1, false, out);
}

/// embedding(input, weight): a row of the weight for each number.
bool embedded(const ValueCall& call, Numbers& out) {
  const View& table = call.view(1);
  auto rows = call.own(0);
  if (!rows || !rows->is_whole() || table.sizes.size() != 2) return false;
  if (call.given.size() > 3 && !call.is_none(3)) return false;  // max_norm writes into the table
  if (!wrap_indices(rows->whole, table.sizes[0])) return false;
  std::vector<std::int64_t> places;
  places.reserve(out.size());
  for (const std::int64_t row : rows->whole) {
    for (std::int64_t i = 0; i < table.sizes[1]; ++i)
      places.push_back(table.offset + row * table.strides[0] + i * table.strides[1]);
  }
  return pick(table, places, out);
}

bool bucketized(const ValueCall& call, Numbers& out) {
  return searched(call, 0, 1, call.flag(3), out);
}

/// The view, then the indices of its dimensions.
bool indexed(const ValueCall& call, Numbers& out) {
  const std::optional<IndexedPlaces> at =
      indexed_places(call.view(0), std::span(call.given).subspan(1));
  return at && pick(call.view(0), at->places, out);
}

constexpr ValueRule selecting(std::string_view name, MakeNumbers make) {
  return {name, ValueRule::Kind::kPlain, make};
}
constexpr ValueRule kIndex = selecting("index", indexed);
constexpr ValueRule kNonzero = selecting("nonzero", nonzero);

}  // namespace

bool places_of_nonzero(const ValueCall& call, Numbers& out) { return nonzero(call, out); }

void note_index(const Tensor& self, const TensorList& indices, const Tensor& result) {
  std::vector<Argument> values{self};
  std::vector<ValueCall::Given> given;
  bool is_random = false;
  bool is_assumed = false;
  std::uint32_t depth = 0;
  const auto take = [&](const Tensor& tensor) {
    ValueCall::Given& into = given.emplace_back();
    if (!tensor.defined()) return true;
    std::optional<View> view = view_of(tensor);
    if (!view) return false;
    is_random = is_random || view->known->is_random;
    is_assumed = is_assumed || view->known->is_assumed;
    depth = std::max(depth, view->known->depth);
    into.is_tensor = true;
    into.views.push_back(*std::move(view));
    return true;
  };
  if (!self->storage->known() || !take(self)) return;
  for (const Tensor& index : indices) {
    if (!take(index)) return;
  }
  ValueCall call;
  call.given = std::move(given);
  call.sizes = result.sizes();
  call.dtype = result.dtype();
  note_made_by(kIndex, std::move(call), result, {nullptr, is_random, is_assumed, depth}, nullptr);
}

void note_nonzero(const Tensor& self, const Tensor& found) {
  std::optional<View> view = view_of(self);
  if (!view) return;
  Noted noted{nullptr, view->known->is_random, view->known->is_assumed, view->known->depth};
  ValueCall call;
  call.given.resize(1);
  call.given[0].is_tensor = true;
  call.given[0].views.push_back(*std::move(view));
  call.sizes = found.sizes();
  call.dtype = found.dtype();
  note_made_by(kNonzero, std::move(call), found, std::move(noted), nullptr);
}

void note_rows(const Tensor& self, std::vector<std::int64_t> rows, const Tensor& result) {
  std::optional<View> view = view_of(self);
  if (!view) return;
  Noted noted{nullptr, view->known->is_random, view->known->is_assumed, view->known->depth};
  Numbers numbers;
  numbers.dtype = ScalarType::kInt64;
  numbers.whole = std::move(rows);
  const auto count = static_cast<std::int64_t>(numbers.size());
  ValueCall call;
  call.given.resize(2);
  for (ValueCall::Given& each : call.given) each.is_tensor = true;
  call.given[0].views.push_back(*std::move(view));
  call.given[1].views.push_back({make_ref<Known>(std::move(numbers)), {count}, {1}, 0});
  call.sizes = result.sizes();
  call.dtype = result.dtype();
  note_made_by(kIndex, std::move(call), result, std::move(noted), nullptr);
}

std::span<const ValueRule> selecting_values() {
  static constexpr ValueRule kRules[] = {
      selecting("gather", gathered),
      selecting("index_select", selected),
      selecting("take", taken),
      kNonzero,
      selecting("argwhere", nonzero),
      selecting("masked_select", masked_select),
      selecting("one_hot", one_hot),
      selecting("outer", outer),
      selecting("bucketize", bucketized),
      selecting("searchsorted", search_sorted),
      selecting("take_along_dim", taken_along),
      selecting("embedding", embedded),
  };
  return kRules;
}

}  // namespace tidemark::ops
