#include "sim/torch/tensors/op_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "sim/base/check.h"
#include "sim/ops/number_range.h"
#include "sim/ops/out_ops.h"
#include "sim/ops/pointwise_ops.h"
#include "sim/torch/tensors/call_scope.h"
#include "sim/torch/tensors/dtensor_plans.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::CallArgs;
using lang::Value;
using ops::Argument;

namespace {

/// x.view(2, 3): the numbers from `next` on are one list; torch.einsum(text, a, b): so are the
/// tensors. Returns false where a list is not what is given.
bool take_rest(Session& session, const Parameter& parameter, const CallArgs& args,
               std::size_t& next, Argument& out, Integers integers) {
  if (!parameter.rest) return false;
  const auto count_while = [&](const auto& fits) {
    std::size_t end = next;
    while (end < args.positional && fits(args.values[end])) ++end;
    return end;
  };
  if (parameter.type == ParameterType::kInts) {
    // A bool is the next parameter: x.sum(1, True).
    ops::Dims dims;
    while (next < args.positional && !args.values[next].is_bool()) {
      const auto number = whole_number(session, args.values[next], integers);
      if (!number) break;
      dims.push_back(*number);
      ++next;
    }
    if (dims.empty()) return false;
    out = dims;
    return true;
  }
  if (parameter.type != ParameterType::kTensorList) return false;
  const std::size_t end =
      count_while([](const Value& value) { return value.as<TensorObject>() != nullptr; });
  if (end == next) return false;
  ops::TensorList tensors;
  for (; next < end; ++next) tensors.push_back(args.values[next].as<TensorObject>()->tensor);
  out = std::move(tensors);
  return true;
}

/// Requires: not every keyword was used.
std::string what_is_wrong_with_keywords(const lang::Interp& interp,
                                        const std::vector<Parameter>& parameters,
                                        const CallArgs& args) {
  for (std::size_t k = 0; k < args.keyword_count; ++k) {
    const lang::Name keyword = args.keywords[k];
    const bool is_known =
        std::any_of(parameters.begin(), parameters.end(),
                    [keyword](const Parameter& parameter) { return parameter.is_called(keyword); });
    if (!is_known)
      return fmt::format("got an unexpected keyword argument '{}'", interp.text(keyword));
  }
  return "an argument was given twice";
}

}  // namespace

void BoundOp::parse() {
  rule_ = ops::value_rule(name_);
  written_ = ops::written_numbers(name_);
  for (const ops::OpDef* def : defs_) {
    Overload overload{def, parse_parameters(session_.interp, def->signature), false, SIZE_MAX};
    for (std::size_t i = 0; i < overload.parameters.size(); ++i) {
      if (overload.parameters[i].type == ParameterType::kGenerator) overload.generator_at = i;
    }
    overload.takes_tensors = std::any_of(
        overload.parameters.begin(), overload.parameters.end(),
        [](const Parameter& p) { return p.rest && p.type == ParameterType::kTensorList; });
    const lang::Name out = session_.interp.intern("out");
    has_out_ = has_out_ || std::any_of(overload.parameters.begin(), overload.parameters.end(),
                                       [out](const Parameter& p) { return p.is_called(out); });
    overloads_.push_back(std::move(overload));
  }
}

