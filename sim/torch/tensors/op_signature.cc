#include "sim/torch/tensors/op_signature.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "sim/base/check.h"
#include "sim/lang/runtime/complex.h"
#include "sim/lang/runtime/notes.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/ops/parts.h"
#include "sim/ops/values/view.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Value;
using ops::Argument;

namespace {

/// NumPy's words for parameters, which torch takes too. Source: torch's
/// numpy_compatibility_arg_names.
struct Spelling {
  std::string_view torch;
  std::string_view numpy;
};
constexpr Spelling kNumpySpellings[] = {
    {"dim", "axis"}, {"keepdim", "keepdims"}, {"input", "x"},
    {"input", "a"},  {"input", "x1"},         {"other", "x2"},
};

/// The names of types in signatures; whole numbers come as int[] and int[N].
constexpr std::pair<std::string_view, ParameterType> kTypes[] = {
    {"Tensor", ParameterType::kTensor},
    {"Tensor[]", ParameterType::kTensorList},
    {"operand", ParameterType::kOperand},
    {"number", ParameterType::kNumber},
    {"int", ParameterType::kInt},
    {"float", ParameterType::kFloat},
    {"bool", ParameterType::kBool},
    {"str", ParameterType::kText},
    {"dtype", ParameterType::kDType},
    {"device", ParameterType::kDevice},
    {"memory_format", ParameterType::kMemoryFormat},
    {"float[]", ParameterType::kFloats},
    {"sizes[]", ParameterType::kSizes},
    {"parts[]", ParameterType::kParts},
    {"generator", ParameterType::kGenerator},
    {"any", ParameterType::kAny},
    {"place", ParameterType::kPlace},
    {"place[]", ParameterType::kPlaces}};

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
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

Argument parse_default(std::string_view text) {
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

Parameter parse_parameter(lang::Interp& interp, std::string_view text) {
  Parameter parameter;
  std::size_t space = text.find(' ');
  TIDEMARK_CHECK(space != std::string_view::npos, "parameter " + std::string(text));
  std::string_view type = text.substr(0, space);
  std::string_view rest = trimmed(text.substr(space));
  if (type.ends_with('?')) {
    parameter.optional = true;
    type.remove_suffix(1);
  }
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const auto& entry) { return entry.first == type; });
  if (found != std::end(kTypes)) {
    parameter.type = found->second;
  } else {
    TIDEMARK_CHECK(type.starts_with("int["), "type " + std::string(type));
    parameter.type = ParameterType::kInts;
  }
  if (rest.starts_with('*')) {
    parameter.rest = true;
    rest.remove_prefix(1);
  }
  const std::size_t equals = rest.find('=');
  const std::string_view name = trimmed(rest.substr(0, equals));
  parameter.name = interp.intern(name);
  for (const Spelling& other : kNumpySpellings) {
    if (other.torch == name) parameter.spellings.push_back(interp.intern(other.numpy));
  }
  if (equals != std::string_view::npos) {
    Argument fallback = parse_default(trimmed(rest.substr(equals + 1)));
    if (parameter.type == ParameterType::kInts && std::holds_alternative<std::int64_t>(fallback)) {
      fallback = ops::Dims{std::get<std::int64_t>(fallback)};
    }
    parameter.fallback = std::move(fallback);
  }
  return parameter;
}

/// The items of a list or tuple, or nullptr.
const std::vector<Value>* items_of(const Value& value) {
  if (const auto* tuple = value.as<lang::Tuple>()) return &tuple->items;
  if (const auto* list = value.as<lang::List>()) return &list->items.all();
  return nullptr;
}

ops::ScalarType type_of(const lang::Unknown& number) {
  switch (number.kind()) {
    case lang::Unknown::Type::kBool:
      return ops::ScalarType::kBool;
    case lang::Unknown::Type::kInt:
      return ops::ScalarType::kInt64;
    case lang::Unknown::Type::kReal:
      break;
  }
  return ops::ScalarType::kFloat64;
}

/// A number that is not known stands as zero, and the call is marked: its result is not known.
bool to_unknown(Session& session, Argument& out) {
  session.unknown_number = true;
  out = 0.0;
  return true;
}

/// Memory hangs on no place: one that is not known stands as zero.
bool to_unknown_place(Session& session, Argument& out) {
  session.unknown_number = true;
  out = std::int64_t{0};
  return true;
}

bool to_number(Session& session, const Value& value, Argument& out) {
  if (value.as<lang::Unknown>() != nullptr) return to_unknown(session, out);
  if (value.is_bool()) {
    out = value.as_bool();
  } else if (value.is_int()) {
    out = value.as_int();
  } else if (value.is_float()) {
    out = value.as_float();
  } else if (const auto* tensor = value.as<TensorObject>();
             tensor != nullptr && tensor->tensor.dim() == 0) {
    const auto known = session.c.look_at(tensor->tensor);
    if (!known) return to_unknown(session, out);
    if (known->is_whole()) {
      out = known->whole.front();
    } else {
      out = known->real.front();
    }
  } else {
    return false;
  }
  return true;
}

