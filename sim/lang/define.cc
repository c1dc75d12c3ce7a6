#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/frame.h"

/// Classes and imports.
namespace tidemark::lang {

std::vector<ClassObject*> merge_bases(Interp& in, const std::vector<Ref<ClassObject>>& bases) {
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
  if (const Value* annotated = attributes.find(known(name::kAnnotations))) {
    for (const auto& entry : annotated->as<Dict>()->table.entries()) {
      fields.push_back(entry.key.as<Str>()->text());
      if (const Value* given = attributes.find(in.intern(fields.back()))) {
        defaults.push_back(*given);
      } else if (!defaults.empty()) {
        in.type_error(fmt::format("non-default namedtuple field {} cannot follow default field",
                                  fields.back()));
      }
    }
  }
  Ref<ClassObject> type = in.make_named_tuple_class(in.text(name), std::move(module), fields);
  if (!defaults.empty()) type->attrs.set(in.intern("_defaults"), in.tuple(std::move(defaults)));
  for (const AttrMap::Entry& entry : attributes.entries()) {
    const auto text = in.text(entry.name);
    if (std::find(fields.begin(), fields.end(), text) == fields.end())
      type->attrs.set(entry.name, entry.value);
  }
  return type;
}

}  // namespace

Ref<ClassObject> build_class(Interp& in, Name name, std::string qualname, std::string module,
                             const std::vector<Value>& bases, AttrMap attributes) {
  if (bases.size() == 1) {
    const auto* maker = bases[0].as<Instance>();
    if (maker != nullptr && maker->type().lookup(in.intern("__makes_named_tuples__")) != nullptr)
      return named_tuple_of(in, name, std::move(module), attributes);
  }
  std::vector<Ref<ClassObject>> types;
  for (const Value& base : bases) {
    Ref<ClassObject> type = base.ref<ClassObject>();
    if (!type) {
      in.type_error(fmt::format("cannot inherit from {}", in.repr(base)), "a base must be a class");
    }
    if (type->final) {
      in.type_error(fmt::format("type '{}' is not an acceptable base type", in.text(type->name())));
    }
    if (type->construct && type->allocate == nullptr && type != in.classes().object) {
      in.refuse(fmt::format("inheriting from '{}' is not supported", in.text(type->name())),
                "hold one in an attribute");
    }
    if (std::find(types.begin(), types.end(), type) != types.end()) {
      in.type_error(fmt::format("duplicate base class {}", in.text(type->name())));
    }
    types.push_back(std::move(type));
  }
  if (types.empty()) types.push_back(in.classes().object);
  if (attributes.find(known(name::kDel)) != nullptr) {
    in.refuse("defining __del__ is not supported");
  }
  if (attributes.find(in.intern("__getattribute__")) != nullptr) {
    in.refuse("defining __getattribute__ is not supported",
              "__getattr__ answers for names that are not there");
  }
  // __new__ and these two belong to the class, not to an instance, without saying so.
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
  const std::vector<ClassObject*> order = merge_bases(in, types);
  Ref<ClassObject> type =
      make_ref<ClassObject>(in.heap(), name, std::move(module), std::move(types), order);
  type->qualname = std::move(qualname);
  type->user_defined = true;
  type->attrs = std::move(attributes);
  if (type->on_subclass != nullptr) type->on_subclass(in, *type);
  const std::vector<AttrMap::Entry> members = type->attrs.entries();
  for (const AttrMap::Entry& member : members) {
    auto* object = member.value.as<Instance>();
    if (object == nullptr || object->kind() != Kind::kInstance) continue;
    if (object->type().lookup(in.intern("__set_name__")) == nullptr) continue;
    in.call_method(member.value, in.intern("__set_name__"),
                   {Value(type), in.str(std::string(in.text(member.name)))});
  }
  if (const Value* hook = type->lookup_after(*type, known(name::kInitSubclass))) {
    if (const auto* wrapper = hook->as<MethodWrapper>()) {
      const Value function = wrapper->function;
      in.call(function, {Value(type)});
    }
  }
  return type;
}

void Evaluator::class_stmt(const ClassStmt* node) {
  std::vector<Value> decorators;
  for (const Expr* decorator : node->decorators) decorators.push_back(eval(decorator));
  std::vector<Value> bases;
  for (const Expr* base : node->bases) bases.push_back(eval(base));
  frame_.at = node->place;
  const Code& code = *node->code;
  AttrMap attributes;
  std::vector<std::pair<Name, Place>> annotations;
  Ref<Cell> own_cell;
  {
    ValueStack::Span slots(*in_.values_, code.slots.size());
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
  }
  if (!annotations.empty()) {
    Ref<Dict> dict = in_.dict();
    const std::string_view text = code.tree->source->text;
    for (const auto& [annotated, place] : annotations) {
      dict->table.set(in_, in_.str(std::string(in_.text(annotated))),
                      in_.str(std::string(text.substr(place.begin, place.end - place.begin))));
    }
    attributes.set(known(name::kAnnotations), dict);
  }
  const Ref<ClassObject> type = build_class(in_, code.name, code.qualname, frame_.globals->name,
                                            bases, std::move(attributes));
  if (own_cell) own_cell->value = type;
  Value result = type;
  for (std::size_t i = decorators.size(); i > 0; --i) {
    frame_.at = node->decorators[i - 1]->place;
    result = in_.call(decorators[i - 1], {std::move(result)});
  }
  store(node->target, std::move(result));
}

void Evaluator::import_stmt(const ImportStmt* node) {
  for (const ImportedName& name : node->names) {
    frame_.at = name.place;
    Ref<Module> module = in_.import(*name.module);
    if (!name.whole) {
      const std::size_t dot = name.module->find('.');
      if (dot != std::string::npos) module = in_.import(name.module->substr(0, dot));
    }
    store(name.target, module);
  }
}

void Evaluator::import_from_stmt(const ImportFromStmt* node) {
  frame_.at = node->place;
  Ref<Module> module;
  if (!node->module->empty()) module = in_.import(*node->module);
  if (node->star) {
    const std::vector<AttrMap::Entry> entries = module->entries();
    const Value* listed = module->find(known(name::kAll));
    for (const AttrMap::Entry& entry : entries) {
      const std::string_view text = in_.text(entry.name);
      if (entry.value.empty()) continue;
      const bool wanted = listed == nullptr ? !text.starts_with('_')
                                            : in_.contains(*listed, in_.str(std::string(text)));
      if (wanted) frame_.globals->set(entry.name, entry.value);
    }
    return;
  }
  for (const ImportedName& name : node->names) {
    frame_.at = name.place;
    Value found;
    if (!module) {
      found = in_.import(in_.text(name.name));  // from . import sibling
    } else {
      found = in_.find_attr(module, name.name);
    }
    if (found.empty()) {
      std::vector<std::string_view> candidates;
      for (const AttrMap::Entry& entry : module->entries()) {
        if (!entry.value.empty()) candidates.push_back(in_.text(entry.name));
      }
      if (module->list_missing) {
        for (const std::string_view candidate : module->list_missing())
          candidates.push_back(candidate);
      }
      in_.raise(*in_.classes().import_error,
                fmt::format("cannot import name '{}' from '{}'", in_.text(name.name), module->name),
                did_you_mean(in_.text(name.name), candidates));
    }
    store(name.target, std::move(found));
  }
}

}  // namespace tidemark::lang