bool BoundOp::bind(const Overload& overload, CallArgs& args, std::vector<Argument>& out,
                   std::string* why, Integers integers) const {
  const auto& parameters = overload.parameters;
  out.resize(parameters.size());
  std::size_t next = 0;
  std::size_t keywords_used = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const Value* given = nullptr;
    if (!parameter.keyword_only && next < args.positional) {
      if (take_rest(session_, parameter, args, next, out[i], integers)) continue;
      given = &args.values[next++];
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
        if (why != nullptr)
          *why = fmt::format("missing argument '{}'", session_.interp.text(parameter.name));
        return false;
      }
      out[i] = *parameter.fallback;
    } else if (!to_argument(session_, parameter, *given, out[i], integers)) {
      if (why != nullptr) {
        *why = fmt::format("argument '{}' cannot be {}", session_.interp.text(parameter.name),
                           session_.interp.type_name(*given));
      }
      return false;
    }
  }
  if (next < args.positional) {
    if (why != nullptr)
      *why = fmt::format("takes {} positional arguments but {} were given", next, args.positional);
    return false;
  }
  if (keywords_used < args.keyword_count) {
    if (why != nullptr) *why = what_is_wrong_with_keywords(session_.interp, parameters, args);
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
  using Joins =
      ops::Tensor (*)(ops::Context&, const ops::TensorList&, std::int64_t, const ops::Tensor&);
  const Joins joins = name_ == "stack" ? &ops::stack_into
                      : name_ == "cat" || name_ == "concat" || name_ == "concatenate"
                          ? &ops::cat_into
                          : nullptr;
  if (!out.is_none() && (target == nullptr || (joins == nullptr && !ops::takes_out(name_)))) {
    session_.interp.refuse(fmt::format("{}(..., out=...) is not modelled", name_),
                           "assign what it returns");
  }
  std::vector<Argument> bound;
  for (const Overload& overload : overloads_) {
    const auto fits = [&] { return bind(overload, rest, bound, nullptr); };
    if (target == nullptr || !session_.guarded(fits)) continue;
    return session_.guarded([&] {
      const ops::Arguments arguments(session_.c, std::move(bound));
      if (joins != nullptr) {
        joins(session_.c, arguments.tensors(0), arguments.integer(1), target->tensor);
        return out;
      }
      const auto is_operand = [](const Parameter& p) {
        return p.type == ParameterType::kOperand || p.type == ParameterType::kTensor;
      };
      const bool two = overload.parameters.size() > 1 && is_operand(overload.parameters[1]);
      const ops::Tensor other = two && !arguments.is_none(1) ? arguments.operand(1) : ops::Tensor();
      ops::write_into(session_.c, name_, arguments.operand(0), other, target->tensor);
      return out;
    });
  }
  return call(rest, Value::none());  // says what does not fit
}