bool to_operand(Session& session, const Value& value, Argument& out) {
  if (const auto* tensor = value.as<TensorObject>()) {
    out = tensor->tensor;
    return true;
  }
  if (const auto* unknown = value.as<lang::Unknown>()) {
    session.unknown_number = true;
    out = session.c.number(type_of(*unknown));  // a tensor of which nothing is known
    return true;
  }
  if (value.as<lang::Complex>() == nullptr) return to_number(session, value, out);
  out = session.c.number(ops::ScalarType::kComplex128);
  return true;
}

/// The number of a tensor without dimensions, where a float is asked for.
bool to_real(Session& session, const Value& value, Argument& out) {
  Argument number;
  if (!to_number(session, value, number)) return false;
  out = std::visit(
      [](const auto& held) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(held)>>) {
          return static_cast<double>(held);
        } else {
          return 0.0;
        }
      },
      number);
  return true;
}

bool to_tensors(const Value& value, Argument& out) {
  const std::vector<Value>* const items = items_of(value);
  if (items == nullptr) return false;
  ops::TensorList list;
  list.reserve(items->size());
  for (const Value& item : *items) {
    const auto* element = item.as<TensorObject>();
    if (element == nullptr) return false;
    list.push_back(element->tensor);
  }
  out = std::move(list);
  return true;
}

/// `are_places`: what is not known among them stands as zero.
bool to_ints(Session& session, const Value& value, Argument& out, Integers integers,
             bool are_places = false) {
  ops::Dims dims;
  const auto stands_as_zero = [&](const Value& item) {
    return are_places && lang::plain_of(item).as<lang::Unknown>() != nullptr;
  };
  if (stands_as_zero(value)) {
    to_unknown_place(session, out);
    out = ops::Dims{0};
    return true;
  }
  if (const std::optional<std::int64_t> number = whole_number(session, value, integers)) {
    dims.push_back(*number);
  } else {
    const std::vector<Value>* const items = items_of(value);
    if (items == nullptr) return false;
    for (const Value& item : *items) {
      const bool is_unknown = stands_as_zero(item);
      if (is_unknown) session.unknown_number = true;
      const std::optional<std::int64_t> each =
          is_unknown ? 0 : whole_number(session, item, integers);
      if (!each) return false;
      dims.push_back(*each);
    }
  }
  out = dims;
  return true;
}

/// `are_parts`: what adds up to a known size; those of it that nobody knows are equal shares.
bool to_sizes(Session& session, const Value& value, Argument& out, Integers integers,
              bool are_parts) {
  const std::vector<Value>* const items = items_of(value);
  if (items == nullptr) return false;
  std::vector<std::int64_t> sizes;
  for (const Value& item : *items) {
    const auto* unknown = item.as<lang::Unknown>();
    if (unknown != nullptr && are_parts && lang::Decisions::may_assume_size(session.interp)) {
      sizes.push_back(ops::kEqualShare);
      continue;
    }
    const std::optional<std::int64_t> each = whole_number(session, item, integers);
    if (!each) return false;
    sizes.push_back(*each);
  }
  if (std::ranges::find(sizes, ops::kEqualShare) != sizes.end()) {
    lang::note(session.interp,
               "into what sizes this is split is not known: taken to be equal ones");
  }
  out = std::move(sizes);
  return true;
}

bool to_floats(const Value& value, Argument& out) {
  std::vector<double> numbers;
  if (value.is_number()) {
    numbers.push_back(value.number());
  } else {
    const std::vector<Value>* const items = items_of(value);
    if (items == nullptr) return false;
    for (const Value& item : *items) {
      if (!item.is_number()) return false;
      numbers.push_back(item.number());
    }
  }
  out = std::move(numbers);
  return true;
}

/// One of a device has no number: its draws are not known, and the host's do not go on.
bool to_generator(lang::Interp& interp, const Value& value, Argument& out) {
  const Value number = interp.find_attr(value, interp.intern("_number"));
  if (number.is_int()) out = number.as_int();
  if (number.is_none()) out = ops::None{};
  return number.is_int() || number.is_none();
}

/// dtype=bool, int or float: Python's types name torch's widest.
bool python_type(const lang::Interp& interp, const Value& value, Argument& out) {
  const lang::BuiltinClasses& classes = interp.classes();
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

bool to_dtype(const lang::Interp& interp, const Value& value, Argument& out) {
  const auto* dtype = value.as<DTypeObject>();
  if (dtype == nullptr) return python_type(interp, value, out);
  out = dtype->dtype;
  return true;
}

bool to_device(Session& session, const Value& value, Argument& out) {
  if (value.as<DeviceObject>() == nullptr && value.as<lang::Str>() == nullptr && !value.is_int() &&
      !lang::is_of_rank(value))
    return false;
  out = session.device_from(value);
  return true;
}

}  // namespace

