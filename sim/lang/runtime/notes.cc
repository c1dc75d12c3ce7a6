#include "sim/lang/runtime/notes.h"

#include <utility>

#include "sim/lang/runtime/frame.h"

namespace tidemark::lang {

void Notes::add(SourceSpan at, std::string text) {
  for (Note& each : notes_) {
    if (each.at.source == at.source && each.at.line == at.line && each.at.column == at.column &&
        each.text == text) {
      ++each.times;
      return;
    }
  }
  notes_.push_back({std::move(at), std::move(text), 1});
}

void Notes::assume_size_in(const Frame* frame) {
  frame_ = frame;
  code_ = frame == nullptr ? nullptr : frame->code;
}

bool Notes::assumed_size_in(const Frame& frame) const {
  return frame_ == &frame && code_ == frame.code;
}

const Frame* users_frame(const Interp& interp) {
  const Frame* frame = interp.current_frame();
  while (frame != nullptr &&
         (frame->code == nullptr || Interp::is_internal(view(frame->code->file->name))))
    frame = frame->back;
  return frame;
}

SourceSpan users_place(const Interp& interp) {
  const Frame* frame = users_frame(interp);
  if (frame == nullptr) return {};
  return interp.span({frame->code, frame->at.begin, frame->at.end});
}

bool is_asked_by_user(const Interp& interp) {
  for (const Frame* frame = interp.current_frame(); frame != nullptr; frame = frame->back) {
    const Module* module = frame->globals;
    if (module == nullptr) continue;
    if (module->origin != Module::Origin::kOwn) return module->origin == Module::Origin::kText;
    if (module->name.starts_with("torch")) return false;
  }
  return false;
}

void note(const Interp& interp, std::string text) {
  if (Notes* notes = interp.options().notes) notes->add(users_place(interp), std::move(text));
}

void guess(const Interp& interp, std::string text) {
  if (Notes* notes = interp.options().notes) notes->guess(users_place(interp), std::move(text));
}

bool takes_late_ends(const Interp& interp) {
  const Notes* notes = interp.options().notes;
  return notes != nullptr && notes->takes_late_ends();
}

}  // namespace tidemark::lang
