#include "sim/lang/values/str.h"

namespace tidemark::lang {

std::size_t Str::offset(std::int64_t i) const {
  if (i == 0) return 0;
  if (static_cast<std::size_t>(length()) == text_.size()) return static_cast<std::size_t>(i);
  const auto starts = [this](std::size_t at) {
    return (static_cast<unsigned char>(text_[at]) & 0xC0U) != 0x80U;
  };
  if (marks_ == nullptr) {
    Marks marks;
    marks.reserve(static_cast<std::size_t>(length() / kMarkStep) + 1);
    std::int64_t seen = 0;
    for (std::size_t at = 0; at < text_.size(); ++at) {
      if (starts(at) && seen++ % kMarkStep == 0) marks.push_back(at);
    }
    marks_ = std::make_unique<const Marks>(std::move(marks));
  }
  const auto mark = static_cast<std::size_t>(i / kMarkStep);
  if (mark >= marks_->size()) return text_.size();
  std::size_t at = (*marks_)[mark];
  for (std::int64_t left = i % kMarkStep; left > 0 && at < text_.size(); --left) {
    ++at;
    while (at < text_.size() && !starts(at)) ++at;
  }
  return at;
}

}  // namespace tidemark::lang
