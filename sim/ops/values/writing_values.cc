#include <algorithm>
#include <string>

#include "sim/ops/values/places.h"
#include "sim/ops/values/rule.h"

/// Numbers that are written over some of others, at places that other numbers say.
namespace tidemark::ops {

namespace {

enum class Way : std::uint8_t { kReplace, kAdd, kMultiply, kLargest, kSmallest };

/// Writes one number after another. Where different numbers come to one place and replace each
/// other, which one stays is the kernel's to choose.
class Writer {
 public:
  Writer(Numbers& out, Way way) : out_(out), way_(way), written_(out.size(), false) {}

  /// A sum does not begin with what the place had, but with the first that comes there.
  void forget_old() { forgets_old_ = true; }

  /// False: nobody knows what stays.
  bool write(std::int64_t place, const Numbers& from, std::size_t i) {
    if (place < 0 || static_cast<std::size_t>(place) >= out_.size() || i >= from.size())
      return false;
    const auto at = static_cast<std::size_t>(place);
    const bool is_first = !written_[at];
    written_[at] = true;
    if (way_ == Way::kReplace) {
      if (!is_first) return out_.at(at) == from.at(i);
      copy_number(from, i, out_, at);
      return true;
    }
    if (is_first && forgets_old_) {
      copy_number(from, i, out_, at);
      return true;
    }
    const double old = out_.at(at);
    const double fresh = from.at(i);
    out_.set(at, way_ == Way::kAdd        ? old + fresh
                 : way_ == Way::kMultiply ? old * fresh
                 : way_ == Way::kLargest  ? std::max(old, fresh)
                                          : std::min(old, fresh));
    return true;
  }

 private:
  Numbers& out_;
  Way way_;
  bool forgets_old_ = false;
  std::vector<bool> written_;
};

bool begin_with(const std::optional<Numbers>& old, Numbers& out) {
  if (!old || old->size() != out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) copy_number(*old, i, out, i);
  return true;
}

/// A tensor's numbers, or a number so many times, as the result keeps them.
std::optional<Numbers> given_numbers(const ValueCall& call, std::size_t i, std::int64_t count) {
  if (call.is_tensor(i)) return call.own(i);
  Numbers all;
  all.dtype = call.dtype;
  all.resize(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < all.size(); ++k) all.set(k, call.number(i));
  return all;
}

/// scatter(dim, index, src): each element of the index says where along `dim` one of src goes.
bool scatter_by(const ValueCall& call, Way way, bool keeps_old, Numbers& out) {
  if (!call.is_tensor(2) || !begin_with(call.own(0), out)) return false;
  const View& index = call.view(2);
  const auto chosen = call.own(2);
  const std::size_t rank = call.sizes.size();
  if (!chosen || rank == 0 || index.sizes.size() != rank) return false;
  const std::size_t dim = call.dim(1, rank);
  std::optional<Numbers> source;
  if (call.is_tensor(3)) {
    View window = call.view(3);  // of src as much as the index has
    if (window.sizes.size() != rank) return false;
    window.sizes = index.sizes;
    source = numbers_of(window);
  } else {
    source = given_numbers(call, 3, index.numel());
  }
  if (!source) return false;
  Dims strides = contiguous_strides(call.sizes);
  const std::int64_t step = strides[dim];
  strides[dim] = 0;
  const std::vector<std::int64_t> places = places_of(index.sizes, strides, 0);
  Writer writer(out, way);
  if (!keeps_old) writer.forget_old();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t along = chosen->whole[i];
    if (along < 0 || along >= call.sizes[dim]) return false;
    if (!writer.write(places[i] + along * step, *source, i)) return false;
  }
  return true;
}
bool scattered(const ValueCall& call, Numbers& out) {
  return scatter_by(call, Way::kReplace, true, out);
}
bool scatter_added(const ValueCall& call, Numbers& out) {
  return scatter_by(call, Way::kAdd, true, out);
}
bool scatter_reduced(const ValueCall& call, Numbers& out) {
  const auto* word = std::get_if<std::string>(&call.plain(4));
  if (word == nullptr || *word == "mean") return false;
  const Way way = *word == "sum"    ? Way::kAdd
                  : *word == "prod" ? Way::kMultiply
                  : *word == "amax" ? Way::kLargest
                                    : Way::kSmallest;
  return scatter_by(call, way, call.number(5, 1) != 0, out);
}

/// index_fill, index_copy and index_add: whole rows along `dim`, in the order of the index.
bool write_rows(const ValueCall& call, Way way, double scale, Numbers& out) {
  if (!call.is_tensor(2) || !begin_with(call.own(0), out)) return false;
  std::optional<Numbers> chosen = call.own(2);
  const std::size_t rank = call.sizes.size();
  if (!chosen || rank == 0 || !chosen->is_whole()) return false;
  const std::size_t dim = call.dim(1, rank);
  if (!wrap_indices(chosen->whole, call.sizes[dim])) return false;
  Dims rows = call.sizes;
  rows[dim] = static_cast<std::int64_t>(chosen->size());
  std::optional<Numbers> source = given_numbers(call, 3, numel_of(rows));
  if (source && call.is_tensor(3) && call.view(3).sizes.empty() && numel_of(rows) != 1) {
    View all = broadcast_view(call.view(3), rows);
    source = numbers_of(all);
  }
  if (!source || source->size() != static_cast<std::size_t>(numel_of(rows))) return false;
  if (scale != 1) {
    for (std::size_t i = 0; i < source->size(); ++i) source->set(i, source->at(i) * scale);
  }
  Dims strides = contiguous_strides(call.sizes);
  const std::int64_t step = strides[dim];
  strides[dim] = 0;
  std::int64_t inner = 1;
  for (std::size_t d = dim + 1; d < rank; ++d) inner *= call.sizes[d];
  const std::vector<std::int64_t> places = places_of(rows, strides, 0);
  Writer writer(out, way);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t row = static_cast<std::int64_t>(i) / inner % rows[dim];
    const std::int64_t along = chosen->whole[static_cast<std::size_t>(row)];
    if (!writer.write(places[i] + along * step, *source, i)) return false;
  }
  return true;
}
bool rows_written(const ValueCall& call, Numbers& out) {
  return write_rows(call, Way::kReplace, 1, out);
}
bool rows_added(const ValueCall& call, Numbers& out) {
  return write_rows(call, Way::kAdd, call.number(4, 1), out);
}

