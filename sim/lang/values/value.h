#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/base/intrusive.h"

namespace tidemark::lang {

class Tracked;

/// What an object is, for fast tests without dynamic_cast. kHost: an object that another floor
/// defines; Object::host_kind() tells those apart.
enum class Kind : std::uint8_t {
  kStr,
  kList,
  kTuple,
  kDict,
  kSet,
  kRange,
  kSlice,
  kFunction,
  kBuiltin,
  kBoundMethod,
  kClass,
  kInstance,
  kException,
  kModule,
  kIterator,
  kProperty,
  kStaticMethod,
  kClassMethod,
  kSuper,
  kCell,
  kFrame,
  kView,
  kHost,
};

/// Everything a name can refer to that is not held inside a Value itself. Reference counted as
/// CPython's objects are: the moment the last reference goes is the moment the object is destroyed.
class Object : public RefCounted<Object> {
 public:
  virtual ~Object() = default;
  [[nodiscard]] Kind kind() const { return kind_; }
  /// Which host type this is; 0 for objects of the language itself.
  [[nodiscard]] std::uint16_t host_kind() const { return host_kind_; }

 protected:
  explicit Object(Kind kind, std::uint16_t host_kind = 0) : kind_(kind), host_kind_(host_kind) {}

 private:
  Kind kind_;
  std::uint16_t host_kind_;
};

enum class Tag : std::uint8_t {
  kEmpty,  ///< no value: an unbound name, an argument not given, "no such attribute"
  kNone,
  kNotImplemented,
  kEllipsis,
  kBool,
  kInt,
  kFloat,
  kObject,
};

/// A Python value in 16 bytes; owns one reference where it refers to an object.
/// Cost: copying is a branch and an increment; moving leaves Empty behind.
class Value {
 public:
  Value() noexcept = default;
  Value(const Value& other) noexcept : tag_(other.tag_), bits_(other.bits_) {
    if (tag_ == Tag::kObject) (void)Ref<Object>(bits_.object).detach();
  }
  Value(Value&& other) noexcept
      : tag_(std::exchange(other.tag_, Tag::kEmpty)), bits_(other.bits_) {}
  // NOLINTBEGIN(google-explicit-constructor): a Ref is a value
  template <class T>
  requires std::is_convertible_v<T*, Object*> Value(Ref<T> object)
  noexcept {
    bits_.object = object.detach();
    tag_ = bits_.object == nullptr ? Tag::kEmpty : Tag::kObject;
  }
  // NOLINTEND(google-explicit-constructor)
  ~Value() {
    if (tag_ == Tag::kObject) Ref<Object>::adopt(bits_.object);
  }
  /// The new value is in place before the old one is dropped, as in Python's assignment.
  Value& operator=(const Value& other) noexcept {
    Value copy(other);
    swap(copy);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    Value moved(std::move(other));
    swap(moved);
    return *this;
  }
  void swap(Value& other) noexcept {
    std::swap(tag_, other.tag_);
    std::swap(bits_, other.bits_);
  }
  void reset() noexcept { Value().swap(*this); }

  static Value none() { return Value(Tag::kNone, 0); }
  static Value not_implemented() { return Value(Tag::kNotImplemented, 0); }
  static Value ellipsis() { return Value(Tag::kEllipsis, 0); }
  static Value boolean(bool value) { return Value(Tag::kBool, value ? 1 : 0); }
  static Value integer(std::int64_t value) { return Value(Tag::kInt, value); }
  static Value real(double value) {
    Value out(Tag::kFloat, 0);
    out.bits_.real = value;
    return out;
  }

  [[nodiscard]] Tag tag() const { return tag_; }
  [[nodiscard]] bool empty() const { return tag_ == Tag::kEmpty; }
  // "is it there" and "is it true" are both meant too often
  explicit operator bool() const = delete;
  [[nodiscard]] bool is_none() const { return tag_ == Tag::kNone; }
  [[nodiscard]] bool is_bool() const { return tag_ == Tag::kBool; }
  [[nodiscard]] bool is_int() const { return tag_ == Tag::kInt; }
  [[nodiscard]] bool is_float() const { return tag_ == Tag::kFloat; }
  [[nodiscard]] bool is_object() const { return tag_ == Tag::kObject; }
  /// int or bool: what Python takes where it wants an integer.
  [[nodiscard]] bool is_integral() const { return tag_ == Tag::kInt || tag_ == Tag::kBool; }
  [[nodiscard]] bool is_number() const { return is_integral() || is_float(); }

