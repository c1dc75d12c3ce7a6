#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/ops/values/view.h"

namespace tidemark::ops {

void write_shape(StateImage& image, const Dims& dims);

/// A storage of which a part was written over. An array that a loop fills has a chain of these:
/// Known::numbers takes the numbers of what nobody else holds, and writes into them.
class PatchRecipe final : public Recipe {
 public:
  PatchRecipe(Ref<Known> before, std::unique_ptr<Recipe> part, Dims sizes, Dims strides,
              std::int64_t offset)
      : before_(std::move(before)),
        part_(std::move(part)),
        sizes_(sizes),
        strides_(strides),
        offset_(offset) {}
  /// What lay there before the write.
  [[nodiscard]] const Ref<Known>& before() const { return before_; }
  /// Writes the part over `all`, the numbers from before. False: it turns out not to be known.
  bool write_over(Numbers& all) const;
  bool make(Numbers& out) const override;
  void write(StateImage& image) const override;

 private:
  Ref<Known> before_;
  std::unique_ptr<Recipe> part_;
  Dims sizes_, strides_;
  std::int64_t offset_;
};

}  // namespace tidemark::ops