namespace {

bool is_spread(const Value& value) {
  const auto* object = value.as<TensorObject>();
  return object != nullptr && object->tensor->spread;
}

bool holds_spread(const lang::Interp& interp, const Value& value) {
  if (is_spread(value)) return true;
  const auto* list = value.as<lang::List>();
  const auto* tuple = value.as<lang::Tuple>();
  if (list == nullptr && tuple == nullptr) return false;
  const std::vector<Value>& items = list != nullptr ? list->items.all() : tuple->items;
  return std::any_of(items.begin(), items.end(), [&](const Value& item) {
    return is_spread(item) || (item.as<TensorObject>() == nullptr && holds_spread(interp, item));
  });
}

/// Operators that look at memory without reading it.
bool only_looks(std::string_view name) {
  static constexpr std::array<std::string_view, 24> kNames{
      "as_strided",      "chunk",   "contiguous", "detach", "expand",    "flatten", "movedim",
      "narrow",          "permute", "reshape",    "select", "split",     "squeeze", "swapaxes",
      "swapdims",        "t",       "transpose",  "unbind", "unflatten", "unfold",  "unsqueeze",
      "untyped_storage", "view",    "view_as"};
  return std::binary_search(kNames.begin(), kNames.end(), name);
}

/// The sizes of reshape(x, 2, -1) and reshape(x, (2, -1)). Empty: they are not plain numbers.
ops::Dims wanted_sizes(const CallArgs& args) {
  ops::Dims sizes;
  const auto add = [&sizes](const Value& value) {
    if (!value.is_int()) return false;
    sizes.push_back(value.as_int());
    return true;
  };
  if (args.positional == 2) {
    const auto* list = args.values[1].as<lang::List>();
    const auto* tuple = args.values[1].as<lang::Tuple>();
    if (list != nullptr || tuple != nullptr) {
      const std::vector<Value>& items = list != nullptr ? list->items.all() : tuple->items;
      return std::all_of(items.begin(), items.end(), add) ? sizes : ops::Dims();
    }
  }
  return std::all_of(args.values + 1, args.values + args.positional, add) ? sizes : ops::Dims();
}

/// An operator that looks where it can has to copy what is not laid out for it.
bool has_to_copy(std::string_view name, const CallArgs& args) {
  if (name != "reshape" && name != "flatten" && name != "contiguous") return false;
  const auto* object = args.positional > 0 ? args.values[0].as<TensorObject>() : nullptr;
  if (object == nullptr || object->tensor.is_contiguous()) return false;
  const ops::Tensor& x = object->tensor;
  if (name == "contiguous") return true;
  ops::Dims sizes = wanted_sizes(args);
  if (name == "flatten") {
    const auto dim = [&](std::size_t i, std::int64_t otherwise) {
      const std::int64_t given = i < sizes.size() ? sizes[i] : otherwise;
      return static_cast<std::size_t>(std::clamp<std::int64_t>(
          given < 0 ? given + x.dim() : given, 0, std::max<std::int64_t>(x.dim() - 1, 0)));
    };
    const std::size_t first = dim(0, 0);
    const std::size_t last = std::max(dim(1, -1), first);
    sizes = {};
    for (std::size_t i = 0; i < x.sizes().size(); ++i) {
      if (i > first && i <= last)
        sizes.back() *= x.sizes()[i];
      else
        sizes.push_back(x.sizes()[i]);
    }
  }
  if (sizes.empty()) return true;
  return !ops::view_strides(x.sizes(), x.strides(), ops::infer_size(sizes, x.numel()));
}

/// Waits for the collectives under way that write what a call reads.
void wait_for(Session& session, const Value& value) {
  if (const auto* object = value.as<TensorObject>()) {
    session.wait_for(object->tensor);
    return;
  }
  const auto* list = value.as<lang::List>();
  const auto* tuple = value.as<lang::Tuple>();
  if (list == nullptr && tuple == nullptr) return;
  for (const Value& item : list != nullptr ? list->items.all() : tuple->items)
    wait_for(session, item);
}

}  // namespace

Value keywords_of(lang::Interp& interp, const CallArgs& args) {
  const Ref<lang::Dict> keywords = interp.dict();
  for (std::size_t k = 0; k < args.keyword_count; ++k) {
    keywords->table.set(interp, interp.str(std::string(interp.text(args.keywords[k]))),
                        Value(args.values[args.positional + k]));
  }
  return keywords;
}

Value BoundOp::dispatch(const Value& callable, const CallArgs& args) const {
  if (session_.op_table().asks_subclasses()) [[unlikely]] {
    if (Value made = ask_arguments(callable, args); !made.empty()) return made;
  }
  const DTensorClasses& dtensors = session_.dtensors;
  if (!dtensors.tensor || dtensors.inside > 0) return {};
  const std::size_t count = args.positional + args.keyword_count;
  if (std::none_of(args.values, args.values + count,
                   [&](const Value& v) { return holds_spread(session_.interp, v); }))
    return {};
  if (args.keyword_count == 0) {
    Value known = session_.op_table().dtensor_plans().run(callable, {args.values, args.positional});
    if (!known.empty()) return known;
  }
  lang::Interp& interp = session_.interp;
  // Code that is being compiled is told of what the call takes before that is taken apart.
  std::vector<const ops::Tensor*> tensors;
  for (std::size_t i = 0; session_.c.tracer != nullptr && i < count; ++i) {
    if (const auto* object = args.values[i].as<TensorObject>()) tensors.push_back(&object->tensor);
  }
  const CallScope traced(session_.c.tracer, "DTensor", tensors);
  return interp.call(dtensors.dispatch, {interp.str(name_), callable,
                                         interp.tuple({args.values, args.values + args.positional}),
                                         keywords_of(interp, args)});
}

