#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/runtime/exceptions.h"

/// Classes of named tuples.
namespace tidemark::lang {

namespace {

/// What the last fields of a named tuple's class are by default.
void set_field_defaults(Interp& in, ClassObject& type, std::vector<Value> defaults) {
  const std::vector<std::string> fields = in.named_tuple_fields(type);
  const Ref<Dict> by_name = in.dict();
  const std::size_t first = fields.size() - defaults.size();
  for (std::size_t i = 0; i < defaults.size(); ++i)
    by_name->table.set(in, in.str(fields[first + i]), defaults[i]);
  type.attrs.set(in.intern("_field_defaults"), by_name);
  type.attrs.set(in.intern("_defaults"), in.tuple(std::move(defaults)));
}

}  // namespace

std::vector<std::string> Interp::named_tuple_fields(const ClassObject& type) {
  const Value* fields = type.lookup(intern("_fields"));
  const Tuple* names = fields == nullptr ? nullptr : fields->as<Tuple>();
  std::vector<std::string> out;
  for (std::size_t i = 0; names != nullptr && i < names->items.size(); ++i) {
    const Str* name = names->items[i].as<Str>();
    if (name == nullptr) names = nullptr;
    if (name != nullptr) out.push_back(name->text());
  }
  if (names == nullptr) {
    type_error(
        fmt::format("_fields of the named tuple '{}' must be a tuple of texts", text(type.name())));
  }
  return out;
}

Ref<ClassObject> Interp::make_named_tuple_class(std::string_view name, std::string module,
                                                const std::vector<std::string>& fields,
                                                std::vector<Value> defaults) {
  Ref<ClassObject> type = make_class(name, std::move(module), {classes_->tuple});
  std::vector<Value> names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Name field = intern(fields[i]);
    names.push_back(str(fields[i]));
    const Value getter = make_ref<Builtin>(heap(), field, [i](Interp& in, CallArgs& args) {
      const Tuple* tuple = args.positional == 0 ? nullptr : args.values[0].as<Tuple>();
      if (tuple == nullptr || i >= tuple->items.size())
        in.type_error("a field of a named tuple needs one that has it");
      return tuple->items[i];
    });
    type->attrs.set(field, make_ref<Property>(heap(), getter, Value::none(), Value::none()));
  }
  type->attrs.set(intern("__match_args__"), tuple(names));
  type->attrs.set(intern("_fields"), tuple(std::move(names)));
  const auto construct = [](Interp& in, ClassObject& own, CallArgs& args) -> Value {
    const std::vector<std::string> all = in.named_tuple_fields(own);
    if (args.positional > all.size()) {
      in.type_error(fmt::format("{}.__new__() takes {} positional arguments but {} were given",
                                in.text(own.name()), all.size() + 1, args.positional + 1));
    }
    std::vector<Value> items(args.values, args.values + args.positional);
    items.resize(all.size());
    for (std::size_t i = 0; i < args.keyword_count; ++i) {
      std::size_t at = 0;
      while (at < all.size() && all[at] != in.text(args.keywords[i])) ++at;
      if (at == all.size()) {
        in.type_error(fmt::format("{}.__new__() got an unexpected keyword argument '{}'",
                                  in.text(own.name()), in.text(args.keywords[i])));
      }
      items[at] = args.values[args.positional + i];
    }
    const Value* given = own.lookup(in.intern("_defaults"));
    const Tuple* kept = given == nullptr ? nullptr : given->as<Tuple>();
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!items[i].empty()) continue;
      const std::size_t from_end = items.size() - i;
      if (kept != nullptr && kept->items.size() >= from_end) {
        const std::vector<Value>& values = kept->items;
        items[i] = values[values.size() - from_end];
      } else {
        in.type_error(fmt::format("{}.__new__() missing 1 required positional argument: '{}'",
                                  in.text(own.name()), all[i]));
      }
    }
    return make_ref<Tuple>(in.heap(), std::move(items), Ref<ClassObject>(&own));
  };
  type->construct = construct;
  const Value make = raw_function("__new__", [construct](Interp& in, CallArgs& args) {
    auto* own = args.positional == 0 ? nullptr : args.values[0].as<ClassObject>();
    if (own == nullptr) in.type_error("__new__(X): X is not a type object");
    CallArgs rest{args.values + 1, args.positional - 1, args.keywords, args.keyword_count, false};
    return construct(in, *own, rest);
  });
  make.as<Builtin>()->binds_self = false;
  make.as<Builtin>()->owner = type;
  type->attrs.set(known(name::kNew), make);
  const Value from_items =
      function("_make(cls, iterable, /)", [](Interp& in, Arguments& args) -> Value {
        auto& own = args.object<ClassObject>(0, "class");
        const std::size_t wanted = in.named_tuple_fields(own).size();
        std::vector<Value> items = in.unpack(args[1]);
        if (items.size() != wanted) {
          in.type_error(fmt::format("Expected {} arguments, got {}", wanted, items.size()));
        }
        return make_ref<Tuple>(in.heap(), std::move(items), Ref<ClassObject>(&own));
      });
  type->attrs.set(intern("_make"), make_ref<MethodWrapper>(heap(), Kind::kClassMethod, from_items));
  type->attrs.set(intern("_field_defaults"), dict());
  define(*this, *type, "_asdict(self, /)", [](Interp& in, Arguments& args) -> Value {
    const auto& self = args.object<Tuple>(0, "named tuple");
    const std::vector<std::string> all = in.named_tuple_fields(*in.type_of(args[0]));
    const Ref<Dict> dict = in.dict();
    for (std::size_t i = 0; i < std::min(all.size(), self.items.size()); ++i)
      dict->table.set(in, in.str(all[i]), self.items[i]);
    return dict;
  });
  define(*this, *type, "_replace(self, /, **kwargs)", [](Interp& in, Arguments& args) -> Value {
    const auto& self = args.object<Tuple>(0, "named tuple");
    const std::vector<std::string> all = in.named_tuple_fields(*in.type_of(args[0]));
    std::vector<Value> items = self.items;
    for (std::size_t i = 0; i < std::min(all.size(), items.size()); ++i) {
      if (const Value* fresh = args[1].as<Dict>()->table.find(in, in.str(all[i])))
        items[i] = *fresh;
    }
    return make_ref<Tuple>(in.heap(), std::move(items), Ref<ClassObject>(self.type()));
  });
  if (!defaults.empty()) set_field_defaults(*this, *type, std::move(defaults));
  return type;
}

}  // namespace tidemark::lang
