#include "sim/lang/runtime/text_lines.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/text_search.h"

namespace tidemark::lang {

std::size_t TextLines::count() {
  if (count_ == 0) count_ = text_->line_ends_before(lines_.size()) + 1;
  return count_;
}

std::size_t TextLines::begin_of(std::size_t line) {
  constexpr std::size_t kNear = 256;
  if (begins_.empty() && line < line_ && line_ - line <= kNear) {
    std::size_t begin = begin_;
    for (std::size_t at = line_; at > line; --at) {
      // The '\n' before this line ends the one above, which begins behind the '\n' before.
      const std::size_t end = begin < 2 ? std::string_view::npos : lines_.rfind('\n', begin - 2);
      begin = end == std::string_view::npos ? 0 : end + 1;
    }
    note(line, begin);
    return begin;
  }
  if (begins_.empty() && line < line_) {
    begins_.reserve(count());
    begins_.push_back(0);
    for (std::size_t end = lines_.find('\n'); end != std::string_view::npos;
         end = lines_.find('\n', end + 1))
      begins_.push_back(static_cast<std::uint32_t>(end + 1));
  }
  if (!begins_.empty()) return line < begins_.size() ? begins_[line] : std::string_view::npos;
  std::size_t at = line_;
  std::size_t begin = begin_;
  for (; at < line; ++at) {
    const std::size_t end = lines_.find('\n', begin);
    if (end == std::string_view::npos) return end;
    begin = end + 1;
  }
  note(line, begin);
  return begin;
}

Value TextLines::line(std::size_t line) {
  if (all_.empty() && few_.size() >= kFew) (void)all();
  if (!all_.empty()) return line < all_.size() ? all_[line] : Value();
  const auto found = few_.find(line);
  if (found != few_.end()) return found->second;
  const std::size_t begin = begin_of(line);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = std::min(lines_.find('\n', begin), lines_.size());
  Value made = make_ref<Str>(std::string(lines_.substr(begin, end - begin)));
  few_.emplace(line, made);
  return made;
}

const std::vector<Value>& TextLines::all() {
  if (!all_.empty()) return all_;
  std::vector<Value> made;
  made.reserve(count());
  for (std::size_t begin = 0; begin <= lines_.size();) {
    const std::size_t end = std::min(lines_.find('\n', begin), lines_.size());
    const auto known = few_.find(made.size());
    made.push_back(known != few_.end()
                       ? known->second
                       : make_ref<Str>(std::string(lines_.substr(begin, end - begin))));
    begin = end + 1;
  }
  few_.clear();
  all_ = std::move(made);
  return all_;
}

void ListItems::make() {
  const Ref<TextLines> lines = std::exchange(lines_, nullptr);
  const std::vector<Value>& all = lines->all();
  values_.assign(all.begin() + static_cast<std::ptrdiff_t>(first_), all.end());
}

std::optional<ListItems> lines_of(const Ref<Str>& text, bool is_split) {
  constexpr std::size_t kShort = 1024;
  const std::size_t size = text->text().size();
  if (size < kShort || size > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  if (!is_split && !text->has_plain_lines()) return std::nullopt;
  // What follows the last '\n' is a line of split() alone.
  const bool has_end = !is_split && text->text().back() == '\n';
  return ListItems(make_ref<TextLines>(text, size - (has_end ? 1 : 0)), 0);
}

}  // namespace tidemark::lang
