#include <fmt/format.h>

#include <charconv>

#include "sim/base/check.h"
#include "sim/lang/runtime/exceptions.h"
#include "sim/lang/runtime/rank_value.h"

namespace tidemark::lang {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

// The value of a default as the table writes it; Empty for "...".
Value default_value(Heap& heap, std::string_view text) {
  if (text == "None") return Value::none();
  if (text == "True") return Value::boolean(true);
  if (text == "False") return Value::boolean(false);
  if (text == "...") return {};
  if (text == "()") return make_ref<Tuple>(heap);
  if (text == "[]") return make_ref<List>(heap);
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'')) {
    return make_ref<Str>(std::string(text.substr(1, text.size() - 2)));
  }
  const char* last = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto read = std::from_chars(text.data(), last, integer);
      read.ec == std::errc() && read.ptr == last) {
    return Value::integer(integer);
  }
  double real = 0;
  const auto read = std::from_chars(text.data(), last, real);
  TIDEMARK_CHECK(read.ec == std::errc() && read.ptr == last,
                 fmt::format("a default that a signature cannot hold: {}", text));
  return Value::real(real);
}

}  // namespace

std::string_view function_name(std::string_view signature) {
  return signature.substr(0, signature.find('('));
}

Signature Signature::parse(Names& names, Heap& heap, std::string_view text) {
  Signature out;
  out.function = std::string(function_name(text));
  const std::size_t open = text.find('(');
  TIDEMARK_CHECK(open != std::string_view::npos && text.back() == ')',
                 fmt::format("a signature without parentheses: {}", text));
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  bool keyword_only = false;
  while (!trimmed(rest).empty()) {
    std::size_t end = 0;
    for (int depth = 0; end < rest.size(); ++end) {
      if (rest[end] == '(' || rest[end] == '[') ++depth;
      if (rest[end] == ')' || rest[end] == ']') --depth;
      if (rest[end] == ',' && depth == 0) break;
    }
    const std::string_view part = trimmed(rest.substr(0, end));
    rest = end < rest.size() ? rest.substr(end + 1) : std::string_view();
    const std::size_t bound = out.parameters.size() + (out.star ? 1 : 0);
    if (part == "/") {
      for (Parameter& parameter : out.parameters) parameter.keyword = false;
    } else if (part == "*") {
      keyword_only = true;
    } else if (part.starts_with("**")) {
      out.double_star = bound;
    } else if (part.starts_with("*")) {
      out.star = bound;
      keyword_only = true;
    } else {
      Parameter parameter;
      const std::size_t equals = part.find('=');
      parameter.name = names.intern(trimmed(part.substr(0, equals)));
      if (equals != std::string_view::npos) {
        parameter.fallback = default_value(heap, trimmed(part.substr(equals + 1)));
        parameter.optional = parameter.fallback.empty();
      }
      parameter.positional = !keyword_only;
      if (!keyword_only) ++out.positional_count;
      out.parameters.push_back(std::move(parameter));
    }
  }
  return out;
}

const Signature& Builtin::signature(Interp& interp) {
  if (!signature_) {
    signature_ = std::make_unique<const Signature>(
        Signature::parse(interp.names(), interp.heap(), signature_text));
  }
  return *signature_;
}

void Arguments::mismatch(std::size_t i, std::string_view expected) const {
  std::size_t parameter = i;
  std::string_view name = "args";
  if (signature_.star && i >= *signature_.star) parameter = i > *signature_.star ? i - 1 : SIZE_MAX;
  if (parameter < signature_.parameters.size()) {
    name = interp_.text(signature_.parameters[parameter].name);
  }
  interp_.type_error(fmt::format("{}(): argument '{}' (position {}) must be {}, not {}",
                                 signature_.function, name, i + 1, expected,
                                 values_[i].empty() ? "absent" : interp_.type_name(values_[i])));
}

