#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/lang/runtime/objects.h"
#include "sim/lang/syntax/operators.h"

namespace tidemark::lang {

class ClassObject;
class Instance;
class Interp;
struct CallArgs;

/// What a copy.deepcopy has copied already: one copy an object, however often it is met.
class DeepCopies {
 public:
  /// Null: not copied yet. Cost: a hash.
  [[nodiscard]] const Value* find(const Value& original) const;
  /// Requires: an object that is not there yet.
  void add(Value original, Value copy);
  /// What stands for an object wherever it is met. It is only compared, and may be gone.
  void give(const Object* original, Value instead) { given_[original] = std::move(instead); }
  /// Originals with their copies, in order of copying.
  [[nodiscard]] const std::vector<std::pair<Value, Value>>& all() const { return copies_; }

 private:
  std::vector<std::pair<Value, Value>> copies_;
  std::unordered_map<const Object*, std::size_t> places_;  // in copies_
  std::unordered_map<const Object*, Value> given_;
};

class LateMembers;

/// Attributes by name, in the order they were first set: an instance's __dict__, a class's
/// namespace, a module's globals. Cost: find looks through up to 8 names, hashes beyond.
class AttrMap {
 public:
  struct Entry {
    Name name{};
    Value value;
  };
  /// Those that are there, in order. Setting or removing one ends it.
  class Entries {
   public:
    class Iterator {
     public:
      using value_type = Entry;
      using difference_type = std::ptrdiff_t;
      Iterator() = default;
      Iterator(const Entry* at, const Entry* end) : at_(at), end_(end) { skip(); }
      const Entry& operator*() const { return *at_; }
      Iterator& operator++() {
        ++at_;
        skip();
        return *this;
      }
      Iterator operator++(int) {
        const Iterator before = *this;
        ++*this;
        return before;
      }
      bool operator==(const Iterator& other) const { return at_ == other.at_; }

     private:
      void skip() {
        while (at_ != end_ && at_->name == kRemoved) ++at_;
      }
      const Entry* at_ = nullptr;
      const Entry* end_ = nullptr;
    };
    explicit Entries(const std::vector<Entry>& all) : all_(all) {}
    [[nodiscard]] Iterator begin() const { return {all_.data(), all_.data() + all_.size()}; }
    [[nodiscard]] Iterator end() const {
      return {all_.data() + all_.size(), all_.data() + all_.size()};
    }

   private:
    const std::vector<Entry>& all_;
  };
  [[nodiscard]] const Value* find(Name name) const {
    const std::size_t i = may_have(name) ? index_of(name) : kNone;
    if (i != kNone) return &entries_[i].value;
    return late_ == nullptr ? nullptr : find_late(name);
  }
  [[nodiscard]] Value* find(Name name) {
    const std::size_t i = may_have(name) ? index_of(name) : kNone;
    if (i != kNone) return &entries_[i].value;
    return late_ == nullptr ? nullptr : find_late(name);
  }
  /// The new value is in place before the old one is dropped.
  void set(Name name, Value value);
  /// Behind what is there now stand members that are made when they are asked for, `count` at most.
  /// Requires: `late` lives until clear() or complete(), and none of its names is there yet.
  void set_late(LateMembers& late, std::size_t count);
  /// Puts all late members in their place. One that was made or set meanwhile keeps its value.
  void complete(std::vector<Entry> members);
  /// The removed value, empty when there was none; the caller drops it. Cost: constant, over many.
  Value remove(Name name);
  [[nodiscard]] Entries entries() const {
    if (late_ != nullptr) make_late();
    return Entries(entries_);
  }
  /// A copy, for whoever sets or removes some meanwhile.
  [[nodiscard]] std::vector<Entry> listed() const { return {entries().begin(), entries().end()}; }
  [[nodiscard]] std::size_t size() const {
    if (late_ != nullptr) make_late();
    return entries_.size() - removed_;
  }
  /// Drops all, in order.
  void clear(Heap& heap);
  void traverse(Visitor& visitor) const;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr Name kRemoved{~std::uint32_t{0}};  // the name of an entry that is gone
  static std::uint64_t bit(Name name) {
    return std::uint64_t{1} << (static_cast<std::uint32_t>(name) % 64);
  }
  [[nodiscard]] bool may_have(Name name) const { return (ever_ & bit(name)) != 0; }
  [[nodiscard]] std::size_t index_of(Name name) const;
  void rebuild();
  [[nodiscard]] Value* find_late(Name name) const;
  void make_late() const;
  LateMembers* late_ = nullptr;  // null: none are left to make
  std::size_t before_late_ = 0;  // entries that stand before the late ones
  std::uint64_t ever_ = 0;       // bits of all names ever set: most searches end here
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // entry index + 1, open addressing; empty for up to 8 entries
  std::size_t removed_ = 0;           // entries that are gone; none where there are no slots
};

/// Members that a map has from its start and that are made when they are asked for.
class LateMembers {
 public:
  virtual ~LateMembers() = default;
  /// Sets the member in the map and returns it there; null: there is none of that name.
  virtual Value* make(Name name) = 0;
  /// Calls the map's complete() with all members, in order.
  virtual void make_all() = 0;
};

/// Makes the object that a call of a class initialises: Python's __new__. `type` is the class
/// called, which may be a user's subclass of the one that this belongs to.
using Allocate = Ref<Instance> (*)(Interp& interp, Ref<ClassObject> type);
/// What a call of a class gives, in place of Allocate and __init__ (int, list, torch.Size,
/// torch.device). A class with it cannot be inherited from, unless it has Allocate too.
using Construct = std::function<Value(Interp& interp, ClassObject& type, CallArgs& args)>;

/// A class, the user's or a host's.
class ClassObject final : public Tracked {
 public:
  /// Requires: `mro` starts with bases' merged order, without this class itself, which is put
  /// first.
  ClassObject(Heap& heap, Name name, std::string module, std::vector<Ref<ClassObject>> bases,
              const std::vector<ClassObject*>& mro_of_bases);
  ~ClassObject() override;
  static bool is(const Object& o) { return o.kind() == Kind::kClass; }
  void traverse(Visitor& visitor) const override;
  void clear() override;

