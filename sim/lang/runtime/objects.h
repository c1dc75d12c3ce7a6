#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/lang/runtime/text_lines.h"
#include "sim/lang/syntax/names.h"
#include "sim/lang/values/str.h"

/// The built-in containers. They hold; what Python does with them (operators, methods, messages) is
/// the interpreter's. Orders of destruction are CPython's: a list and a tuple from the last element
/// to the first, a dict in insertion order, value after key.
namespace tidemark::lang {

class AttrMap;
class ClassObject;
class Interp;

/// What list, tuple, dict and set share: a class where they are of another than the plain one
/// (torch.Size, OrderedDict, a user's subclass), and the attributes of a user's.
class Container : public Tracked {
 public:
  ~Container() override;
  static bool is(const Object& o) { return o.kind() >= Kind::kList && o.kind() <= Kind::kSet; }
  /// Null: the plain built-in.
  [[nodiscard]] ClassObject* type() const { return type_.get(); }
  /// Of a user's class: code may define what operators do with it, and it takes attributes.
  [[nodiscard]] bool of_user_class() const { return type_.get() != nullptr && is_users(); }
  /// Null: it has none.
  [[nodiscard]] AttrMap* attrs() const { return attrs_.get(); }
  /// Requires: of_user_class().
  void set_own(Name name, Value value);
  /// Attributes and elements as CPython drops them: the attributes first.
  void clear() override { drop_attributes(); }
  void traverse(Visitor& visitor) const override;

 protected:
  Container(Heap& heap, Kind kind);
  Container(Heap& heap, Kind kind, Ref<ClassObject> type);
  void drop_attributes() {
    if (attrs_ != nullptr) [[unlikely]]
      drop_existing_attributes();
  }

 private:
  [[nodiscard]] bool is_users() const;
  void drop_existing_attributes();
  Ref<ClassObject> type_;
  std::unique_ptr<AttrMap> attrs_;
};

class List final : public Container {
 public:
  explicit List(Heap& heap, std::vector<Value> initial = {})
      : Container(heap, Kind::kList), items(std::move(initial)) {}
  List(Heap& heap, std::vector<Value> initial, Ref<ClassObject> type);
  List(Heap& heap, ListItems lines) : Container(heap, Kind::kList), items(std::move(lines)) {}
  ~List() override { drop_all(); }
  static bool is(const Object& o) { return o.kind() == Kind::kList; }
  void traverse(Visitor& visitor) const override;
  void clear() override { drop_all(); }

  ListItems items;

 private:
  void drop_all() {
    drop_attributes();
    items.forget_lines();
    drop_backward(heap(), items);
  }
};

/// `type` is null for a plain tuple; a named tuple and torch.Size have a class of their own.
class Tuple final : public Container {
 public:
  explicit Tuple(Heap& heap, std::vector<Value> initial = {}, Ref<ClassObject> type = nullptr);
  ~Tuple() override;
  static bool is(const Object& o) { return o.kind() == Kind::kTuple; }
  void traverse(Visitor& visitor) const override;
  void clear() override;

  std::vector<Value> items;
};

/// Insertion-ordered hash table from values to values, the store of dict and set. Keys are compared
/// as Python compares them (1 == 1.0 == True), through the interpreter where objects are involved:
/// code may run then and change the table, and the search begins anew, as CPython's does. What
/// find() and entries() give is good until code runs again.
class ValueTable {
 public:
  struct Entry {
    std::uint64_t hash = 0;
    Value key;  // empty: removed
    Value value;
  };
  /// Errors: TypeError from `interp` for an unhashable key (all three).
  Value* find(Interp& interp, const Value& key);
  /// True when the key is new. An existing key object is kept and its value replaced.
  bool set(Interp& interp, Value key, Value value);
  /// The removed entry; both parts empty when there is none.
  Entry remove(Interp& interp, const Value& key);

  [[nodiscard]] std::size_t size() const { return live_; }
  /// In insertion order; skip those whose key is empty.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] std::vector<Entry>& entries() { return entries_; }
  void clear(Heap& heap);
  /// Both parts empty where the table is.
  Entry remove_first();
  Entry remove_last();

  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  /// As set(), but a key that is there stays as it is. The entry's index, kNowhere for a key that
  /// is there.
  std::size_t insert(Interp& interp, Value key);
  /// The index of a key's entry; kNowhere: it is not there.
  [[nodiscard]] std::size_t index_of(Interp& interp, const Value& key) const;
  Entry take(std::size_t entry) { return remove_at(entry); }
  /// How often entries moved together.
  [[nodiscard]] std::uint32_t rebuilds() const { return rebuilds_; }
  /// Requires: the live entries of the table, in another order.
  void reorder(std::vector<Entry> entries);