std::int64_t Arguments::integer(std::size_t i) const {
  if (values_[i].is_int()) return values_[i].as_int();
  if (plain_of(values_[i]).is_integral()) return plain_of(values_[i]).as_int();
  if (values_[i].as<Instance>() != nullptr) {
    const Value index = interp_.call_special(values_[i], known(name::kIndex));
    if (index.is_integral()) return index.as_int();
  }
  mismatch(i, "int");
}

double Arguments::real(std::size_t i) const {
  if (plain_of(values_[i]).is_number()) return plain_of(values_[i]).number();
  if (values_[i].as<Instance>() != nullptr) {
    const Value number = interp_.call_special(values_[i], known(name::kFloat));
    if (number.is_number()) return number.number();
  }
  mismatch(i, "float");
}

bool Arguments::boolean(std::size_t i) const { return interp_.truth(values_[i]); }

const std::string& Arguments::text(std::size_t i) const {
  const Str* text = plain_of(pinned(interp_, values_[i])).as<Str>();
  if (text == nullptr) mismatch(i, "str");
  return text->text();
}

std::vector<std::int64_t> Arguments::integers(std::size_t i) const {
  const Value& value = pinned(interp_, values_[i]);
  if (value.is_integral()) return {value.as_int()};
  const std::vector<Value>* items = nullptr;
  if (const Tuple* tuple = value.as<Tuple>()) items = &tuple->items;
  if (const List* list = value.as<List>()) items = &list->items.all();
  if (items == nullptr) mismatch(i, "int or tuple of ints");
  std::vector<std::int64_t> out;
  for (const Value& item : *items) {
    const Value& number = pinned(interp_, item);
    if (!number.is_integral()) mismatch(i, "tuple of ints");
    out.push_back(number.as_int());
  }
  return out;
}

namespace {

Ref<Builtin> make_row(Interp& interp, const FunctionRow& row) {
  Ref<Builtin> function = make_ref<Builtin>(
      interp.heap(), interp.intern(function_name(row.signature)), row.signature, row.function);
  function->python = row.python;
  return function;
}

}  // namespace

void add_functions(Interp& interp, Module& module, std::span<const FunctionRow> rows) {
  for (const FunctionRow& row : rows) {
    const Ref<Builtin> function = make_row(interp, row);
    module.set(function->name, function);
  }
}

void add_methods(Interp& interp, ClassObject& type, std::span<const FunctionRow> rows) {
  for (const FunctionRow& row : rows) {
    const Ref<Builtin> function = make_row(interp, row);
    type.attrs.set(function->name, function);
  }
}

void add_static_methods(Interp& interp, ClassObject& type, std::span<const FunctionRow> rows) {
  for (const FunctionRow& row : rows) {
    const Ref<Builtin> function = make_row(interp, row);
    function->binds_self = false;
    type.attrs.set(function->name, function);
  }
}

void add_properties(Interp& interp, ClassObject& type, std::span<const PropertyRow> rows) {
  for (const PropertyRow& row : rows) {
    const Name name = interp.intern(row.name);
    const auto get = row.get;
    const auto set = row.set;
    const Value getter = make_ref<Builtin>(
        interp.heap(), name, [get](Interp& in, CallArgs& args) { return get(in, args.values[0]); });
    Value setter = Value::none();
    if (set != nullptr) {
      setter = make_ref<Builtin>(interp.heap(), name, [set](Interp& in, CallArgs& args) {
        set(in, args.values[0], args.values[1]);
        return Value::none();
      });
    }
    type.attrs.set(name, make_ref<Property>(interp.heap(), getter, setter, Value::none()));
  }
}

void define(Interp& interp, std::string_view signature, HostFunction function) {
  interp.set_builtin(interp.intern(function_name(signature)),
                     interp.function(signature, std::move(function)));
}

void define(Interp& interp, Module& module, std::string_view signature, HostFunction function) {
  module.set(interp.intern(function_name(signature)),
             interp.function(signature, std::move(function)));
}

void define(Interp& interp, ClassObject& type, std::string_view signature, HostFunction function) {
  type.attrs.set(interp.intern(function_name(signature)),
                 interp.function(signature, std::move(function)));
}

}  // namespace tidemark::lang
