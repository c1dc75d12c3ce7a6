#include "sim/torch/tensors/op_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "sim/base/check.h"
#include "sim/lang/runtime/complex.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/torch/tensors/host_values.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::CallArgs;
using lang::Value;
using ops::Argument;

namespace {

/// NumPy's words for parameters, which torch takes too. Source: torch's
/// numpy_compatibility_arg_names.
struct Spelling {
  std::string_view torch;
  std::string_view numpy;
};
constexpr Spelling kNumpySpellings[] = {{"dim", "axis"}, {"keepdim", "keepdims"}, {"input", "x"},
                                        {"input", "a"},  {"input", "x1"},         {"other", "x2"}};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool has_word(std::string_view words, std::string_view word) {
  std::size_t at = 0;
  while (at < words.size()) {
    std::size_t end = words.find(' ', at);
    if (end == std::string_view::npos) end = words.size();
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

/// The comma-separated parts of a signature, brackets respected.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (const auto part = trimmed(text.substr(begin, i - begin)); !part.empty())
        parts.push_back(part);
      begin = i + 1;
    } else if (text[i] == '[' || text[i] == '(') {
      ++depth;
    } else if (text[i] == ']' || text[i] == ')') {
      --depth;
    }
  }
  return parts;
}

/// A whole number, or a tensor of the host that holds one which is known.
std::optional<std::int64_t> whole_number(const Value& given) {
  const Value& value = lang::plain_of(given);
  if (value.is_integral()) return value.as_int();
  const auto* object = value.as<TensorObject>();
  if (object == nullptr || object->tensor.numel() != 1 || object->tensor.is_cuda() ||
      ops::is_differentiable(object->tensor.dtype()))
    return std::nullopt;
  const auto known = known_values(object->tensor);
  if (!known) return std::nullopt;
  return static_cast<std::int64_t>(known->front());
}

/// Integers of a list or tuple; false when something else is in it.
bool integers_of(const Value& value, ops::Dims& out) {
  const std::vector<Value>* items = nullptr;
  if (const auto* tuple = value.as<lang::Tuple>()) items = &tuple->items;
  if (const auto* list = value.as<lang::List>()) items = &list->items;
  if (items == nullptr) return false;
  for (const Value& item : *items) {
    const std::optional<std::int64_t> number = whole_number(item);
    if (!number) return false;
    out.push_back(*number);
  }
  return true;
}

}  // namespace

ops::Argument BoundOp::parse_default(std::string_view text) {
  if (text == "None") return ops::None{};
  if (text == "True") return true;
  if (text == "False") return false;
  if (text.starts_with('\'')) return std::string(text.substr(1, text.size() - 2));
  if (text.starts_with('[') || text.starts_with('(')) {
    ops::Dims dims;
    for (const std::string_view part : parts_of(text.substr(1, text.size() - 2))) {
      std::int64_t number = 0;
      std::from_chars(part.data(), part.data() + part.size(), number);
      dims.push_back(number);
    }
    return dims;
  }
  if (text.find_first_of(".e") != std::string_view::npos || text == "inf" || text == "-inf") {
    return std::stod(std::string(text));
  }
  std::int64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  TIDEMARK_CHECK(result.ec == std::errc(), "default value " + std::string(text));
  return number;
}