 private:
  enum class Same : std::uint8_t { kNo, kYes, kChanged };
  [[nodiscard]] std::size_t locate(Interp& interp, const Value& key, std::uint64_t hash) const;
  [[nodiscard]] std::size_t search(Interp& interp, const Value& key, std::uint64_t hash) const;
  [[nodiscard]] Same same_key(Interp& interp, std::size_t i, const Value& key) const;
  void append(std::uint64_t hash, Value key, Value value);
  Entry remove_at(std::size_t i);
  void rebuild();
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // entry index + 1; built once there are more than 8 entries
  std::size_t used_ = 0;              // slots that are not 0, those of removed entries among them
  std::size_t live_ = 0;
  std::uint32_t rebuilds_ = 0;
  std::size_t first_ = 0;      // no live entry stands before it
  std::uint64_t changes_ = 0;  // how often a key came or went
};

/// `type` is null for a plain dict; OrderedDict, defaultdict and Counter have classes.
class Dict final : public Container {
 public:
  explicit Dict(Heap& heap, Ref<ClassObject> type = nullptr);
  ~Dict() override;
  static bool is(const Object& o) { return o.kind() == Kind::kDict; }
  void traverse(Visitor& visitor) const override;
  void clear() override;

  ValueTable table;
  Value default_factory;  ///< defaultdict's; of a class's annotations what makes them; else empty
};

class SetOrder;

/// Elements whose hash is the same in every process are iterated in CPython's order, which depends
/// on the set's history (set_order.h). As soon as one is of another kind, a text or an object, all
/// keep the order of insertion: theirs is another in every process of CPython.
class Set final : public Container {
 public:
  explicit Set(Heap& heap, bool is_frozen = false);
  Set(Heap& heap, bool is_frozen, Ref<ClassObject> type);
  ~Set() override;
  static bool is(const Object& o) { return o.kind() == Kind::kSet; }
  void traverse(Visitor& visitor) const override;
  void clear() override;

  /// Errors: TypeError for what has no hash, here and below. True: it is new.
  bool add(Interp& interp, Value key);
  /// False: there is none.
  bool discard(Interp& interp, const Value& key);
  /// Empty: the set is.
  Value pop();
  /// set.clear().
  void empty();
  /// Adds all of a set, a dict's keys or any iterable.
  void update(Interp& interp, const Value& from);
  void merge(Interp& interp, Set& from);
  /// What `&=` does with the set that it makes.
  void take_from(Set& other);
  /// What ends difference_update.
  void tidy();
  /// Puts the table's entries into the set's order; before somebody walks through them.
  void settle();
  /// Null: elements keep the order of insertion, or there are none yet.
  [[nodiscard]] const SetOrder* order() const { return order_.get(); }

  ValueTable table;  ///< to look into; only the above change it
  bool frozen;

 private:
  void begin(Interp& interp, const Value& first);
  std::size_t insert(Interp& interp, Value key);
  void forget_order();
  bool in_any_order_ = false;
  std::unique_ptr<SetOrder> order_;
};

class Range final : public Object {
 public:
  Range(std::int64_t from, std::int64_t to, std::int64_t by)
      : Object(Kind::kRange), start(from), stop(to), step(by) {}
  static bool is(const Object& o) { return o.kind() == Kind::kRange; }
  [[nodiscard]] std::int64_t length() const;
  /// The step without its sign.
  [[nodiscard]] std::uint64_t width() const {
    return step > 0 ? static_cast<std::uint64_t>(step) : ~static_cast<std::uint64_t>(step) + 1;
  }
  const std::int64_t start, stop, step;
};

class Slice final : public Object {
 public:
  Slice(Heap& heap, Value from, Value to, Value by)
      : Object(Kind::kSlice),
        start(std::move(from)),
        stop(std::move(to)),
        step(std::move(by)),
        heap_(&heap) {}
  ~Slice() override;
  static bool is(const Object& o) { return o.kind() == Kind::kSlice; }
  Value start, stop, step;  // None where left out

  /// What Python's slice.indices gives: the range of positions in a sequence of `length`.
  struct Indices {
    std::int64_t start, stop, step, count;
  };
  /// Errors: std::nullopt when a part is neither None nor an integer, or step is 0.
  [[nodiscard]] std::optional<Indices> indices(std::int64_t length) const;

 private:
  Ref<Heap> heap_;
};

/// A variable shared between a function and those defined inside it.
class Cell final : public Tracked {
 public:
  explicit Cell(Heap& heap) : Tracked(heap, Kind::kCell) {}
  ~Cell() override { heap().drop(std::move(value)); }
  static bool is(const Object& o) { return o.kind() == Kind::kCell; }
  void traverse(Visitor& visitor) const override { visitor.visit(value); }
  void clear() override { value.reset(); }
  Value value;
};

/// What iter() gives. A subclass yields values until it returns Empty, and from then on Empty.
class Iterator : public Tracked {
 public:
  static bool is(const Object& o) { return o.kind() == Kind::kIterator; }
  /// Empty: exhausted.
  virtual Value next(Interp& interp) = 0;
  [[nodiscard]] virtual std::string_view type_name() const { return "iterator"; }
  /// A generator has send(), throw() and close().
  [[nodiscard]] virtual bool is_generator() const { return false; }
  /// How many values are left, where that is known.
  [[nodiscard]] virtual std::optional<std::int64_t> length_hint() const { return std::nullopt; }
  /// It gives values for ever: certainly, as far as its code tells.
  [[nodiscard]] virtual bool is_endless() const { return false; }

 protected:
  explicit Iterator(Heap& heap) : Tracked(heap, Kind::kIterator) {}
};

}  // namespace tidemark::lang