bool Parameter::is_called(lang::Name word) const {
  return name == word || std::find(spellings.begin(), spellings.end(), word) != spellings.end();
}

std::vector<Parameter> parse_parameters(lang::Interp& interp, std::string_view signature) {
  std::vector<Parameter> parameters;
  const std::size_t open = signature.find('(');
  const std::size_t close = signature.rfind(')');
  bool keyword_only = false;
  for (const std::string_view part : parts_of(signature.substr(open + 1, close - open - 1))) {
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    parameters.push_back(parse_parameter(interp, part));
    parameters.back().keyword_only = keyword_only;
  }
  return parameters;
}

std::optional<std::int64_t> whole_number(Session& session, const Value& given, Integers integers) {
  const Value& value = lang::pinned(session.interp, lang::plain_of(given));
  if (value.is_integral()) return value.as_int();
  if (const auto* unknown = value.as<lang::Unknown>();
      unknown != nullptr && unknown->kind() != lang::Unknown::Type::kReal)
    unknown->refuse(session.interp, "a size");
  const auto* object = value.as<TensorObject>();
  if (object == nullptr || object->tensor.numel() != 1 ||
      ops::is_differentiable(object->tensor.dtype()))
    return std::nullopt;
  if (integers == Integers::kRead && object->tensor.dtype() != ops::ScalarType::kBool)
    return session.interp.call_method(value, session.interp.intern("__index__")).as_int();
  if (object->tensor.is_cuda()) return std::nullopt;
  const auto known = session.c.look_at(object->tensor);
  if (!known) return std::nullopt;
  return known->whole.front();
}

bool to_argument(Session& session, const Parameter& parameter, const Value& given, Argument& out,
                 Integers integers) {
  const bool is_device = parameter.type == ParameterType::kDevice;
  const Value& plain = lang::plain_of(given);  // a member of an enumeration of texts or numbers
  const Value& value = is_device ? plain : lang::pinned(session.interp, plain);
  if (value.is_none()) {
    if (!parameter.optional && parameter.type != ParameterType::kAny) return false;
    out = ops::None{};
    return true;
  }
  switch (parameter.type) {
    case ParameterType::kTensor:
      if (const auto* tensor = value.as<TensorObject>()) {
        out = tensor->tensor;
        return true;
      }
      return false;
    case ParameterType::kOperand:
      return to_operand(session, value, out);
    case ParameterType::kNumber:
      return to_number(session, value, out);
    case ParameterType::kFloat:
      if (value.as<lang::Unknown>() != nullptr) return to_unknown(session, out);
      if (integers == Integers::kRead && value.as<TensorObject>() != nullptr)
        return to_real(session, value, out);
      if (!value.is_number()) return false;
      out = value.number();
      return true;
    case ParameterType::kPlace:
      if (value.as<lang::Unknown>() != nullptr) return to_unknown_place(session, out);
      [[fallthrough]];
    case ParameterType::kInt:
      if (const auto* unknown = value.as<lang::Unknown>())
        unknown->refuse(session.interp, "a size or an index");
      if (integers == Integers::kRead && value.as<TensorObject>() != nullptr) {
        const std::optional<std::int64_t> read = whole_number(session, value, integers);
        if (read) out = *read;
        return read.has_value();
      }
      if (!value.is_integral()) return false;
      out = value.as_int();
      return true;
    case ParameterType::kBool:
      if (value.as<lang::Unknown>() != nullptr) {
        out = session.interp.truth(value);
        return true;
      }
      if (!value.is_integral()) return false;
      out = value.as_int() != 0;
      return true;
    case ParameterType::kText:
      if (const auto* text = value.as<lang::Str>()) {
        out = text->text();
        return true;
      }
      return false;
    case ParameterType::kTensorList:
      return to_tensors(value, out);
    case ParameterType::kInts:
    case ParameterType::kPlaces:
      return to_ints(session, value, out, integers, parameter.type == ParameterType::kPlaces);
    case ParameterType::kFloats:
      return to_floats(value, out);
    case ParameterType::kSizes:
    case ParameterType::kParts:
      return to_sizes(session, value, out, integers, parameter.type == ParameterType::kParts);
    case ParameterType::kDType:
      return to_dtype(session.interp, value, out);
    case ParameterType::kDevice:
      return to_device(session, value, out);
    case ParameterType::kMemoryFormat:
      if (const auto* format = value.as<MemoryFormatObject>()) {
        out = format->format;
        return true;
      }
      return false;
    case ParameterType::kGenerator:
      return to_generator(session.interp, value, out);
    case ParameterType::kAny:
      break;
  }
  out = ops::None{};
  return true;
}

}  // namespace tidemark::torch