BoundOp::Parameter BoundOp::parse_parameter(std::string_view text) const {
  Parameter parameter;
  std::size_t space = text.find(' ');
  TIDEMARK_CHECK(space != std::string_view::npos, "parameter " + std::string(text));
  std::string_view type = text.substr(0, space);
  std::string_view rest = trimmed(text.substr(space));
  if (type.ends_with('?')) {
    parameter.optional = true;
    type.remove_suffix(1);
  }
  static const std::pair<std::string_view, Type> kTypes[] = {{"Tensor", Type::kTensor},
                                                             {"Tensor[]", Type::kTensorList},
                                                             {"operand", Type::kOperand},
                                                             {"number", Type::kNumber},
                                                             {"int", Type::kInt},
                                                             {"float", Type::kFloat},
                                                             {"bool", Type::kBool},
                                                             {"str", Type::kText},
                                                             {"dtype", Type::kDType},
                                                             {"device", Type::kDevice},
                                                             {"memory_format", Type::kMemoryFormat},
                                                             {"float[]", Type::kFloats},
                                                             {"any", Type::kAny}};
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const auto& entry) { return entry.first == type; });
  if (found != std::end(kTypes)) {
    parameter.type = found->second;
  } else {
    TIDEMARK_CHECK(type.starts_with("int["), "type " + std::string(type));
    parameter.type = Type::kInts;
  }
  if (rest.starts_with('*')) {
    parameter.rest = true;
    rest.remove_prefix(1);
  }
  const std::size_t equals = rest.find('=');
  const std::string_view name = trimmed(rest.substr(0, equals));
  parameter.name = session_.interp.intern(name);
  for (const Spelling& other : kNumpySpellings) {
    if (other.torch == name) parameter.spellings.push_back(session_.interp.intern(other.numpy));
  }
  if (equals != std::string_view::npos) {
    Argument fallback = parse_default(trimmed(rest.substr(equals + 1)));
    if (parameter.type == Type::kInts && std::holds_alternative<std::int64_t>(fallback)) {
      fallback = ops::Dims{std::get<std::int64_t>(fallback)};
    }
    parameter.fallback = std::move(fallback);
  }
  return parameter;
}

void BoundOp::parse() {
  host_rule_ = host_rule(name_);
  for (const ops::OpDef* def : defs_) {
    Overload overload{def, {}, false};
    const std::size_t open = def->signature.find('(');
    const std::size_t close = def->signature.rfind(')');
    bool keyword_only = false;
    for (const std::string_view part :
         parts_of(def->signature.substr(open + 1, close - open - 1))) {
      if (part == "*") {
        keyword_only = true;
        continue;
      }
      Parameter parameter = parse_parameter(part);
      parameter.keyword_only = keyword_only;
      overload.takes_tensors =
          overload.takes_tensors || (parameter.rest && parameter.type == Type::kTensorList);
      overload.parameters.push_back(std::move(parameter));
    }
    overloads_.push_back(std::move(overload));
  }
}

/// dtype=bool, int or float: Python's types name torch's widest.
bool BoundOp::python_type(const Value& value, Argument& out) const {
  const lang::BuiltinClasses& classes = session_.interp.classes();
  const auto* type = value.as<lang::ClassObject>();
  if (type == nullptr) return false;
  if (type == classes.boolean.get()) {
    out = ops::ScalarType::kBool;
  } else if (type == classes.integer.get()) {
    out = ops::ScalarType::kInt64;
  } else if (type == classes.real.get()) {
    out = ops::ScalarType::kFloat64;
  } else {
    return false;
  }
  return true;
}

