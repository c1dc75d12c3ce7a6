#include <fmt/format.h>

#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/frame.h"
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
  // The value of an annotation where a function or class stands.
  define(in, module, "evaluate_in(owner, text)", [](Interp& interp, Arguments& args) {
    Ref<Module> scene;
    if (const auto* function = args[0].as<Function>()) {
      scene = function->globals;
    } else if (const auto* type = args[0].as<ClassObject>()) {
      scene = interp.importer().import(type->module()).ref<Module>();
    } else {
      scene = args[0].ref<Module>();
    }
    if (!scene) interp.type_error("annotations stand in functions, classes and modules");
    // A class within the class is seen by its own name.
    std::string names;
    std::vector<Value> inner;
    if (const auto* type = args[0].as<ClassObject>()) {
      for (const AttrMap::Entry& entry : type->attrs.entries()) {
        if (entry.value.as<ClassObject>() == nullptr) continue;
        const std::string_view name = interp.text(entry.name);
        if (name.starts_with('_') || args.text(1).find(name) == std::string_view::npos) continue;
        names += (names.empty() ? "" : ", ") + std::string(name);
        inner.push_back(entry.value);
      }
    }
    if (!inner.empty()) {
      const Value asked = interp.evaluate(
          *scene, std::make_shared<const SourceText>(SourceText{
                      "<annotation>", fmt::format("lambda {}: {}", names, args.text(1))}));
      return interp.call(asked, inner);
    }
    return interp.evaluate(
        *scene, std::make_shared<const SourceText>(SourceText{"<annotation>", args.text(1)}));
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
