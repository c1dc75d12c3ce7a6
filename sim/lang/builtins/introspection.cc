#include <fmt/format.h>

#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/annotations.h"
#include "sim/lang/runtime/function_body.h"
#include "sim/lang/runtime/importer.h"
#include "sim/lang/syntax/ast.h"

/// What inspect and typing need to know of functions and classes.
namespace tidemark::lang {

namespace {

// As inspect numbers them.
enum ParameterKind : std::int64_t {
  kPositionalOnly,
  kPositionalOrKeyword,
  kVarPositional,
  kKeywordOnly,
  kVarKeyword,
};

Value text_at(Interp& in, const Code& code, Place place) {
  if (place.end == place.begin) return Value::not_implemented();
  return in.str(std::string(view(code.file->text).substr(place.begin, place.end - place.begin)));
}

Value row(Interp& in, Name name, ParameterKind kind, Value fallback, Value annotation) {
  if (fallback.empty()) fallback = Value::not_implemented();
  return in.tuple({in.str(std::string(in.text(name))), Value::integer(kind), std::move(fallback),
                   std::move(annotation)});
}

/// (name, kind, default, annotation's text) of each parameter; NotImplemented where it has none.
Value parameters_of(Interp& in, const Function& function) {
  std::vector<Value> rows;
  const Code& code = *function.code;
  if (code.parameters == nullptr) return in.list({});
  const Parameters& all = *code.parameters;
  const std::size_t required = all.positional.size - function.defaults.size();
  for (std::size_t i = 0; i < all.positional.size; ++i) {
    const Parameter& each = all.positional[i];
    rows.push_back(row(in, each.name->name,
                       i < all.positional_only ? kPositionalOnly : kPositionalOrKeyword,
                       i < required ? Value() : function.defaults[i - required],
                       text_at(in, code, each.annotation)));
  }
  if (all.star != nullptr) {
    rows.push_back(
        row(in, all.star->name, kVarPositional, {}, text_at(in, code, all.star_annotation)));
  }
  for (std::size_t i = 0; i < all.keyword_only.size; ++i) {
    const Parameter& each = all.keyword_only[i];
    rows.push_back(row(in, each.name->name, kKeywordOnly, function.keyword_defaults[i],
                       text_at(in, code, each.annotation)));
  }
  if (all.double_star != nullptr) {
    rows.push_back(row(in, all.double_star->name, kVarKeyword, {},
                       text_at(in, code, all.double_star_annotation)));
  }
  return in.list(std::move(rows));
}

Value parameters_of(Interp& in, Builtin& builtin) {
  std::vector<Value> rows;
  const Signature& signature = builtin.signature(in);
  const auto star = [&] {
    if (signature.star && rows.size() == *signature.star)
      rows.push_back(row(in, in.intern("args"), kVarPositional, {}, Value::not_implemented()));
  };
  for (const Signature::Parameter& each : signature.parameters) {
    star();
    const ParameterKind kind = !each.keyword     ? kPositionalOnly
                               : each.positional ? kPositionalOrKeyword
                                                 : kKeywordOnly;
    Value fallback = each.fallback;
    if (fallback.empty() && each.optional) fallback = Value::none();
    rows.push_back(row(in, each.name, kind, std::move(fallback), Value::not_implemented()));
  }
  star();
  if (signature.double_star)
    rows.push_back(row(in, in.intern("kwargs"), kVarKeyword, {}, Value::not_implemented()));
  return in.list(std::move(rows));
}

/// A name that an annotation may use beside those of its module, and what it is there.
struct Seen {
  std::string_view name;
  Value value;
};

/// A class sees the classes within it by their own names, and so does a method; a function sees
/// what the functions round it had.
std::vector<Seen> seen_beside(Interp& in, const Value& owner, std::string_view text) {
  std::vector<Seen> out;
  const auto add = [&](Name name, const Value& value) {
    const std::string_view word = in.text(name);
    if (!value.empty() && text.find(word) != std::string_view::npos) out.push_back({word, value});
  };
  const auto add_classes_of = [&](const ClassObject& type) {
    for (const AttrMap::Entry& entry : type.attrs.entries()) {
      if (entry.value.as<ClassObject>() != nullptr && !in.text(entry.name).starts_with('_'))
        add(entry.name, entry.value);
    }
  };
  if (const auto* type = owner.as<ClassObject>()) {
    add_classes_of(*type);
  } else if (const auto* function = owner.as<Function>()) {
    if (const Value* kept = function->attrs.find(in.intern(kLocalNames))) {
      for (const ValueTable::Entry& entry : kept->as<Dict>()->table.entries())
        add(in.intern(entry.key.as<Str>()->text()), entry.value);
      return out;
    }
    // A method sees the classes within its class.
    const std::string_view path = in.text(function->qualname);
    const std::size_t dot = path.rfind('.');
    const Value* found = dot == std::string_view::npos || path.find('<') != std::string_view::npos
                             ? nullptr
                             : function->globals->find(in.intern(path.substr(0, path.find('.'))));
    const auto* around = found == nullptr ? nullptr : found->as<ClassObject>();
    if (around != nullptr && path.find('.') == dot) add_classes_of(*around);
    for (std::size_t i = 0; i < function->closure.size(); ++i) {
      if (function->code->frees[i] != known(name::kClass))
        add(function->code->frees[i], function->closure[i]->value);
    }
  }
  return out;
}

Value evaluated_in(Interp& in, const Value& owner, std::string_view text) {
  Ref<Module> scene;
  if (const auto* function = owner.as<Function>()) {
    scene = function->globals;
  } else if (const auto* type = owner.as<ClassObject>()) {
    scene = in.importer().import(type->module()).ref<Module>();
  } else {
    scene = owner.ref<Module>();
  }
  if (!scene) in.type_error("annotations stand in functions, classes and modules");
  const auto evaluate = [&](std::string expression) {
    return in.evaluate(*scene, std::make_shared<const SourceText>(
                                   SourceText{"<annotation>", std::move(expression)}));
  };
  const std::vector<Seen> seen = seen_beside(in, owner, text);
  if (seen.empty()) return evaluate(std::string(text));
  std::string names;
  std::vector<Value> values;
  for (const Seen& each : seen) {
    names += (names.empty() ? "" : ", ") + std::string(each.name);
    values.push_back(each.value);
  }
  return in.call(evaluate(fmt::format("lambda {}: {}", names, text)), std::move(values));
}

}  // namespace

void add_introspection(Interp& in, Module& module) {
  // (parameters, the text of what it gives) of a function; None: nobody knows.
  define(in, module, "parameters(function)", [](Interp& interp, Arguments& args) {
    if (const auto* function = args[0].as<Function>()) {
      return interp.tuple({parameters_of(interp, *function),
                           text_at(interp, *function->code, function->code->returns)});
    }
    if (auto* builtin = args[0].as<Builtin>(); builtin != nullptr && !builtin->raw) {
      return interp.tuple({parameters_of(interp, *builtin), Value::not_implemented()});
    }
    return Value::none();
  });
  // A class's own, those that nobody has looked at as their texts.
  define(in, module, "annotations(cls)", [](Interp& interp, Arguments& args) {
    const auto* type = args[0].as<ClassObject>();
    const Value* own = type == nullptr ? nullptr : type->attrs.find(known(name::kAnnotations));
    return own == nullptr ? Value(interp.dict()) : *own;
  });
  define(in, module, "annotation_of(cls, name)", [](Interp& interp, Arguments& args) {
    Value found =
        annotation_of(interp, args.object<ClassObject>(0, "class"), interp.intern(args.text(1)));
    return found.empty() ? Value::not_implemented() : found;
  });
  // The value of an annotation where a function or class stands.
  define(in, module, "evaluate_in(owner, text)", [](Interp& interp, Arguments& args) {
    return evaluated_in(interp, args[0], args.text(1));
  });
  // What a function's annotation is: a text where its file asks for texts.
  define(in, module, "function_annotation(function, text)", [](Interp& interp, Arguments& args) {
    const auto* function = args[0].as<Function>();
    if (function != nullptr && asks_for_texts(interp, *function->code))
      return written_annotation(interp, std::string(args.text(1)));
    return evaluated_in(interp, args[0], args.text(1));
  });
  // The exception that the innermost running `except` handles; None: there is none.
  define(in, module, "handled()",
         [](Interp& interp, Arguments&) { return Evaluator::handled(interp); });
  define(in, module, "is_generator_function(obj)", [](Interp& interp, Arguments& args) {
    const auto* function = args[0].as<Function>();
    if (function != nullptr) make_body_known(interp, *function->code, *function->globals);
    return Value::boolean(function != nullptr && function->code->generator);
  });
  define(in, module, "is_async_function(obj)", [](Interp&, Arguments& args) {
    const auto* function = args[0].as<Function>();
    return Value::boolean(function != nullptr && function->code->is_async);
  });
  // (file, first line, text) of a function, of what the user or a package has written.
  define(in, module, "source_of(function)", [](Interp& interp, Arguments& args) {
    const auto* function = args[0].as<Function>();
    if (function == nullptr) return Value::none();
    const SourceSpan at =
        interp.span({function->code.get(), function->code->place.begin, function->code->place.end});
    return interp.tuple(
        {interp.str(std::string(view(function->code->file->name))), Value::integer(at.line)});
  });
}

}  // namespace tidemark::lang
