#include "sim/torch/compile/known_breaks.h"

#include <algorithm>
#include <string_view>

#include "sim/torch/compile/live_values.h"

namespace tidemark::torch {

namespace {

/// Whether a place is a call or an item: instructions that a graph may break at. Source: Dynamo's
/// break_graph_if_unsupported; others end what is compiled of the function (step_graph_break).
bool is_call(const lang::Frame& frame) {
  const std::string_view text = view(frame.code->file->text);
  const std::string_view here = text.substr(0, std::min<std::size_t>(frame.at.end, text.size()));
  return here.ends_with(')') || here.ends_with(']');
}

}  // namespace

bool KnownBreaks::add(const lang::Frame& own, const lang::Frame& innermost) {
  if (is_in_loop(own)) return skipped_.insert(own.code).second;
  for (const lang::Frame* frame = &innermost; frame != &own; frame = frame->back)
    within_.insert(frame->code);
  return (is_call(own) ? calls_ : rests_).insert(place_of(own)).second;
}

KnownBreaks::Kind KnownBreaks::at(const lang::Frame& own) const {
  if (calls_.count(place_of(own)) > 0) return Kind::kCall;
  return rests_.count(place_of(own)) > 0 ? Kind::kRest : Kind::kNone;
}

}  // namespace tidemark::torch
