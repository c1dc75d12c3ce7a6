#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/lang/runtime/interp.h"

/// Iterators of the built-in containers, and dict views.
namespace tidemark::lang {

/// Over a list (as it changes) or a tuple. Lets go of it when exhausted.
class SequenceIterator final : public Iterator {
 public:
  SequenceIterator(Heap& heap, Value sequence, bool backward = false);
  ~SequenceIterator() override { heap().drop(std::move(sequence_)); }
  Value next(Interp& interp) override;
  [[nodiscard]] std::string_view type_name() const override;
  [[nodiscard]] std::optional<std::int64_t> length_hint() const override;
  void traverse(Visitor& visitor) const override { visitor.visit(sequence_); }
  void clear() override { sequence_.reset(); }
  /// What is still to come; empty: it goes backward, or nothing is left.
  [[nodiscard]] std::span<const Value> upcoming() const;
  /// The text whose lines these are, and the number of the one to come; null: they are values.
  [[nodiscard]] TextLines* lines() const;
  [[nodiscard]] std::size_t upcoming_line() const;
  /// Requires: as many are upcoming.
  void skip(std::size_t count) { at_ += count; }

 private:
  [[nodiscard]] const std::vector<Value>* items() const;
  Value sequence_;  // a List or Tuple; Empty when exhausted
  std::size_t at_ = 0;
  bool backward_;
};

/// A new iterator with what is left of one, which stays where it is: what copy, deepcopy and pickle
/// make, as CPython's __reduce__ says. `copied` gives each item's copy. Empty: it cannot be copied.
Value copied_iterator(Interp& interp, const Value& iterator,
                      const std::function<Value(const Value& item)>& copied);

class RangeIterator final : public Iterator {
 public:
  RangeIterator(Heap& heap, std::int64_t start, std::int64_t step, std::int64_t count)
      : Iterator(heap), next_(start), step_(step), left_(count) {}
  Value next(Interp& interp) override;
  [[nodiscard]] std::string_view type_name() const override { return "range_iterator"; }
  [[nodiscard]] std::optional<std::int64_t> length_hint() const override { return left_; }
  /// What next() gives, where something is left.
  [[nodiscard]] std::int64_t upcoming() const { return next_; }
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] std::int64_t left() const { return left_; }
  /// Requires: 0 <= count <= left().
  void skip(std::int64_t count) {
    const auto distance = static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(step_);
    next_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(next_) + distance);
    left_ -= count;
  }

 private:
  std::int64_t next_, step_, left_;
};

/// The characters of a string, one code point each.
class StrIterator final : public Iterator {
 public:
  StrIterator(Heap& heap, Ref<Str> text) : Iterator(heap), text_(std::move(text)) {}
  Value next(Interp& interp) override;
  [[nodiscard]] std::string_view type_name() const override { return "str_iterator"; }
  /// The characters that are left.
  [[nodiscard]] std::string_view upcoming() const;

 private:
  Ref<Str> text_;
  std::size_t at_ = 0;
};

enum class DictPart : std::uint8_t { kKeys, kValues, kItems };

/// Over a dict or a set. An items iterator keeps the tuple it gave last, as CPython does, and fills
/// it anew when nobody else has it.
class TableIterator final : public Iterator {
 public:
  /// Requires: `container` is a Dict or Set.
  TableIterator(Heap& heap, Value container, DictPart part, bool backward = false);
  ~TableIterator() override { clear(); }
  Value next(Interp& interp) override;
  [[nodiscard]] std::string_view type_name() const override;
  /// What is left. Errors: as next().
  std::vector<Value> upcoming(Interp& interp);
  void traverse(Visitor& visitor) const override;
  void clear() override {
    heap().drop(std::move(container_));
    heap().drop(Value(std::move(pair_)));
  }

 private:
  [[nodiscard]] ValueTable* table() const;
  Value container_;  // Empty when exhausted
  DictPart part_;
  bool backward_;
  std::size_t at_ = 0;
  std::size_t size_;
  Ref<Tuple> pair_;
};

