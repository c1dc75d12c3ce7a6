#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/runtime/annotations.h"
#include "sim/lang/runtime/docstring.h"
#include "sim/lang/runtime/importer.h"

/// Classes.
namespace tidemark::lang {

std::vector<ClassObject*> merge_bases(Interp& in, const std::vector<Ref<ClassObject>>& bases) {
  if (bases.size() == 1) return bases[0]->mro();
  std::vector<std::vector<ClassObject*>> lists;
  lists.reserve(bases.size() + 1);
  for (const Ref<ClassObject>& base : bases) lists.push_back(base->mro());
  lists.emplace_back();
  for (const Ref<ClassObject>& base : bases) lists.back().push_back(base.get());
  std::vector<ClassObject*> out;
  while (true) {
    std::erase_if(lists, [](const auto& list) { return list.empty(); });
    if (lists.empty()) return out;
    ClassObject* next = nullptr;
    for (const auto& list : lists) {
      const bool in_a_tail = std::any_of(lists.begin(), lists.end(), [&](const auto& other) {
        return std::find(other.begin() + 1, other.end(), list[0]) != other.end();
      });
      if (!in_a_tail) {
        next = list[0];
        break;
      }
    }
    if (next == nullptr) {
      std::string names;
      for (const Ref<ClassObject>& base : bases) {
        names += (names.empty() ? "" : ", ") + std::string(in.text(base->name()));
      }
      in.type_error(fmt::format(
          "Cannot create a consistent method resolution order (MRO) for bases {}", names));
    }
    out.push_back(next);
    for (auto& list : lists) {
      if (list[0] == next) list.erase(list.begin());
    }
  }
}

Ref<ClassObject> Interp::make_class(std::string_view name, std::string module,
                                    std::vector<Ref<ClassObject>> bases, Allocate allocate) {
  if (bases.empty() && classes_->object) bases.push_back(classes_->object);
  const std::vector<ClassObject*> order = merge_bases(*this, bases);
  Ref<ClassObject> type =
      make_ref<ClassObject>(heap(), intern(name), std::move(module), std::move(bases), order);
  type->qualname = std::string(name);
  if (allocate != nullptr) type->allocate = allocate;
  return type;
}

Ref<ClassObject> Interp::make_exception_class(std::string_view name, std::string module,
                                              Ref<ClassObject> base) {
  return make_class(name, std::move(module), {std::move(base)});
}

namespace {

/// class Point(NamedTuple): its annotations are the fields, what they are given the defaults.
Ref<ClassObject> named_tuple_of(Interp& in, Name name, std::string module, AttrMap& attributes) {
  std::vector<std::string> fields;
  std::vector<Value> defaults;
  const Value* annotated = attributes.find(known(name::kAnnotations));
  if (const Dict* named = annotated == nullptr ? nullptr : annotated->as<Dict>()) {
    for (const auto& entry : named->table.entries()) {
      if (entry.key.as<Str>() == nullptr) continue;
      fields.push_back(entry.key.as<Str>()->text());
      if (const Value* given = attributes.find(in.intern(fields.back()))) {
        defaults.push_back(*given);
      } else if (!defaults.empty()) {
        in.type_error(fmt::format("non-default namedtuple field {} cannot follow default field",
                                  fields.back()));
      }
    }
  }
  Ref<ClassObject> type =
      in.make_named_tuple_class(in.text(name), std::move(module), fields, std::move(defaults));
  for (const AttrMap::Entry& entry : attributes.entries()) {
    const auto text = in.text(entry.name);
    if (std::find(fields.begin(), fields.end(), text) == fields.end())
      type->attrs.set(entry.name, entry.value);
  }
  own_annotations(*type);
  return type;
}

}  // namespace

namespace {

/// The bases as classes. Errors: TypeError and refusals for what cannot be one.
std::vector<Ref<ClassObject>> base_classes(Interp& in, const std::vector<Value>& bases) {
  std::vector<Ref<ClassObject>> types;
  for (const Value& base : bases) {
    Ref<ClassObject> type = base.ref<ClassObject>();
    if (!type) {
      in.type_error(fmt::format("cannot inherit from {}", in.repr(base)), "a base must be a class");
    }
    if (type->final) {
      in.type_error(fmt::format("type '{}' is not an acceptable base type", in.text(type->name())));
    }
    if (std::find(types.begin(), types.end(), type) != types.end()) {
      in.type_error(fmt::format("duplicate base class {}", in.text(type->name())));
    }
    types.push_back(std::move(type));
  }
  if (types.empty()) types.push_back(in.classes().object);
  return types;
}

/// Whether only C++ makes objects of the class.
bool is_closed(Interp& in, const ClassObject& type) {
  return type.construct && type.allocate == nullptr && &type != in.classes().object.get() &&
         type.attrs.find(known(name::kNew)) == nullptr &&
         type.attrs.find(in.intern("(construct)")) == nullptr;
}

/// An object whose class defines __del__, which runs before the program's next step. At the
/// program's end nothing is torn down.
class Finalized final : public Instance {
 public:
  Finalized(Interp& in, Ref<ClassObject> type) : Instance(in.heap(), std::move(type)), in_(in) {}
  Finalized(const Finalized&) = delete;
  Finalized& operator=(const Finalized&) = delete;
  ~Finalized() override {
    if (in_.is_ending()) return;
    const Ref<Instance> stands_for = make_ref<Instance>(in_.heap(), Ref<ClassObject>(&type()));
    for (const AttrMap::Entry& entry : attrs().entries())
      stands_for->set_own(entry.name, entry.value);
    in_.finalize_soon(stands_for);
  }

