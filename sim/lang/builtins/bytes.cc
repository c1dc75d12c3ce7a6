#include <fmt/format.h>

#include "sim/lang/builtins/library.h"
#include "sim/lang/syntax/literal_calls.h"

/// bytes: literals can be named, compared and decoded; what makes others is refused. So are
/// integers beyond 64 bits.
namespace tidemark::lang {

namespace {

/// The text of a bytes object; nullptr: it is none.
const std::string* text_of(Interp& in, const Value& value) {
  const auto* object = value.as<Instance>();
  const Value* text = object == nullptr ? nullptr : object->attrs().find(in.intern("_text"));
  const Str* found = text == nullptr ? nullptr : text->as<Str>();
  return found == nullptr ? nullptr : &found->text();
}

const std::string& own_text(Interp& in, Arguments& args) {
  const std::string* text = text_of(in, args[0]);
  if (text == nullptr) in.type_error("expected a bytes object");
  return *text;
}

Ref<ClassObject> refused_class(Interp& in, std::string_view name) {
  const Ref<ClassObject> type = in.make_class(name, "builtins");
  type->construct = [](Interp& interp, ClassObject& own, CallArgs&) -> Value {
    interp.refuse(fmt::format("{}() is not supported in model code", interp.text(own.name())));
  };
  type->final = true;
  in.set_builtin(type->name(), type);
  return type;
}

}  // namespace

void add_bytes(Interp& in) {
  refused_class(in, "bytearray");
  refused_class(in, "memoryview");
  const Ref<ClassObject> type = refused_class(in, "bytes");
  define(in, *type, "__len__(self, /)", [](Interp& interp, Arguments& args) {
    return Value::integer(static_cast<std::int64_t>(own_text(interp, args).size()));
  });
  define(in, *type, "__eq__(self, value, /)", [](Interp& interp, Arguments& args) {
    const std::string* other = text_of(interp, args[1]);
    return Value::boolean(other != nullptr && *other == own_text(interp, args));
  });
  define(in, *type, "__hash__(self, /)", [](Interp& interp, Arguments& args) {
    return Value::integer(
        static_cast<std::int64_t>(interp.hash(interp.str(own_text(interp, args))) >> 2U));
  });
  define(in, *type, "__repr__(self, /)", [](Interp& interp, Arguments& args) {
    return interp.str("b" + interp.repr(interp.str(own_text(interp, args))));
  });
  define(in, *type, "decode(self, encoding='utf-8', errors='strict')",
         [](Interp& interp, Arguments& args) { return interp.str(own_text(interp, args)); });
  in.set_builtin(in.intern(kBytes),
                 in.raw_function(kBytes, [type](Interp& interp, CallArgs& args) -> Value {
                   const Ref<Instance> made = make_ref<Instance>(interp.heap(), type);
                   made->set_own(interp.intern("_text"), args.values[0]);
                   return made;
                 }));
  in.set_builtin(in.intern(kLargeInteger),
                 in.raw_function(kLargeInteger, [](Interp& interp, CallArgs& args) -> Value {
                   interp.refuse(fmt::format("the number {} does not fit 64 bits",
                                             args.values[0].as<Str>()->text()));
                 }));
}

}  // namespace tidemark::lang