/// self, the indices of its dimensions, the values, whether they are added.
bool put_at(const ValueCall& call, Numbers& out) {
  const std::size_t last = call.given.size() - 1;
  const std::span<const ValueCall::Given> indices = std::span(call.given).subspan(1, last - 2);
  if (!call.is_tensor(last - 1) || !begin_with(call.own(0), out)) return false;
  const View whole{nullptr, call.sizes, contiguous_strides(call.sizes), 0};
  const std::optional<IndexedPlaces> at = indexed_places(whole, indices);
  if (!at) return false;
  if (call.view(last - 1).sizes.size() > at->sizes.size()) return false;
  const auto values = numbers_of(broadcast_view(call.view(last - 1), at->sizes));
  if (!values || values->size() != at->places.size()) return false;
  Writer writer(out, call.flag(last) ? Way::kAdd : Way::kReplace);
  for (std::size_t i = 0; i < at->places.size(); ++i) {
    if (!writer.write(at->places[i], *values, i)) return false;
  }
  return true;
}
/// The indices come as a list.
bool put_at_list(const ValueCall& call, Numbers& out) {
  ValueCall flat;
  flat.sizes = call.sizes;
  flat.dtype = call.dtype;
  flat.given.push_back(call.given[0]);
  for (const View& view : call.given[1].views) {
    ValueCall::Given& index = flat.given.emplace_back();
    index.is_tensor = true;
    index.views.push_back(view);
  }
  flat.given.push_back(call.given[2]);
  flat.given.emplace_back();
  flat.given.back().plain = call.number(3) != 0;
  return put_at(flat, out);
}

/// put_(index, source, accumulate): places count through the whole tensor.
bool put_flat(const ValueCall& call, Numbers& out) {
  if (!begin_with(call.own(0), out)) return false;
  std::optional<Numbers> chosen = call.own(1);
  const auto source = call.own(2);
  if (!chosen || !source || !chosen->is_whole()) return false;
  if (!wrap_indices(chosen->whole, static_cast<std::int64_t>(out.size()))) return false;
  Writer writer(out, call.number(3) != 0 ? Way::kAdd : Way::kReplace);
  for (std::size_t i = 0; i < chosen->size(); ++i) {
    if (!writer.write(chosen->whole[i], *source, i)) return false;
  }
  return true;
}

/// masked_scatter(mask, source): one of the source after another where the mask holds.
bool masked_scattered(const ValueCall& call, Numbers& out) {
  if (!call.is_tensor(1) || !call.is_tensor(2)) return false;
  const auto old = call.spread(0);
  const auto mask = call.spread(1);
  const auto source = call.own(2);
  if (!mask || !source || !begin_with(old, out)) return false;
  std::size_t next = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (mask->at(i) == 0) continue;
    if (next >= source->size()) return false;
    copy_number(*source, next++, out, i);
  }
  return true;
}