 private:
  Interp& in_;
};

Ref<Instance> make_finalized(Interp& in, Ref<ClassObject> type) {
  return make_ref<Finalized>(in, std::move(type));
}

/// A class with such a base may be defined and named, as libraries do with much that nobody uses.
void close_subclass(Interp& in, ClassObject& type) {
  if (type.lookup(known(name::kDel)) != nullptr) {
    const bool is_plain = type.allocate == nullptr && !type.construct;
    if (is_plain || type.allocate == make_finalized) {
      type.allocate = make_finalized;
      return;
    }
    // A host's object that runs __del__ when it goes.
    if (type.lookup(in.intern("(finalizes)")) != nullptr) return;
    type.construct = [](Interp& interp, ClassObject& own, CallArgs&) -> Value {
      interp.refuse(
          fmt::format("'{}' defines __del__, which is not supported", interp.text(own.name())));
    };
    return;
  }
  for (const Ref<ClassObject>& base : type.bases()) {
    if (!is_closed(in, *base)) continue;
    type.construct = [raw = base.get()](Interp& interp, ClassObject&, CallArgs&) -> Value {
      interp.refuse(fmt::format("inheriting from '{}' is not supported", interp.text(raw->name())),
                    "hold one in an attribute");
    };
    return;
  }
}

/// An object is made of one built-in type, or of one of a host's.
void check_layout(Interp& in, const ClassObject& type) {
  const ClassObject* made_of = nullptr;
  for (const ClassObject* base : type.mro()) {
    const bool makes = !base->user_defined && base != in.classes().object.get() &&
                       base->attrs.find(known(name::kNew)) != nullptr;
    if (!makes) continue;
    if (made_of == nullptr) made_of = base;
    if (!made_of->derives_from(*base))
      in.type_error("multiple bases have instance lay-out conflict");
  }
  if (made_of == nullptr || made_of->allocate != nullptr || type.allocate == nullptr) return;
  in.refuse(fmt::format("inheriting from '{}' and from a class of another kind is not supported",
                        in.text(made_of->name())),
            "hold one in an attribute");
}

/// Methods that belong to the class, not to an instance, without saying so.
void mark_class_methods(Interp& in, AttrMap& attributes) {
  if (Value* make = attributes.find(known(name::kNew));
      make != nullptr && make->as<Function>() != nullptr) {
    *make = make_ref<MethodWrapper>(in.heap(), Kind::kStaticMethod, *make);
  }
  for (const std::string_view implicit : {"__init_subclass__", "__class_getitem__"}) {
    if (Value* method = attributes.find(in.intern(implicit));
        method != nullptr && method->as<Function>() != nullptr) {
      *method = make_ref<MethodWrapper>(in.heap(), Kind::kClassMethod, *method);
    }
  }
}

/// The metaclass that derives from all the others; null: `type`. Errors: TypeError: there is none.
Ref<ClassObject> common_metaclass(Interp& in, Ref<ClassObject> given,
                                  const std::vector<Value>& bases) {
  if (given == in.classes().type) given.reset();
  for (const Value& base : bases) {
    const auto* type = base.as<ClassObject>();
    if (type == nullptr || !type->metaclass) continue;
    if (!given || type->metaclass->derives_from(*given)) {
      given = type->metaclass;
    } else if (!given->derives_from(*type->metaclass)) {
      in.type_error(
          "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of "
          "the metaclasses of all its bases");
    }
  }
  return given;
}

}  // namespace

namespace {

/// An object of a class that answers for every attribute itself, by its __getattribute__.
class Intercepted final : public Instance {
 public:
  using Instance::Instance;
  Value get_attr(Interp& interp, Name name) override {
    const Value function = *type().lookup(interp.intern("__getattribute__"));
    const Value self = Ref<Instance>(this);
    try {
      return interp.call(function, {self, interp.text_value(name)});
    } catch (const Raised& raised) {
      if (!raised.exception->type().derives_from(*interp.classes().attribute_error)) throw;
      ClassObject* owner = nullptr;
      const Value* fallback = type().lookup(known(name::kGetattr), &owner);
      if (fallback == nullptr || !owner->user_defined) throw;
    }
    const Value fallback = *type().lookup(known(name::kGetattr));
    return interp.call(fallback, {self, interp.str(std::string(interp.text(name)))});
  }
};

Ref<Instance> allocate_intercepted(Interp& in, Ref<ClassObject> type) {
  return make_ref<Intercepted>(in.heap(), std::move(type));
}

/// Errors: a refusal where objects of the class are of another kind already.
void intercept_attributes(Interp& in, ClassObject& type) {
  const Name name = in.intern("__getattribute__");
  if (type.attrs.find(name) == nullptr) return;
  // Classes and modules ask for it where their attributes are found.
  if (type.derives_from(*in.classes().type) || type.derives_from(*in.classes().module)) return;
  if (type.allocate != nullptr && type.allocate != allocate_intercepted) {
    in.refuse(fmt::format("defining __getattribute__ in '{}', whose base is made in C++, is not "
                          "supported",
                          in.text(type.name())),
              "__getattr__ answers for names that are not there");
  }
  type.allocate = allocate_intercepted;
}

}  // namespace

Ref<ClassObject> build_class(Interp& in, ClassParts parts) {
  if (parts.bases.size() == 1) {
    const auto* maker = parts.bases[0].as<Instance>();
    if (maker != nullptr && maker->type().lookup(in.intern("__makes_named_tuples__")) != nullptr)
      return named_tuple_of(in, parts.name, std::move(parts.module), parts.attributes);
  }
  std::vector<Ref<ClassObject>> types = base_classes(in, parts.bases);
  mark_class_methods(in, parts.attributes);
  const std::vector<ClassObject*> order = merge_bases(in, types);
  Ref<ClassObject> type = make_ref<ClassObject>(in.heap(), parts.name, std::move(parts.module),
                                                std::move(types), order);
  type->qualname = std::move(parts.qualname);
  type->user_defined = true;
  type->attrs = std::move(parts.attributes);
  if (parts.metaclass) type->metaclass = std::move(parts.metaclass);
  check_layout(in, *type);
  intercept_attributes(in, *type);
  close_subclass(in, *type);
  if (parts.own_cell) parts.own_cell->value = type;
  own_annotations(*type);
  if (type->on_subclass != nullptr) type->on_subclass(in, *type);
  const std::vector<AttrMap::Entry> members = type->attrs.listed();
  for (const AttrMap::Entry& member : members) {
    auto* object = member.value.as<Instance>();
    if (object == nullptr || object->kind() != Kind::kInstance) continue;
    if (object->type().lookup(in.intern("__set_name__")) == nullptr) continue;
    in.call_method(member.value, in.intern("__set_name__"),
                   {Value(type), in.str(std::string(in.text(member.name)))});
  }
  if (const Value* hook = type->lookup_after(*type, known(name::kInitSubclass))) {
    const auto* wrapper = hook->as<MethodWrapper>();
    // object's only looks whether there are keywords.
    if (wrapper != nullptr &&
        (!parts.keywords.empty() || wrapper->function.as<Builtin>() == nullptr)) {
      const Value function = wrapper->function;
      in.call(function, {Value(type)}, std::move(parts.keywords));
    }
  }
  return type;
}

Value make_type(Interp& in, ClassObject& metaclass, CallArgs& args) {
  const auto part = [&](std::size_t i) { return i < args.positional ? args.values[i] : Value(); };
  const Value name = part(0);
  const Value bases = part(1);
  const Value namespace_given = part(2);
  const Str* text = plain_of(name).as<Str>();
  if (text == nullptr || bases.as<Tuple>() == nullptr || namespace_given.as<Dict>() == nullptr)
    in.type_error("type() takes 1 or 3 arguments: a name, a tuple of bases, a dict");
  ClassParts parts;
  parts.name = in.intern(text->text());
  parts.qualname = text->text();
  parts.module = in.current_frame() == nullptr ? std::string() : in.current_frame()->globals->name;
  parts.bases = bases.as<Tuple>()->items;
  parts.metaclass = common_metaclass(in, Ref<ClassObject>(&metaclass), parts.bases);
  parts.keywords.reserve(args.keyword_count);
  for (std::size_t k = 0; k < args.keyword_count; ++k)
    parts.keywords.emplace_back(args.keywords[k], args.values[args.positional + k]);
  // A base's metaclass makes its own classes.
  if (parts.metaclass && !metaclass.derives_from(*parts.metaclass))
    return in.call(parts.metaclass, {name, bases, namespace_given}, std::move(parts.keywords));
  const std::vector<ValueTable::Entry> entries = namespace_given.as<Dict>()->table.entries();
  for (const ValueTable::Entry& entry : entries) {
    const Str* key = entry.key.as<Str>();
    if (key == nullptr) continue;
    if (key->text() == "__qualname__" || key->text() == "__module__") {
      const Str* given = entry.value.as<Str>();
      if (given != nullptr)
        (key->text() == "__module__" ? parts.module : parts.qualname) = given->text();
    } else if (key->text() == "__classcell__") {
      parts.own_cell = entry.value.ref<Cell>();
    } else {
      parts.attributes.set(in.intern(key->text()), entry.value);
    }
  }
  return build_class(in, std::move(parts));
}

namespace {

/// A class statement with a metaclass: a call of it. `names`: what its __prepare__ gave.
Value call_metaclass(Interp& in, const Value& metaclass, const Ref<Dict>& names, ClassParts parts) {
  const auto set = [&](auto key, Value v) { names->table.set(in, in.str(std::string(key)), v); };
  set("__module__", in.str(parts.module));
  set("__qualname__", in.str(parts.qualname));
  for (const AttrMap::Entry& entry : parts.attributes.entries())
    set(in.text(entry.name), entry.value);
  if (parts.own_cell) set("__classcell__", parts.own_cell);
  if (const auto* type = metaclass.as<ClassObject>();
      type == nullptr || !in.importer().is_own(type->module())) {
    // Somebody's code sees the namespace.
    const Value* held = parts.attributes.find(known(name::kAnnotations));
    if (held != nullptr) settle_annotations(in, *held, &parts.attributes);
  }
  const Value name = in.str(std::string(in.text(parts.name)));
  const Value bases = in.tuple(std::move(parts.bases));
  return in.call(metaclass, {name, bases, Value(names)}, std::move(parts.keywords));
}

/// Of bases that are objects, not classes: the most derived of the bases' types, which makes the
/// class. Null: all are classes. Source: CPython's _PyType_CalculateMetaclass. Errors: TypeError.
Ref<ClassObject> type_of_objects(Interp& in, const std::vector<Value>& bases) {
  const auto is_object = [&in](const Value& base) {
    const auto* object = base.as<Instance>();
    return object != nullptr && object->kind() == Kind::kInstance &&
           object->type().lookup(in.intern("__makes_named_tuples__")) == nullptr;
  };
  if (std::none_of(bases.begin(), bases.end(), is_object)) return nullptr;
  Ref<ClassObject> winner;
  for (const Value& base : bases) {
    Ref<ClassObject> type = in.type_of(base);
    if (!winner || type->derives_from(*winner)) {
      winner = std::move(type);
    } else if (!winner->derives_from(*type)) {
      in.type_error(
          "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of "
          "the metaclasses of all its bases");
    }
  }
  return winner;
}

/// What a class statement calls. `named` Empty: none is named. Empty: build_class makes the class.
Value chosen_metaclass(Interp& in, Value named, const std::vector<Value>& bases) {
  if (named.empty()) {
    if (Ref<ClassObject> type = type_of_objects(in, bases)) return type;
  } else if (named.as<ClassObject>() == nullptr) {
    return named;
  }
  Ref<ClassObject> common = common_metaclass(in, named.ref<ClassObject>(), bases);
  return common ? Value(std::move(common)) : Value();
}

/// The namespace that a metaclass's __prepare__ gives. Errors: TypeError; a refusal of a dict that
/// watches what is stored.
Ref<Dict> prepared_names(Interp& in, const Value& metaclass, const Value& name, const Value& bases,
                         std::vector<std::pair<Name, Value>> keywords) {
  const Value prepare = in.find_attr(metaclass, in.intern("__prepare__"));
  if (prepare.empty()) return in.dict();
  const Value given = in.call(prepare, {name, bases}, std::move(keywords));
  Ref<Dict> names = given.ref<Dict>();
  if (!names) {
    in.type_error(fmt::format("{}.__prepare__() must return a mapping, not {}",
                              in.to_str(in.get_attr(metaclass, in.intern("__name__"))),
                              in.type_name(given)));
  }
  if (in.type_of(given)->user_defined)
    in.refuse("a class body in a namespace of a class of its own is not supported",
              "return a plain dict from __prepare__");
  return names;
}

}  // namespace

void Evaluator::class_stmt(const ClassStmt* node) {
  std::vector<Value> decorators;
  for (const Expr* decorator : node->decorators) decorators.push_back(eval(decorator));
  std::vector<Value> bases;
  bases.reserve(node->bases.size);
  std::vector<Value> named;
  for (const Expr* base : node->bases) {
    if (base->kind != ExprKind::kStarred) {
      named.push_back(eval(base));
      continue;
    }
    for (Value& each : in_.unpack(eval(static_cast<const StarredExpr*>(base)->value)))
      named.push_back(std::move(each));
  }
  Value original;  // the bases as they are named, where one stands for others
  for (const Value& value : named) {
    // What is no class says what it stands for: typing.Mapping[str, int].
    const Name entries = in_.intern("__mro_entries__");
    const auto* object = value.as<Instance>();
    if (object == nullptr || object->type().lookup(entries) == nullptr) {
      bases.push_back(value);
      continue;
    }
    if (original.empty()) original = in_.tuple(named);
    for (Value& entry : in_.unpack(in_.call_method(value, entries, {original})))
      bases.push_back(std::move(entry));
  }
  Value metaclass;
  std::vector<std::pair<Name, Value>> keywords;
  keywords.reserve(node->keywords.size);
  for (const Keyword& keyword : node->keywords) {
    Value value = eval(keyword.value);
    if (keyword.spread) {
      const Value given = in_.call(in_.classes().dict, {std::move(value)});
      for (const ValueTable::Entry& entry : given.as<Dict>()->table.entries()) {
        if (entry.key.as<Str>() == nullptr) continue;
        const std::string& text = entry.key.as<Str>()->text();
        if (text == "metaclass") {
          metaclass = entry.value;
        } else {
          keywords.emplace_back(in_.intern(text), entry.value);
        }
      }
    } else if (in_.text(keyword.name) == "metaclass") {
      metaclass = std::move(value);
    } else {
      keywords.emplace_back(keyword.name, std::move(value));
    }
  }
  frame_.at = node->place;
  const Code& code = *node->code;
  AttrMap attributes;
  metaclass = chosen_metaclass(in_, std::move(metaclass), bases);
  Ref<Dict> names;  // null: no metaclass is called
  if (!metaclass.empty()) {
    names = prepared_names(in_, metaclass, in_.str(std::string(in_.text(code.name))),
                           in_.tuple(bases), keywords);
    const std::vector<ValueTable::Entry> entries = names->table.entries();
    for (const ValueTable::Entry& entry : entries) {
      const Str* key = entry.key.as<Str>();
      if (key != nullptr) attributes.set(in_.intern(key->text()), entry.value);
    }
  }
  const std::vector<AttrMap::Entry> before = attributes.listed();
  if (Value text = docstring(in_, code.body); !text.is_none())
    attributes.set(known(name::kDoc), std::move(text));
  std::vector<AnnotatedName> annotations;
  Ref<Cell> own_cell;
  {
    ValueStack::Span slots(*in_.values_, code.slots.size);
    for (const std::uint32_t slot : code.cells) slots[slot] = make_ref<Cell>(in_.heap());
    if (code.own_class_cell >= 0) {
      own_cell = slots[static_cast<std::size_t>(code.own_class_cell)].ref<Cell>();
    }
    const std::vector<Ref<Cell>> closure = captured(code);
    Frame frame;
    frame.code = &code;
    frame.slots = slots.data();
    frame.globals = frame_.globals;
    frame.closure = &closure;
    frame.class_namespace = &attributes;
    frame.annotations = &annotations;
    frame.at = code.place;
    const CallDepth depth(in_, &frame);
    Evaluator body(in_, frame);
    try {
      body.run(code.body);
    } catch (Raised& raised) {
      body.trace(*raised.exception);
      throw;
    }
    if (!annotations.empty())
      attributes.set(known(name::kAnnotations), late_annotations(in_, frame, annotations));
  }
  const Name orig_bases = in_.intern("__orig_bases__");
  if (!original.empty() && attributes.find(orig_bases) == nullptr)
    attributes.set(orig_bases, std::move(original));
  for (const AttrMap::Entry& entry : before) {  // del of a prepared name
    if (attributes.find(entry.name) == nullptr)
      names->table.remove(in_, in_.str(std::string(in_.text(entry.name))));
  }
  ClassParts parts{code.name,
                   std::string(in_.text(code.qualname)),
                   frame_.globals->name,
                   std::move(bases),
                   std::move(attributes),
                   nullptr,
                   std::move(own_cell),
                   std::move(keywords)};
  Value result = names ? call_metaclass(in_, metaclass, names, std::move(parts))
                       : build_class(in_, std::move(parts));
  for (std::size_t i = decorators.size(); i > 0; --i) {
    frame_.at = node->decorators[i - 1]->place;
    result = in_.call(decorators[i - 1], {std::move(result)});
  }
  store(node->target, std::move(result));
}

}  // namespace tidemark::lang