  [[nodiscard]] Name name() const { return name_; }
  /// "torch.nn.modules.linear", "__main__", "builtins".
  [[nodiscard]] const std::string& module() const { return module_; }
  [[nodiscard]] const std::vector<Ref<ClassObject>>& bases() const { return bases_; }
  /// This class first, object last.
  [[nodiscard]] const std::vector<ClassObject*>& mro() const { return mro_; }
  [[nodiscard]] bool derives_from(const ClassObject& other) const;
  /// The classes that name this one among their bases and still live, in the order in which they
  /// were made. None of a class that is not written in code.
  [[nodiscard]] const std::vector<ClassObject*>& subclasses() const { return subclasses_; }
  /// The first of the mro that is not written in code: what the objects are made of.
  [[nodiscard]] const ClassObject& builtin_base() const;
  /// Along the mro; nullptr when no class has it. `*owner`, if asked for, is the class that does.
  [[nodiscard]] const Value* lookup(Name name, ClassObject** owner = nullptr) const;
  /// The same, in the classes after `after` (what super() searches).
  [[nodiscard]] const Value* lookup_after(const ClassObject& after, Name name) const;

  AttrMap attrs;
  Allocate allocate = nullptr;  ///< inherited from the first base that has one
  Construct construct;          ///< not inherited
  Ref<ClassObject> metaclass;   ///< inherited; null: `type`
  /// Called with a new subclass after its body has run; may be null. Inherited.
  void (*on_subclass)(Interp& interp, ClassObject& subclass) = nullptr;
  std::string qualname;  ///< "Outer.Inner"; for messages
  /// Attribute names in the order in which the class's instances first got them. CPython's
  /// instances share this order, and drop their attributes in it.
  std::vector<Name> instance_order;
  bool user_defined = false;
  bool final = false;  ///< inheriting from it is an error

 private:
  void leave_bases();

  Name name_;
  std::string module_;
  std::vector<Ref<ClassObject>> bases_;
  std::vector<ClassObject*> mro_;
  std::vector<ClassObject*> subclasses_;  ///< each takes itself out when it goes
};

/// Sets an attribute of an object of the class, whose order of attributes it may join.
void set_in_order(AttrMap& attrs, ClassObject& type, Name name, Value value);
/// Drops an object's attributes in the order of its class's.
void drop_in_order(Heap& heap, AttrMap& attrs, const ClassObject& type);

/// An object with a class and attributes. What Python's operators do with it are the virtual
/// functions; their defaults call the class's __dunder__ methods, be they Python code or host
/// functions. A host type derives from HostObject (host.h) and overrides those that are hot or
/// different.
///
/// Conventions: a returned Empty means "not there" or "not implemented", and the interpreter raises
/// Python's error or tries the other operand. An error of the host's own is raised by
/// Interp::raise.
class Instance : public Tracked {
 public:
  Instance(Heap& heap, Ref<ClassObject> type)
      : Instance(heap, std::move(type), Kind::kInstance, 0) {}
  ~Instance() override;
  static bool is(const Object& o) {
    return o.kind() == Kind::kInstance || o.kind() == Kind::kHost || o.kind() == Kind::kException;
  }
  void traverse(Visitor& visitor) const override;
  void clear() override;

  [[nodiscard]] ClassObject& type() const { return *type_; }
  /// x.__class__ = type. Requires: objects of both classes are made alike.
  void set_type(Ref<ClassObject> type) { type_ = std::move(type); }
  /// Reading and removing; set_own adds.
  [[nodiscard]] AttrMap& attrs() { return attrs_; }
  [[nodiscard]] const AttrMap& attrs() const { return attrs_; }
  /// Sets an attribute of the object itself.
  void set_own(Name name, Value value);