bool BoundOp::convert(const Parameter& parameter, const Value& given, Argument& out) const {
  const Value& value = lang::plain_of(given);  // a member of an enumeration of texts or numbers
  if (value.is_none()) {
    if (!parameter.optional && parameter.type != Type::kAny) return false;
    out = ops::None{};
    return true;
  }
  const TensorObject* tensor = value.as<TensorObject>();
  switch (parameter.type) {
    case Type::kTensor:
      if (tensor == nullptr) return false;
      out = tensor->tensor;
      return true;
    case Type::kOperand:
      if (tensor != nullptr) {
        out = tensor->tensor;
        return true;
      }
      if (value.as<lang::Complex>() != nullptr) {
        out = session_.c.number(ops::ScalarType::kComplex128);
        return true;
      }
      [[fallthrough]];
    case Type::kNumber:
      if (value.is_bool()) {
        out = value.as_bool();
      } else if (value.is_int()) {
        out = value.as_int();
      } else if (value.is_float()) {
        out = value.as_float();
      } else if (tensor != nullptr && tensor->tensor.dim() == 0) {
        out =
            0.0;  // a 0-dim tensor where a number is wanted: its value is not known, and not needed
      } else {
        return false;
      }
      return true;
    case Type::kFloat:
      if (!value.is_number()) return false;
      out = value.number();
      return true;
    case Type::kInt:
      if (!value.is_integral()) return false;
      out = value.as_int();
      return true;
    case Type::kBool:
      if (!value.is_integral()) return false;
      out = value.as_int() != 0;
      return true;
    case Type::kText: {
      const auto* text = value.as<lang::Str>();
      if (text == nullptr) return false;
      out = text->text();
      return true;
    }
    case Type::kTensorList: {
      const std::vector<Value>* items = nullptr;
      if (const auto* tuple = value.as<lang::Tuple>()) items = &tuple->items;
      if (const auto* list = value.as<lang::List>()) items = &list->items;
      if (items == nullptr) return false;
      ops::TensorList list;
      list.reserve(items->size());
      for (const Value& item : *items) {
        const TensorObject* element = item.as<TensorObject>();
        if (element == nullptr) return false;
        list.push_back(element->tensor);
      }
      out = std::move(list);
      return true;
    }
    case Type::kInts: {
      ops::Dims dims;
      if (const std::optional<std::int64_t> number = whole_number(value)) {
        dims.push_back(*number);
      } else if (!integers_of(value, dims)) {
        return false;
      }
      out = dims;
      return true;
    }
    case Type::kFloats: {
      std::vector<double> numbers;
      const std::vector<Value>* items = nullptr;
      if (const auto* tuple = value.as<lang::Tuple>()) items = &tuple->items;
      if (const auto* list = value.as<lang::List>()) items = &list->items;
      if (value.is_number()) {
        numbers.push_back(value.number());
      } else if (items == nullptr) {
        return false;
      } else {
        for (const Value& item : *items) {
          if (!item.is_number()) return false;
          numbers.push_back(item.number());
        }
      }
      out = std::move(numbers);
      return true;
    }
    case Type::kDType: {
      const auto* dtype = value.as<DTypeObject>();
      if (dtype == nullptr) return python_type(value, out);
      out = dtype->dtype;
      return true;
    }
    case Type::kDevice:
      if (value.as<DeviceObject>() == nullptr && value.as<lang::Str>() == nullptr &&
          !value.is_int()) {
        return false;
      }
      out = session_.device_from(value);
      return true;
    case Type::kMemoryFormat: {
      const auto* format = value.as<MemoryFormatObject>();
      if (format == nullptr) return false;
      out = format->format;
      return true;
    }
    case Type::kAny:
      out = ops::None{};
      return true;
  }
  return false;
}

bool BoundOp::bind(const Overload& overload, CallArgs& args, std::vector<Argument>& out,
                   std::string* why) const {
  const auto& parameters = overload.parameters;
  out.resize(parameters.size());
  std::size_t next = 0;
  std::size_t keywords_used = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const Value* given = nullptr;
    if (!parameter.keyword_only && next < args.positional) {
      const Value& value = args.values[next];
      // x.view(2, 3): the numbers from here on are one list.
      // A bool is the next parameter: x.sum(1, True).
      if (parameter.rest && parameter.type == Type::kInts && !value.is_bool() &&
          whole_number(value)) {
        ops::Dims dims;
        while (next < args.positional && !args.values[next].is_bool() &&
               whole_number(args.values[next]))
          dims.push_back(*whole_number(args.values[next++]));
        out[i] = dims;
        continue;
      }
      // torch.einsum(text, a, b): so are the tensors.
      if (parameter.rest && parameter.type == Type::kTensorList &&
          value.as<TensorObject>() != nullptr) {
        ops::TensorList tensors;
        while (next < args.positional && args.values[next].as<TensorObject>() != nullptr) {
          tensors.push_back(args.values[next++].as<TensorObject>()->tensor);
        }
        out[i] = std::move(tensors);
        continue;
      }
      given = &value;
      ++next;
    } else {
      given = args.keyword(parameter.name);
      for (const lang::Name other : parameter.spellings) {
        if (given == nullptr) given = args.keyword(other);
      }
      if (given != nullptr) ++keywords_used;
    }
    if (given == nullptr) {
      if (!parameter.fallback) {
        if (parameter.rest) {
          out[i] = ops::Dims{};
          continue;
        }
        *why = fmt::format("missing argument '{}'", session_.interp.text(parameter.name));
        return false;
      }
      out[i] = *parameter.fallback;
    } else if (!convert(parameter, *given, out[i])) {
      *why = fmt::format("argument '{}' cannot be {}", session_.interp.text(parameter.name),
                         session_.interp.type_name(*given));
      return false;
    }
  }
  if (next < args.positional) {
    *why = fmt::format("takes {} positional arguments but {} were given", next, args.positional);
    return false;
  }
  if (keywords_used < args.keyword_count) {
    for (std::size_t k = 0; k < args.keyword_count; ++k) {
      const bool known = std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& p) {
        return p.name == args.keywords[k] || std::find(p.spellings.begin(), p.spellings.end(),
                                                       args.keywords[k]) != p.spellings.end();
      });
      if (!known) {
        *why = fmt::format("got an unexpected keyword argument '{}'",
                           session_.interp.text(args.keywords[k]));
        return false;
      }
    }
    *why = "an argument was given twice";
    return false;
  }
  return true;
}

