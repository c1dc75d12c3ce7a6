#pragma once

#include <optional>
#include <vector>

#include "sim/ops/tensor.h"
#include "sim/ops/values/known.h"

/// Tensors as windows on known numbers. A view holds the numbers, never the tensor's memory.
namespace tidemark::ops {

struct View {
  Ref<Known> known;  ///< null: nothing is known, of an operand whose other may settle the result
  Dims sizes;
  Dims strides;
  std::int64_t offset = 0;

  [[nodiscard]] std::int64_t numel() const { return numel_of(sizes); }
};

/// How a tensor looks into its storage; nullopt: nothing is known of what lies there, or it is
/// looked at as another type.
std::optional<View> view_of(const Tensor& tensor);
/// The same numbers under a larger shape. Requires: the shapes broadcast.
View broadcast_view(const View& view, const Dims& sizes);
/// In the order of the elements; nullopt: they turn out not to be known. Cost: linear.
std::optional<Numbers> numbers_of(const View& view);
/// What numbers_of gives for a tensor of which something is known.
std::optional<Numbers> known_numbers(const Tensor& tensor);
/// Of how many numbers at most something is kept, where they lie.
std::int64_t most_kept(Device device);
/// How many elements of a mask or of any tensor are not zero; nullopt: not known.
std::optional<std::int64_t> known_count(const Tensor& tensor);
/// The places of a shape's elements in memory, one after another.
std::vector<std::int64_t> places_of(const Dims& sizes, const Dims& strides, std::int64_t offset);

/// Notes what the tensor holds from now on, by a recipe for its elements in order, or forgets it.
/// `before` is what was known of the storage until then, which still holds elsewhere. Nothing is
/// noted of tensors that are too large, or of which nothing may be kept.
struct Noted {
  std::unique_ptr<Recipe> recipe;
  bool is_random = false;
  bool is_assumed = false;
  std::uint32_t depth = 0;
};
void note_numbers(const Tensor& tensor, Noted noted, const Ref<Known>& before);
/// The same for a recipe that gives the elements in the order in which they lie in memory.
void note_in_memory_order(const Tensor& tensor, Noted noted, const Ref<Known>& before);
void note_numbers(const Tensor& tensor, Numbers numbers);
/// The copy `to` holds what was known of another tensor when it was looked at, in its own type.
void note_copy(std::optional<View> from, const Tensor& to, const Ref<Known>& before);
/// Every element of `tensor` is `value` from now on.
void note_fill(const Tensor& tensor, double value, const Ref<Known>& before);
/// Every element of a mask holds, of more of them than numbers are kept otherwise.
void note_all(const Tensor& mask);

}  // namespace tidemark::ops
