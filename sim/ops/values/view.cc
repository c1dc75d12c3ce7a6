#include "sim/ops/values/view.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/ops/context.h"
#include "sim/ops/values/patch_recipe.h"

namespace tidemark::ops {

namespace {

/// Recipes that wait for each other deeper than this are worked out.
constexpr std::uint32_t kDeepest = 64;

class CopyRecipe final : public Recipe {
 public:
  explicit CopyRecipe(View from) : from_(std::move(from)) {}
  bool make(Numbers& out) const override {
    const std::optional<Numbers> numbers = numbers_of(from_);
    if (!numbers) return false;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (numbers->is_whole()) {
        out.set_whole(i, numbers->whole[i]);
      } else {
        out.set(i, numbers->real[i]);
      }
    }
    return true;
  }
  void write(StateImage& image) const override {
    image.put_text("copy");
    from_.known->write(image);
    write_shape(image, from_.sizes);
    write_shape(image, from_.strides);
    image.put_signed(from_.offset);
  }

 private:
  View from_;
};

class FillRecipe final : public Recipe {
 public:
  explicit FillRecipe(double value) : value_(value) {}
  bool make(Numbers& out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) out.set(i, value_);
    return true;
  }
  void write(StateImage& image) const override {
    image.put_text("fill");
    image.put_real(value_);
  }

 private:
  double value_;
};

}  // namespace

void write_shape(StateImage& image, const Dims& dims) {
  image.put(dims.size());
  for (const std::int64_t each : dims) image.put_signed(each);
}

bool PatchRecipe::write_over(Numbers& all) const {
  Numbers fresh;
  fresh.dtype = all.dtype;
  fresh.resize(static_cast<std::size_t>(numel_of(sizes_)));
  if (!part_->make(fresh)) return false;
  const std::vector<std::int64_t> places = places_of(sizes_, strides_, offset_);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto at = static_cast<std::size_t>(places[i]);
    if (all.is_whole()) {
      all.whole[at] = fresh.whole[i];
    } else {
      all.real[at] = fresh.real[i];
    }
  }
  return true;
}

bool PatchRecipe::make(Numbers& out) const {
  const Numbers* old = before_->numbers();
  if (old == nullptr) return false;
  out = *old;
  return write_over(out);
}

void PatchRecipe::write(StateImage& image) const {
  image.put_text("patch");
  before_->write(image);
  part_->write(image);
  write_shape(image, sizes_);
  write_shape(image, strides_);
  image.put_signed(offset_);
}

std::vector<std::int64_t> places_of(const Dims& sizes, const Dims& strides, std::int64_t offset) {
  const auto count = static_cast<std::size_t>(numel_of(sizes));
  std::vector<std::int64_t> places(count);
  Dims index = Dims::filled(sizes.size(), 0);
  std::int64_t at = offset;
  for (std::size_t i = 0; i < count; ++i) {
    places[i] = at;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < sizes[d]) break;
      at -= strides[d] * sizes[d];
      index[d] = 0;
    }
  }
  return places;
}

std::optional<View> view_of(const Tensor& tensor) {
  if (!tensor.defined() || !tensor->storage || !tensor->storage->known()) return std::nullopt;
  const Ref<Known>& known = tensor->storage->known();
  if (known->dtype() != tensor.dtype() || tensor->is_conj) return std::nullopt;
  return View{known, tensor.sizes(), tensor.strides(), tensor->offset};
}

View broadcast_view(const View& view, const Dims& sizes) {
  View out = view;
  out.sizes = sizes;
  out.strides = Dims::filled(sizes.size(), 0);
  const std::size_t more = sizes.size() - view.sizes.size();
  for (std::size_t d = 0; d < view.sizes.size(); ++d)
    out.strides[more + d] = view.sizes[d] == 1 ? 0 : view.strides[d];
  return out;
}

std::optional<Numbers> numbers_of(const View& view) {
  const Numbers* all = view.known ? view.known->numbers() : nullptr;
  if (all == nullptr) return std::nullopt;
  const std::vector<std::int64_t> places = places_of(view.sizes, view.strides, view.offset);
  Numbers out;
  out.dtype = all->dtype;
  out.resize(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto at = static_cast<std::size_t>(places[i]);
    if (at >= all->size()) return std::nullopt;
    if (out.is_whole()) {
      out.whole[i] = all->whole[at];
    } else {
      out.real[i] = all->real[at];
    }
  }
  return out;
}

std::optional<Numbers> known_numbers(const Tensor& tensor) {
  const std::optional<View> view = view_of(tensor);
  return view ? numbers_of(*view) : std::nullopt;
}

std::int64_t most_kept(Device device) {
  constexpr std::int64_t kMostOnGpu = std::int64_t{1} << 18U;
  return device.is_cuda() ? kMostOnGpu : kMostOnHost;
}

