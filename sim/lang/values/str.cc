#include "sim/lang/values/str.h"

#include <algorithm>

namespace tidemark::lang {

namespace {

constexpr std::size_t kLong = 4096;     // of shorter texts nothing is kept
constexpr std::size_t kMostNotes = 16;  // of a kind

}  // namespace

Str::Notes& Str::notes() const {
  if (notes_ == nullptr) notes_ = std::make_unique<Notes>();
  return *notes_;
}

std::size_t Str::find(std::string_view part) const {
  if (text_.size() < kLong || part.size() > kLong) return find_text(text_, part);
  std::vector<Notes::Found>& found = notes().found;
  std::size_t begin = 0;  // it is not before: a part of it is not
  for (const Notes::Found& each : found) {
    if (each.part == part) return each.at;
    const std::size_t within = part.find(each.part);
    if (within == std::string_view::npos) continue;
    if (each.at == std::string_view::npos) return each.at;
    if (each.at > within) begin = std::max(begin, each.at - within);
  }
  std::size_t at = find_text(std::string_view(text_).substr(begin), part);
  if (at != std::string_view::npos) at += begin;
  if (found.size() < kMostNotes) found.push_back({std::string(part), at});
  return at;
}

std::size_t Str::line_ends_before(std::size_t byte) const {
  const std::string_view text = text_;
  if (text.size() < kLong) return count_bytes(text.substr(0, byte), '\n');
  std::vector<Notes::Counted>& counted = notes().counted;
  Notes::Counted nearest;
  for (const Notes::Counted& each : counted) {
    if (each.byte <= byte && each.byte > nearest.byte) nearest = each;
  }
  if (nearest.byte == byte) return nearest.line_ends;
  nearest.line_ends += count_bytes(text.substr(nearest.byte, byte - nearest.byte), '\n');
  nearest.byte = byte;
  if (counted.size() < kMostNotes) counted.push_back(nearest);
  return nearest.line_ends;
}

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
