#pragma once

#include <cstdint>

#include "sim/lang/runtime/objects.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/torch/tensors/session.h"

/// Parts of tensors that lie elsewhere on other ranks. No memory depends on where a part begins, as
/// long as it is as well aligned and nobody knows what lies there.
namespace tidemark::torch {

/// Where this rank's part of a dimension begins. Ranks for which something else might follow are
/// parted; of a part that is only copied less might.
std::int64_t place_of_rank(Session& session, const ops::Tensor& tensor, std::int64_t dim,
                           lang::RankValue& place, bool is_copied = false);
/// Which of equal parts is this rank's, of which each rank has one that is only copied.
std::int64_t part_of_rank(Session& session, const ops::Tensor& tensor, lang::RankValue& number);
/// A slice with this rank's bounds, one of which is another on other ranks. Null: none is.
Ref<lang::Slice> slice_of_rank(Session& session, const ops::Tensor& tensor, std::int64_t dim,
                               const lang::Slice& slice);
/// What the language cannot know of tensors and devices.
void tell_of_tensors(lang::Alike& alike);

}  // namespace tidemark::torch