/// select_scatter, slice_scatter and diagonal_scatter: over a view of what was there.
bool write_window(const ValueCall& call, const Dims& sizes, const Dims& strides,
                  std::int64_t offset, Numbers& out) {
  const auto source = call.own(1);
  if (!source || !begin_with(call.own(0), out)) return false;
  const std::vector<std::int64_t> places = places_of(sizes, strides, offset);
  if (places.size() != source->size()) return false;
  Writer writer(out, Way::kReplace);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!writer.write(places[i], *source, i)) return false;
  }
  return true;
}
bool over_selection(const ValueCall& call, Numbers& out) {
  const std::size_t dim = call.dim(2, call.sizes.size());
  Dims sizes = call.sizes;
  Dims strides = contiguous_strides(call.sizes);
  std::int64_t at = call.integer(3);
  if (at < 0) at += sizes[dim];
  const std::int64_t offset = at * strides[dim];
  sizes.erase(dim);
  strides.erase(dim);
  return write_window(call, sizes, strides, offset, out);
}
bool over_slice(const ValueCall& call, Numbers& out) {
  const std::size_t dim = call.dim(2, call.sizes.size());
  Dims sizes = call.view(1).sizes;
  Dims strides = contiguous_strides(call.sizes);
  if (sizes.size() != strides.size()) return false;
  std::int64_t begin = call.integer(3);
  if (begin < 0) begin = std::max<std::int64_t>(begin + call.sizes[dim], 0);
  const std::int64_t offset = begin * strides[dim];
  strides[dim] *= call.integer(5, 1);
  return write_window(call, sizes, strides, offset, out);
}
bool over_diagonal(const ValueCall& call, Numbers& out) {
  const std::size_t rank = call.sizes.size();
  const std::int64_t shift = call.integer(2);
  const std::size_t rows = call.dim(3, rank);
  const std::size_t columns = call.dim(4, rank, 1);
  if (rank < 2 || rows == columns || call.view(1).sizes.empty()) return false;
  Dims sizes;
  Dims strides;
  const Dims own = contiguous_strides(call.sizes);
  for (std::size_t d = 0; d < rank; ++d) {
    if (d == rows || d == columns) continue;
    sizes.push_back(call.sizes[d]);
    strides.push_back(own[d]);
  }
  sizes.push_back(call.view(1).sizes.back());
  strides.push_back(own[rows] + own[columns]);
  const std::int64_t offset = shift >= 0 ? shift * own[columns] : -shift * own[rows];
  return write_window(call, sizes, strides, offset, out);
}

constexpr ValueRule writing(std::string_view name, MakeNumbers make) {
  return {name, ValueRule::Kind::kPlain, make};
}
constexpr ValueRule kPut = writing("index_put", put_at);

}  // namespace

void note_index_put(const Tensor& self, const TensorList& indices, const View& values,
                    const Ref<Known>& before) {
  if (!before || before->dtype() != self.dtype()) return;
  Noted noted;
  ValueCall call;
  const auto take = [&](View view) {
    noted.is_random = noted.is_random || view.known->is_random;
    noted.is_assumed = noted.is_assumed || view.known->is_assumed;
    noted.depth = std::max(noted.depth, view.known->depth);
    ValueCall::Given& into = call.given.emplace_back();
    into.is_tensor = true;
    into.views.push_back(std::move(view));
  };
  take({before, self.sizes(), self.strides(), self->offset});
  for (const Tensor& index : indices) {
    if (!index.defined()) {
      call.given.emplace_back();
    } else if (std::optional<View> view = view_of(index)) {
      take(*std::move(view));
    } else {
      return;
    }
  }
  take(values);
  call.given.emplace_back().plain = false;
  call.sizes = self.sizes();
  call.dtype = self.dtype();
  note_made_by(kPut, std::move(call), self, std::move(noted), before);
}

std::span<const ValueRule> writing_values() {
  static constexpr ValueRule kRules[] = {
      writing("scatter", scattered),
      writing("scatter_add", scatter_added),
      writing("scatter_reduce", scatter_reduced),
      writing("index_fill", rows_written),
      writing("index_copy", rows_written),
      writing("index_add", rows_added),
      writing("index_put", put_at_list),
      writing("put", put_flat),
      writing("masked_scatter", masked_scattered),
      writing("select_scatter", over_selection),
      writing("slice_scatter", over_slice),
      writing("diagonal_scatter", over_diagonal),
  };
  return kRules;
}

}  // namespace tidemark::ops