  /// Requires: the tag fits.
  [[nodiscard]] std::int64_t as_int() const { return bits_.integer; }  // kInt or kBool
  [[nodiscard]] bool as_bool() const { return bits_.integer != 0; }
  [[nodiscard]] double as_float() const { return bits_.real; }
  [[nodiscard]] Object* object() const { return bits_.object; }
  /// A number as a double. Requires: is_number().
  [[nodiscard]] double number() const {
    return is_float() ? bits_.real : static_cast<double>(bits_.integer);
  }

  /// The object as a T, or nullptr where it is something else. T has `static bool is(const
  /// Object&)`.
  template <class T>
  [[nodiscard]] T* as() const {
    if (tag_ != Tag::kObject || !T::is(*bits_.object)) return nullptr;
    return static_cast<T*>(bits_.object);
  }
  template <class T>
  [[nodiscard]] Ref<T> ref() const {
    return Ref<T>(as<T>());
  }
  /// Python's `is`.
  [[nodiscard]] bool same_as(const Value& other) const {
    return tag_ == other.tag_ && bits_.integer == other.bits_.integer;
  }

 private:
  union Bits {
    std::int64_t integer = 0;
    double real;
    Object* object;
  };
  Value(Tag tag, std::int64_t integer) : tag_(tag) { bits_.integer = integer; }
  Tag tag_ = Tag::kEmpty;
  Bits bits_;
};
static_assert(sizeof(Value) == 16);

/// Sees every reference that one object holds; see Tracked.
class Visitor {
 public:
  virtual void visit(Object* object) = 0;
  void visit(const Value& value) {
    if (value.is_object()) visit(value.object());
  }
  template <class T>
  void visit(const Ref<T>& ref) {
    if (ref) visit(static_cast<Object*>(ref.get()));
  }

 protected:
  ~Visitor() = default;
};

/// The list of all objects that can be part of a reference cycle, in order of creation. It finds
/// and frees unreachable cycles when asked (gc.collect(), the end of a run), never by itself.
class Heap : public RefCounted<Heap> {
 public:
  Heap() = default;
  /// Frees every tracked object that is reachable only from other such objects, as CPython's
  /// collector does: their contents are cleared in order of creation. Returns how many objects were
  /// unreachable. Cost: linear in the tracked objects and their references.
  std::size_t collect();
  [[nodiscard]] std::size_t tracked() const { return count_; }
  /// Drops one value now, or, when this many drops are already nested, as soon as they are done:
  /// structures linked a million deep do not exhaust the stack. Destructors of containers drop
  /// through this.
  void drop(Value value);

 private:
  friend class Tracked;
  static constexpr std::size_t kMaxNestedDrops = 400;
  std::vector<Value> deferred_;
  std::size_t nested_drops_ = 0;
  Tracked* first_ = nullptr;
  Tracked* last_ = nullptr;
  std::size_t count_ = 0;
};

/// An object that can refer to others. A class with references of its own tells them in traverse()
/// (each reference it owns, once) and gives them up in clear(); one that leaves them out keeps them
/// alive while it is part of a cycle.
class Tracked : public Object {
 public:
  ~Tracked() override;
  virtual void traverse(Visitor& visitor) const;
  virtual void clear();
  [[nodiscard]] Heap& heap() const { return *heap_; }

 protected:
  Tracked(Heap& heap, Kind kind, std::uint16_t host_kind = 0);

 private:
  friend class Heap;
  Ref<Heap> heap_;
  Tracked* previous_ = nullptr;
  Tracked* next_ = nullptr;
};

/// Drops values one after another, the first first or the last first.
void drop_forward(Heap& heap, std::vector<Value>& values);
void drop_backward(Heap& heap, std::vector<Value>& values);

}  // namespace tidemark::lang
