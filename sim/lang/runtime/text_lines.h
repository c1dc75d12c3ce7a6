#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/lang/values/str.h"

/// Lists of a text's lines, which programs make of whole files to look at a few of them.
namespace tidemark::lang {

/// The lines of a text, which end at '\n' alone. A line becomes a string when somebody asks for it,
/// and is the same object from then on, in every list that has it.
class TextLines final : public RefCounted<TextLines> {
 public:
  /// The first `bytes` of a text: what is behind the last '\n' among them is the last line.
  /// Requires: fewer than 4 GiB.
  TextLines(Ref<Str> text, std::size_t bytes)
      : text_(std::move(text)), lines_(std::string_view(text_->text()).substr(0, bytes)) {}

  [[nodiscard]] std::string_view text() const { return lines_; }
  /// The whole text, of which text() is the beginning.
  [[nodiscard]] const Str& whole() const { return *text_; }
  /// Cost: the first time, the text.
  [[nodiscard]] std::size_t count();
  /// Where a line begins; npos: there are not so many. Cost: what lies between it and the line that
  /// was asked for last; of earlier ones, the text once.
  std::size_t begin_of(std::size_t line);
  /// Tells what somebody found out: where a line begins.
  void note(std::size_t line, std::size_t begin) {
    line_ = line;
    begin_ = begin;
  }
  /// Empty: there are not so many.
  Value line(std::size_t line);
  const std::vector<Value>& all();

 private:
  static constexpr std::size_t kFew = 64;
  Ref<Str> text_;
  std::string_view lines_;
  std::size_t count_ = 0;  // 0: not counted yet
  std::size_t line_ = 0;   // the one that was asked for last
  std::size_t begin_ = 0;  // where it begins
  std::vector<std::uint32_t> begins_;
  std::unordered_map<std::size_t, Value> few_;  // looked up, never walked
  std::vector<Value> all_;
};

/// The elements of a list: a vector of values, which is made when somebody asks for it where they
/// are lines of a text.
class ListItems {
 public:
  using Values = std::vector<Value>;
  using value_type = Value;
  using iterator = Values::iterator;
  using const_iterator = Values::const_iterator;

  ListItems() = default;
  // NOLINTBEGIN(google-explicit-constructor): it is used as the vector that it stands for
  ListItems(Values values) : values_(std::move(values)) {}
  operator Values&() & { return all(); }
  operator const Values&() const& { return all(); }
  operator Values() && { return std::move(all()); }
  // NOLINTEND(google-explicit-constructor)
  /// The lines from `first` on. Requires: there is one.
  ListItems(Ref<TextLines> lines, std::size_t first) : lines_(std::move(lines)), first_(first) {}
  ListItems& operator=(Values values) {
    lines_.reset();
    values_ = std::move(values);
    return *this;
  }

  /// Null: they are values already.
  [[nodiscard]] const Ref<TextLines>& lines() const { return lines_; }
  [[nodiscard]] std::size_t first_line() const { return first_; }
  /// What is there without making any.
  [[nodiscard]] const Values& made() const { return values_; }
  /// Empty: there are not so many. Cost: of lines, TextLines::line.
  [[nodiscard]] Value get(std::size_t i) const {
    if (lines_) [[unlikely]]
      return lines_->line(first_ + i);
    return i < values_.size() ? values_[i] : Value();
  }
  [[nodiscard]] Values& all() {
    if (lines_) [[unlikely]]
      make();
    return values_;
  }
  [[nodiscard]] const Values& all() const { return const_cast<ListItems*>(this)->all(); }
  /// Forgets lines that nobody has asked for.
  void forget_lines() { lines_.reset(); }

  [[nodiscard]] std::size_t size() const {
    if (lines_) [[unlikely]]
      return lines_->count() - first_;
    return values_.size();
  }
  [[nodiscard]] bool empty() const { return !lines_ && values_.empty(); }
  iterator begin() { return all().begin(); }
  iterator end() { return all().end(); }
  [[nodiscard]] const_iterator begin() const { return all().begin(); }
  [[nodiscard]] const_iterator end() const { return all().end(); }
  Value* data() { return all().data(); }
  [[nodiscard]] const Value* data() const { return all().data(); }
  Value& operator[](std::size_t i) { return all()[i]; }
  const Value& operator[](std::size_t i) const { return all()[i]; }
  [[nodiscard]] const Value& front() const { return all().front(); }
  [[nodiscard]] const Value& back() const { return all().back(); }
  Value& back() { return all().back(); }
  void push_back(Value value) { all().push_back(std::move(value)); }
  void pop_back() { all().pop_back(); }
  void reserve(std::size_t count) { all().reserve(count); }

 private:
  void make();
  Values values_;
  Ref<TextLines> lines_;
  std::size_t first_ = 0;
};

/// The lines of a long text as a list's elements, as split("\n") gives them or, where `is_split` is
/// false, splitlines(). nullopt: the text is short, empty, or other marks end its lines.
std::optional<ListItems> lines_of(const Ref<Str>& text, bool is_split);

}  // namespace tidemark::lang
