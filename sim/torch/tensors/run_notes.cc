#include "sim/torch/tensors/run_notes.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

void LateGradients::begin(Session& session, const ops::TensorList& gradients) {
  // Inside a backward pass the thread that asks is autograd's own; a compiler only looks.
  if (session.c.thread().final_callbacks != nullptr || session.c.tracer != nullptr) return;
  const auto is_held = [](const ops::Tensor& each) {
    return each.defined() && each.is_cuda() && each->storage;
  };
  if (std::ranges::none_of(gradients, is_held)) return;
  if (lang::takes_late_ends(session.interp)) held_ = gradients;
  for (const ops::Tensor& each : gradients)
    if (is_held(each)) watched_.push_back(each->storage->watch());
  requests_ = session.emitter.amounts().requests;
  at_ = lang::users_place(session.interp);
}

void LateGradients::end(Session& session) {
  if (watched_.empty()) return;
  const auto is_gone = [](const Ref<ops::StorageWatch>& each) { return each->storage == nullptr; };
  const auto is_last = [](const ops::Tensor& each) {
    return each.defined() && each.ref()->use_count() == 1;
  };
  const bool is_dropped =
      std::ranges::any_of(watched_, is_gone) || std::ranges::any_of(held_, is_last);
  lang::Notes* const notes = session.interp.options().notes;
  if (is_dropped && session.emitter.amounts().requests > requests_ && notes != nullptr) {
    notes->add(at_, fmt::format("{}a thread of autograd's lets go of the gradients that "
                                "autograd.grad() gives when Python next lets it; here {}",
                                lang::kLeftToChance,
                                held_.empty() ? "at once" : "as the next backward pass begins"));
  }
  drop();
}

void LateGradients::drop() {
  watched_.clear();
  held_.clear();
}

RunNotes* run_notes(const Session& session) {
  return dynamic_cast<RunNotes*>(session.interp.options().notes);
}

}  // namespace tidemark::torch
