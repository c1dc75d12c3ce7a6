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

void note(const Interp& interp, std::string text) {
  if (Notes* notes = interp.options().notes) notes->add(users_place(interp), std::move(text));
}

}  // namespace tidemark::lang