Value BoundOp::call_into(CallArgs& args, const Value& out) {
  std::vector<Value> values(args.values, args.values + args.positional);
  std::vector<lang::Name> keywords;
  for (std::size_t k = 0; k < args.keyword_count; ++k) {
    if (session_.interp.text(args.keywords[k]) == "out") continue;
    keywords.push_back(args.keywords[k]);
    values.push_back(args.values[args.positional + k]);
  }
  CallArgs rest{values.data(), args.positional, keywords.data(), keywords.size(), false};
  const auto* target = out.as<TensorObject>();
  if (!out.is_none() && (target == nullptr || !ops::takes_out(name_))) {
    session_.interp.refuse(fmt::format("{}(..., out=...) is not modelled", name_),
                           "assign what it returns");
  }
  std::string why;
  std::vector<Argument> bound;
  for (const Overload& overload : overloads_) {
    if (target == nullptr || !bind(overload, rest, bound, &why)) continue;
    return session_.guarded([&] {
      const ops::Arguments arguments(session_.c, std::move(bound));
      const auto is_operand = [](const Parameter& p) {
        return p.type == Type::kOperand || p.type == Type::kTensor;
      };
      const bool two = overload.parameters.size() > 1 && is_operand(overload.parameters[1]);
      const ops::Tensor other = two && !arguments.is_none(1) ? arguments.operand(1) : ops::Tensor();
      ops::write_into(session_.c, name_, arguments.operand(0), other, target->tensor);
      forget_values(target->tensor);
      return out;
    });
  }
  return call(rest);  // says what does not fit
}

Value BoundOp::call(CallArgs& args) {
  if (overloads_.empty()) parse();
  if (args.keyword_count > 0) {
    if (const Value* out = args.keyword(session_.interp.intern("out")))
      return call_into(args, Value(*out));
  }
  std::string why;
  std::vector<Argument> values;
  for (const Overload& overload : overloads_) {
    if (!bind(overload, args, values, &why)) continue;
    Value result = session_.guarded([&] {
      const std::size_t count = values.size();
      ops::Arguments arguments(session_.c, std::move(values));
      const HostArithmetic arithmetic(host_rule_, arguments, count);
      Value made = to_value(session_, overload.def->run(arguments));
      arithmetic.note(made);
      return made;
    });
    // einsum(text, a, b) is a Python function: what it owns as *args is a tuple, its last is
    // dropped first.
    const bool as_tuple = overload.takes_tensors;
    for (std::size_t i = args.positional; as_tuple && args.movable && i-- > 0;) args.values[i] = {};
    return result;
  }
  std::string message =
      fmt::format("{}() received an invalid combination of arguments: {}; expected", name_, why);
  for (std::size_t i = 0; i < overloads_.size(); ++i) {
    message += fmt::format("{} {}", i == 0 ? "" : " or", overloads_[i].def->signature);
  }
  session_.interp.type_error(std::move(message));
}