std::optional<std::int64_t> known_count(const Tensor& tensor) {
  const std::optional<Numbers> numbers = known_numbers(tensor);
  if (!numbers) return std::nullopt;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < numbers->size(); ++i) count += numbers->at(i) != 0 ? 1 : 0;
  return count;
}

void note_numbers(const Tensor& tensor, Noted noted, const Ref<Known>& before) {
  if (!tensor->storage) return;
  Storage& storage = *tensor->storage;
  const auto width = static_cast<std::int64_t>(element_bytes(tensor.dtype()));
  const auto in_storage = static_cast<std::int64_t>(storage.bytes()) / width;
  const std::int64_t count = tensor.numel();
  storage.set_known(nullptr);
  if (!keeps_numbers(tensor.dtype()) || in_storage > most_kept(tensor.device())) return;
  const bool is_all = tensor->offset == 0 && count == in_storage && tensor.is_contiguous();
  if (!is_all) {
    std::unique_ptr<Recipe> part = std::move(noted.recipe);
    if (before && before->dtype() == tensor.dtype() && before->count() == in_storage) {
      noted.is_random = noted.is_random || before->is_random;
      noted.is_assumed = noted.is_assumed || before->is_assumed;
      noted.depth = std::max(noted.depth, before->depth);
      noted.recipe = std::make_unique<PatchRecipe>(before, std::move(part), tensor.sizes(),
                                                   tensor.strides(), tensor->offset);
    } else if (count == in_storage && tensor.is_non_overlapping_and_dense()) {
      // Every place is written, in another order than that of the memory.
      Numbers nothing;
      nothing.dtype = tensor.dtype();
      nothing.resize(static_cast<std::size_t>(count));
      noted.recipe =
          std::make_unique<PatchRecipe>(make_ref<Known>(std::move(nothing)), std::move(part),
                                        tensor.sizes(), tensor.strides(), tensor->offset);
    } else {
      return;
    }
  }
  Ref<Known> known = make_ref<Known>(tensor.dtype(), in_storage, std::move(noted.recipe));
  known->is_random = noted.is_random;
  known->is_assumed = noted.is_assumed;
  known->depth = noted.depth + 1;
  if (known->depth > kDeepest) known->numbers();
  storage.set_known(std::move(known));
}

void note_in_memory_order(const Tensor& tensor, Noted noted, const Ref<Known>& before) {
  if (tensor.is_contiguous()) {
    note_numbers(tensor, std::move(noted), before);
    return;
  }
  std::vector<std::size_t> order(tensor.sizes().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tensor.strides()[a] > tensor.strides()[b];
  });
  Dims sizes;
  Dims strides;
  for (const std::size_t d : order) {
    sizes.push_back(tensor.sizes()[d]);
    strides.push_back(tensor.strides()[d]);
  }
  note_numbers(Context::alias(tensor, sizes, strides, tensor->offset), std::move(noted), before);
}

void note_numbers(const Tensor& tensor, Numbers numbers) {
  if (!tensor->storage || !keeps_numbers(tensor.dtype()) || !tensor.is_contiguous() ||
      tensor->offset != 0)
    return;
  tensor->storage->set_known(make_ref<Known>(std::move(numbers)));
}

void note_copy(std::optional<View> from, const Tensor& to, const Ref<Known>& before) {
  // What looks into the same memory finds its numbers there.
  if (!from || (!before && to->storage->known() == from->known)) return;
  Noted noted;
  noted.is_random = from->known->is_random;
  noted.is_assumed = from->known->is_assumed;
  noted.depth = from->known->depth;
  while (from->sizes.size() > to.sizes().size() && from->sizes[0] == 1) {
    from->sizes.erase(0);
    from->strides.erase(0);
  }
  if (!(from->sizes == to.sizes())) from = broadcast_view(*from, to.sizes());
  noted.recipe = std::make_unique<CopyRecipe>(*std::move(from));
  note_numbers(to, std::move(noted), before);
}

void note_fill(const Tensor& tensor, double value, const Ref<Known>& before) {
  Noted noted;
  noted.recipe = std::make_unique<FillRecipe>(value);
  note_numbers(tensor, std::move(noted), before);
}

void note_all(const Tensor& mask) {
  if (!mask->storage) return;
  Storage& storage = *mask->storage;
  const std::int64_t count = mask.numel();
  const bool is_whole = mask->offset == 0 && storage.bytes() == mask.bytes();
  if (!is_whole || count > kMostOnHost || !mask.is_non_overlapping_and_dense()) {
    note_fill(mask, 1, storage.known());
    return;
  }
  storage.set_known(make_ref<Known>(mask.dtype(), count, std::make_unique<FillRecipe>(1)));
}

}  // namespace tidemark::ops