namespace {

/// Errors: as the operator's; OpError where it takes no number in place of a tensor.
ops::OpResult run(const ops::OpDef& def, std::string_view name, ops::Arguments& arguments) {
  const CallScope call(name, arguments);
  try {
    return def.run(arguments);
  } catch (const std::bad_variant_access&) {
    throw ops::OpError(std::string(def.signature) + ": an argument is of a type that does not fit");
  }
}

}  // namespace

const BoundOp::Overload* BoundOp::fitting(CallArgs& args, std::vector<Argument>& out,
                                          std::string* why) {
  for (const Integers integers : {Integers::kPlain, Integers::kRead}) {
    for (const Overload& overload : overloads_) {
      session_.unknown_number = false;
      // Nobody reads why one does not fit where another does.
      const bool is_last = integers == Integers::kRead && &overload == &overloads_.back();
      std::string* const asked = is_last ? why : nullptr;
      if (session_.guarded([&] { return bind(overload, args, out, asked, integers); }))
        return &overload;
    }
  }
  return nullptr;
}

namespace {

bool lies_on_host(const ops::OpResult& made) {
  return !made.tensors.empty() && std::ranges::none_of(made.tensors, [](const ops::Tensor& tensor) {
    return !tensor.defined() || tensor.is_cuda();
  });
}

}  // namespace

Value BoundOp::ask_arguments(const Value& callable, const CallArgs& args) const {
  lang::Interp& interp = session_.interp;
  const lang::Name wanted = interp.intern("__torch_function__");
  std::vector<Value> types;
  const auto look = [&](const Value& value) {
    if (value.as<lang::Instance>() == nullptr) return;
    const Ref<lang::ClassObject> type = interp.type_of(value);
    if (value.as<TensorObject>() != nullptr) {
      const bool is_own = type != session_.tensor_class && type != session_.parameter_class;
      if (!is_own || !session_.op_table().asks_subclasses()) return;
    }
    if (type->lookup(wanted) == nullptr) return;
    // A class before those that it inherits from.
    auto at = types.begin();
    for (; at != types.end(); ++at) {
      if (at->same_as(Value(type))) return;
      if (type->derives_from(*at->as<lang::ClassObject>())) break;
    }
    types.insert(at, Value(type));
  };
  for (std::size_t i = 0; i < args.positional + args.keyword_count; ++i) {
    look(args.values[i]);
    const auto* list = args.values[i].as<lang::List>();
    const auto* tuple = args.values[i].as<lang::Tuple>();
    if (list == nullptr && tuple == nullptr) continue;
    for (const Value& each : list != nullptr ? list->items.all() : tuple->items) look(each);
  }
  for (const Value& type : types) {
    Value made = interp.call(
        interp.get_attr(type, wanted),
        {callable, interp.tuple(types), interp.tuple({args.values, args.values + args.positional}),
         keywords_of(interp, args)});
    if (!made.same_as(Value::not_implemented())) return made;
  }
  return {};
}