namespace {

/// torch.return_types.max and its like, made when first needed.
Ref<lang::ClassObject> named_tuple_class(Session& session, const ops::OpResult& result) {
  Ref<lang::ClassObject>& type = session.return_types[std::string(result.name)];
  if (!type) {
    std::vector<std::string> fields;
    std::string_view rest = result.fields;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      fields.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    type = session.interp.make_named_tuple_class(result.name, "torch.return_types", fields);
  }
  return type;
}

}  // namespace

Value to_value(Session& session, ops::OpResult result) {
  switch (result.kind) {
    case ops::OpResult::Kind::kTensor:
      return session.wrap(std::move(result.tensors.front()));
    case ops::OpResult::Kind::kTuple:
    case ops::OpResult::Kind::kList: {
      std::vector<Value> items;
      items.reserve(result.tensors.size());
      for (ops::Tensor& tensor : result.tensors) items.push_back(session.wrap(std::move(tensor)));
      if (!result.fields.empty()) {
        return make_ref<lang::Tuple>(session.interp.heap(), std::move(items),
                                     named_tuple_class(session, result));
      }
      return result.kind == ops::OpResult::Kind::kTuple ? session.interp.tuple(std::move(items))
                                                        : session.interp.list(std::move(items));
    }
    case ops::OpResult::Kind::kValue:
      break;
  }
  if (const bool* flag = std::get_if<bool>(&result.value)) return Value::boolean(*flag);
  if (const auto* number = std::get_if<std::int64_t>(&result.value)) return Value::integer(*number);
  if (const auto* real = std::get_if<double>(&result.value)) return Value::real(*real);
  if (const auto* text = std::get_if<std::string>(&result.value)) return session.interp.str(*text);
  return Value::none();
}

namespace {

constexpr std::string_view kPlaces[] = {"torch", "F", "method"};

}  // namespace

OpTable::OpTable(Session& session) : session_(session), slots_(8192, 0) {
  entries_.reserve(slots_.size() / 4);
  for (const auto& family : ops::op_families()) {
    for (const ops::OpDef& def : family) {
      const std::string_view name = def.signature.substr(0, def.signature.find('('));
      for (const std::string_view place : kPlaces) {
        if (has_word(def.where, place)) add(place, name, def);
      }
    }
  }
  TIDEMARK_CHECK(entries_.size() * 2 < slots_.size(), "the op table has outgrown its index");
}

std::size_t OpTable::slot_of(std::string_view where, std::string_view name) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = (lang::hash_text(name) + where.size() * 977) & mask;
  while (slots_[slot] != 0 &&
         (entries_[slots_[slot] - 1U].name != name || entries_[slots_[slot] - 1U].where != where))
    slot = (slot + 1) & mask;
  return slot;
}

void OpTable::add(std::string_view where, std::string_view name, const ops::OpDef& def) {
  const std::size_t slot = slot_of(where, name);
  if (slots_[slot] == 0) {
    entries_.push_back({name, where, {}, {}, nullptr});
    slots_[slot] = static_cast<std::uint16_t>(entries_.size());
  }
  entries_[slots_[slot] - 1U].defs.push_back(&def);
}

const Value& OpTable::callable(std::size_t index) {
  Entry& entry = entries_[index];
  if (entry.made.empty()) {
    entry.made =
        session_.interp.raw_function(entry.name, [this, index](lang::Interp&, CallArgs& args) {
          Entry& called = entries_[index];
          if (!called.op) called.op = std::make_unique<BoundOp>(session_, called.name, called.defs);
          return called.op->call(args);
        });
  }
  return entry.made;
}

Value OpTable::find(std::string_view where, std::string_view name) {
  const std::size_t slot = slot_of(where, name);
  return slots_[slot] == 0 ? Value() : callable(slots_[slot] - 1U);
}

std::vector<std::string_view> OpTable::list(std::string_view where) const {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries_) {
    if (entry.where == where) names.push_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void OpTable::fill(lang::ClassObject& tensor_class) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].where == "method")
      tensor_class.attrs.set(session_.interp.intern(entries_[i].name), callable(i));
  }
}

void OpTable::release() {
  for (Entry& entry : entries_) entry.made.reset();
}

}  // namespace tidemark::torch