  /// The whole of `x.name`. Default: Interp::generic_get_attr (class data descriptors, own
  /// attributes, the class, get_missing_attr, the user's __getattr__).
  virtual Value get_attr(Interp& interp, Name name);
  /// What the generic look-up asks last (nn.Module: its parameters, buffers and submodules).
  virtual Value get_missing_attr(Interp& interp, Name name);
  /// The whole of `x.name = value`. Default: the user's __setattr__, else store_attr.
  virtual void set_attr(Interp& interp, Name name, Value value);
  /// What object.__setattr__ does: properties, then own attributes. nn.Module overrides it to
  /// register.
  virtual void store_attr(Interp& interp, Name name, Value value);
  /// False: no such attribute.
  virtual bool del_attr(Interp& interp, Name name);
  virtual Value call(Interp& interp, CallArgs& args);

  virtual Value unary(Interp& interp, UnaryOp op);
  /// `reflected`: this object is the right operand.
  virtual Value binary(Interp& interp, BinaryOp op, const Value& other, bool reflected);
  /// `x += other`: the value that x is bound to, Empty to fall back to binary.
  virtual Value inplace(Interp& interp, BinaryOp op, const Value& other);
  virtual Value compare(Interp& interp, CompareOp op, const Value& other);

  virtual Value get_item(Interp& interp, const Value& key);
  /// False: not supported (both).
  virtual bool set_item(Interp& interp, const Value& key, const Value& value);
  virtual bool del_item(Interp& interp, const Value& key);
  virtual std::optional<std::int64_t> length(Interp& interp);
  /// An iterator; Empty: not iterable.
  virtual Value iterate(Interp& interp);
  virtual std::optional<bool> contains(Interp& interp, const Value& item);
  virtual bool truth(Interp& interp);
  /// std::nullopt: not hashable. Default: by identity, or __hash__.
  virtual std::optional<std::uint64_t> hash(Interp& interp);
  virtual std::string repr(Interp& interp);
  virtual std::string str(Interp& interp);
  /// format(x, spec). Default: str() for an empty spec, else Python's TypeError.
  virtual std::string format(Interp& interp, std::string_view spec);
  /// copy.deepcopy. Default: a new instance of the same class with deep copies of the attributes.
  virtual Value deep_copy(Interp& interp, DeepCopies& copies);

 protected:
  Instance(Heap& heap, Ref<ClassObject> type, Kind kind, std::uint16_t host_kind);

 private:
  Ref<ClassObject> type_;
  AttrMap attrs_;
};

/// An object of a user's subclass of str, int or float (the members of most enumerations): the
/// plain value it is, beside class and attributes. Operators that its class does not define in code
/// are the plain value's.
class BuiltinValue final : public Instance {
 public:
  BuiltinValue(Heap& heap, Ref<ClassObject> type, Value plain_value)
      : Instance(heap, std::move(type), Kind::kInstance, kHostKind),
        plain(std::move(plain_value)) {}
  static bool is(const Object& o) {
    return o.kind() == Kind::kInstance && o.host_kind() == kHostKind;
  }

  Value unary(Interp& interp, UnaryOp op) override;
  Value binary(Interp& interp, BinaryOp op, const Value& other, bool reflected) override;
  Value compare(Interp& interp, CompareOp op, const Value& other) override;
  Value get_item(Interp& interp, const Value& key) override;
  std::optional<std::int64_t> length(Interp& interp) override;
  Value iterate(Interp& interp) override;
  std::optional<bool> contains(Interp& interp, const Value& item) override;
  bool truth(Interp& interp) override;
  std::optional<std::uint64_t> hash(Interp& interp) override;
  std::string repr(Interp& interp) override;
  std::string str(Interp& interp) override;
  std::string format(Interp& interp, std::string_view spec) override;
  Value deep_copy(Interp& interp, DeepCopies& copies) override;

  const Value plain;

 private:
  static constexpr std::uint16_t kHostKind = 0xFFFF;  // no other floor's
  [[nodiscard]] bool in_code(Name method) const;
};

/// The plain str, int or float that an object of a user's subclass is; anything else as it is.
inline const Value& plain_of(const Value& value) {
  const auto* object = value.as<BuiltinValue>();
  return object == nullptr ? value : object->plain;
}

/// Whether a user's class may define in code what operators do with a built-in container, or with a
/// class (by its metaclass); Interp::ask_code asks it.
inline bool has_code(const Value& value) {
  if (!value.is_object()) return false;
  const Object& object = *value.object();
  if (Container::is(object)) return static_cast<const Container&>(object).of_user_class();
  return object.kind() == Kind::kClass && static_cast<const ClassObject&>(object).metaclass;
}

}  // namespace tidemark::lang