Value BoundOp::call(CallArgs& args, const Value& callable) {
  if (overloads_.empty()) parse();
  if (!session_.unwaited.empty() && (!only_looks(name_) || has_to_copy(name_, args))) {
    for (std::size_t i = 0; i < args.positional + args.keyword_count; ++i)
      wait_for(session_, args.values[i]);
  }
  if (args.keyword_count > 0 && !has_out_) {
    for (std::size_t k = 0; k < args.keyword_count; ++k) {
      if (session_.interp.text(args.keywords[k]) == "out")
        return call_into(args, Value(args.values[args.positional + k]));
    }
  }
  if (session_.c.tracer != nullptr && name_ == "add_" && args.positional == 2 &&
      args.keyword_count == 1 && args.values[2].as<TensorObject>() != nullptr) {
    // Compiled code multiplies by an alpha that is a tensor. Source: torch._dynamo's
    // TensorVariable.method_add_; docs/rules/compile.md#14.
    lang::Interp& interp = session_.interp;
    const Value product = interp.call(interp.get_attr(interp.import("torch"), interp.intern("mul")),
                                      {args.values[1], args.values[2]});
    return interp.call(callable, {args.values[0], product});
  }
  std::string why;
  std::vector<Argument> values;
  if (const Overload* const found = fitting(args, values, &why)) {
    const Overload& overload = *found;
    const bool is_known = !std::exchange(session_.unknown_number, false);
    // The size of what these make is the number itself.
    if (!is_known && session_.decisions != nullptr &&
        (name_ == "arange" || name_ == "linspace" || name_ == "logspace"))
      session_.decisions->refuse_number(session_.interp, "a size", {});
    Value result = session_.guarded([&] {
      const std::size_t count = values.size();
      ops::Arguments arguments(session_.c, std::move(values));
      ops::ValueWork work(is_known ? rule_ : nullptr, name_.ends_with('_'), arguments, count);
      const bool was_on_device = std::exchange(is_on_device_, true);  // an error leaves it so
      ops::OpResult made = run(*overload.def, name_, arguments);
      if (written_ != nullptr && is_known && !made.tensors.empty() &&
          !(written_->on_device_only && lies_on_host(made))) {
        for (std::size_t i = written_->first; i <= written_->last && i < count; ++i)
          ops::check_number_fits(arguments.value(i), made.tensors.front().dtype());
      }
      if (!was_on_device) is_on_device_ = !lies_on_host(made);
      const std::size_t from = overload.generator_at;
      const auto* number =
          from < count ? std::get_if<std::int64_t>(&arguments.value(from)) : nullptr;
      // Where everything unknown counts as zero, a device's kernels compute nothing.
      const bool computes = session_.decisions != nullptr || made.tensors.empty() ||
                            !made.tensors.front().defined() || !made.tensors.front().is_cuda();
      if (computes)
        work.note(made, arguments,
                  session_.c.generator(number == nullptr ? 0 : static_cast<std::size_t>(*number)));
      return to_value(session_, std::move(made));
    });
    // einsum(text, a, b) is a Python function: what it owns as *args is a tuple, its last is
    // dropped first.
    const bool as_tuple = overload.takes_tensors;
    for (std::size_t i = args.positional; as_tuple && args.movable && i-- > 0;) args.values[i] = {};
    return result;
  }
  if (Value made = ask_arguments(callable, args); !made.empty()) return made;
  std::string message =
      fmt::format("{}() received an invalid combination of arguments: {}; expected", name_, why);
  for (std::size_t i = 0; i < overloads_.size(); ++i) {
    message += fmt::format("{} {}", i == 0 ? "" : " or", overloads_[i].def->signature);
  }
  session_.interp.type_error(std::move(message), hint_of_later(args));
}

std::string BoundOp::hint_of_later(const CallArgs& args) const {
  const Version release = session_.wheel.pytorch;
  for (const ops::OpDef* def : OpIndex::later(index_, release)) {
    const auto parameters = parse_parameters(session_.interp, def->signature);
    if (args.positional > parameters.size()) continue;
    for (std::size_t k = 0; k < args.keyword_count; ++k) {
      const auto is_called = [&](const Parameter& p) { return p.is_called(args.keywords[k]); };
      const bool is_new = std::ranges::none_of(overloads_, [&](const Overload& overload) {
        return std::ranges::any_of(overload.parameters, is_called);
      });
      if (is_new && std::ranges::any_of(parameters, is_called)) {
        return fmt::format("'{}' is there since PyTorch {}", session_.interp.text(args.keywords[k]),
                           to_string(def->releases.from));
      }
    }
  }
  return {};
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

}  // namespace tidemark::torch