/// Calls __next__ of an object, or __getitem__ with 0, 1, 2...
class ObjectIterator final : public Iterator {
 public:
  ObjectIterator(Heap& heap, Value object, bool by_index)
      : Iterator(heap), object_(std::move(object)), by_index_(by_index) {}
  ~ObjectIterator() override { heap().drop(std::move(object_)); }
  Value next(Interp& interp) override;
  void traverse(Visitor& visitor) const override { visitor.visit(object_); }
  void clear() override { object_.reset(); }

 private:
  Value object_;
  bool by_index_;
  std::int64_t at_ = 0;
};

/// An iterator made of a function, for the library's small ones (zip, map, chain, ...): `held` is
/// what it refers to, in the order in which it is dropped.
class FunctionIterator final : public Iterator {
 public:
  using Step = std::function<Value(Interp& interp, std::vector<Value>& held)>;
  FunctionIterator(Heap& heap, std::string_view type, std::vector<Value> held, Step step)
      : Iterator(heap), type_(type), held_(std::move(held)), step_(std::move(step)) {}
  ~FunctionIterator() override { drop_forward(heap(), held_); }
  Value next(Interp& interp) override {
    interp.check_stack();
    const Ref<FunctionIterator> keep(this);
    return step_(interp, held_);
  }
  [[nodiscard]] std::string_view type_name() const override { return type_; }
  [[nodiscard]] bool is_endless() const override;
  void traverse(Visitor& visitor) const override {
    for (const Value& value : held_) visitor.visit(value);
  }
  void clear() override { drop_forward(heap(), held_); }

 private:
  std::string_view type_;
  std::vector<Value> held_;
  Step step_;
};

/// enumerate(): pairs of a number and an item. The pair given last is filled anew where nobody else
/// has it, and holds its item until then.
class EnumerateIterator final : public Iterator {
 public:
  EnumerateIterator(Heap& heap, Ref<Iterator> items, std::int64_t start, Value pair)
      : Iterator(heap), held_{std::move(items), std::move(pair)}, number_(start) {}
  ~EnumerateIterator() override { drop_forward(heap(), held_); }
  Value next(Interp& interp) override;
  [[nodiscard]] std::string_view type_name() const override { return "enumerate"; }
  void traverse(Visitor& visitor) const override {
    for (const Value& value : held_) visitor.visit(value);
  }
  void clear() override { drop_forward(heap(), held_); }
  [[nodiscard]] bool is_endless() const override {
    return held_.empty() || held_[0].as<Iterator>() == nullptr
               ? false
               : held_[0].as<Iterator>()->is_endless();
  }
  /// What it numbers; null: a sequence's iterator is not that.
  [[nodiscard]] SequenceIterator* sequence() const;
  /// Leaves out so many of sequence()'s.
  void skip(std::size_t count);

 private:
  std::vector<Value> held_;
  std::int64_t number_;
};

/// d.keys(), d.values(), d.items().
class DictView final : public Tracked {
 public:
  DictView(Heap& heap, Ref<Dict> viewed, DictPart which)
      : Tracked(heap, Kind::kView), dict(std::move(viewed)), part(which) {}
  ~DictView() override { heap().drop(Value(std::move(dict))); }
  static bool is(const Object& o) { return o.kind() == Kind::kView; }
  void traverse(Visitor& visitor) const override { visitor.visit(dict); }
  Ref<Dict> dict;
  const DictPart part;
};

/// The class of d.copy() and d | e: a plain dict of a subclass of dict, the same class of one of
/// OrderedDict's kind.
Ref<ClassObject> class_of_copy(Interp& in, const Dict& dict);

/// list.extend(iterable): each item is in the list before the iterator is asked for the next.
void extend(Interp& in, List& list, const Value& iterable);

/// The table of a set, or of a dict under its keys view; nullptr for anything else.
ValueTable* set_table(const Value& value);

/// UTF-8: how many code points, and where the i-th starts. Requires: i <= length.
std::int64_t utf8_length(std::string_view text);
std::size_t utf8_offset(std::string_view text, std::int64_t i);

}  // namespace tidemark::lang
