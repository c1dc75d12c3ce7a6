#include "sim/torch/tensors/host_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "sim/torch/tensors/op_binding.h"

namespace tidemark::torch {

using lang::Value;
using ops::Argument;
using ops::Arguments;
using ops::Dims;
using ops::numel_of;
using ops::ScalarType;
using ops::Tensor;

namespace {

using Numbers = std::optional<HostNumbers>;

double as_kept(ScalarType type, double value) {
  if (type == ScalarType::kBool) return value != 0 ? 1 : 0;
  if (type == ScalarType::kFloat32) return static_cast<double>(static_cast<float>(value));
  return type == ScalarType::kFloat64 ? value : std::trunc(value);
}

bool is_kept(ScalarType type) {
  return !ops::is_complex(type) &&
         (!ops::is_floating(type) || type == ScalarType::kFloat32 || type == ScalarType::kFloat64);
}

Numbers numbers_of(const Argument& argument) {
  if (const auto* tensor = std::get_if<Tensor>(&argument)) {
    if (tensor->is_cuda()) return std::nullopt;
    std::optional<HostValues> values = known_values(*tensor);
    if (!values) return std::nullopt;
    return HostNumbers{tensor->sizes(), std::move(*values)};
  }
  if (const auto* number = std::get_if<double>(&argument)) return HostNumbers{{}, {*number}};
  if (const auto* number = std::get_if<std::int64_t>(&argument))
    return HostNumbers{{}, {static_cast<double>(*number)}};
  if (const auto* flag = std::get_if<bool>(&argument)) return HostNumbers{{}, {*flag ? 1.0 : 0.0}};
  return std::nullopt;
}

/// Where element `i` of a shape lies among numbers that are broadcast to it.
std::size_t place_in(const Dims& shape, std::int64_t i, const Dims& sizes) {
  std::int64_t at = 0;
  std::int64_t stride = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::size_t from_end = shape.size() - 1 - d;
    const std::int64_t index = i % shape[from_end];
    i /= shape[from_end];
    if (d >= sizes.size()) continue;
    const std::int64_t size = sizes[sizes.size() - 1 - d];
    if (size != 1) at += index * stride;
    stride *= size;
  }
  return static_cast<std::size_t>(at);
}

template <class Function>
Numbers each(const Numbers& a, const Numbers& b, Function function) {
  if (!a || !b) return std::nullopt;
  HostNumbers out{ops::broadcast(a->sizes, b->sizes), {}};
  const std::int64_t count = numel_of(out.sizes);
  if (count > kMostHostValues) return std::nullopt;
  out.values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    out.values.push_back(function(a->values[place_in(out.sizes, i, a->sizes)],
                                  b->values[place_in(out.sizes, i, b->sizes)]));
  }
  return out;
}

using Unary = double (*)(double);
using Binary = double (*)(double, double);
using OwnRule = Numbers (*)(const Arguments& a);

/// add and sub: the second is scaled by alpha first.
template <int kSign>
Numbers sum_of_two(const Arguments& a) {
  const double scale = kSign * a.number(2);
  return each(numbers_of(a.value(0)), numbers_of(a.value(1)),
              [scale](double x, double y) { return x + scale * y; });
}

double floored(double x, double y) { return std::floor(x / y); }
double modulo(double x, double y) { return x - std::floor(x / y) * y; }

Numbers quotient(const Arguments& a) {
  const Numbers x = numbers_of(a.value(0));
  const Numbers y = numbers_of(a.value(1));
  if (a.is_none(2)) return each(x, y, [](double p, double q) { return p / q; });
  if (a.text(2) == "floor") return each(x, y, floored);
  return each(x, y, [](double p, double q) { return std::trunc(p / q); });
}

Numbers rounded(const Arguments& a) {
  Numbers x = numbers_of(a.value(0));
  if (!x) return x;
  const double unit = std::pow(10.0, static_cast<double>(a.integer(1)));
  for (double& value : x->values) value = std::nearbyint(value * unit) / unit;
  return x;
}

Numbers clamped(const Arguments& a) {
  Numbers x = numbers_of(a.value(0));
  if (!a.is_none(1)) {
    x = each(x, numbers_of(a.value(1)), [](double p, double low) { return std::max(p, low); });
  }
  if (!a.is_none(2)) {
    x = each(x, numbers_of(a.value(2)), [](double p, double high) { return std::min(p, high); });
  }
  return x;
}

/// One number of many, along the dimensions that the second argument names, or of everything.
template <Binary kFunction, bool kMean = false>
Numbers folded(const Arguments& a) {
  const Numbers x = numbers_of(a.value(0));
  if (!x || x->values.empty()) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(x->sizes.size());
  Dims dims;
  const bool has_dims = std::holds_alternative<Dims>(a.value(1));
  if (has_dims) dims = a.dims(1);
  const bool has_dim = std::holds_alternative<std::int64_t>(a.value(1));
  if (has_dim) dims = {a.integer(1)};
  const bool keeps = (has_dims || has_dim) && a.flag(2);
  std::vector<bool> goes(x->sizes.size(), dims.empty());
  for (const std::int64_t d : dims) goes[static_cast<std::size_t>(d < 0 ? d + rank : d)] = true;
  HostNumbers out;
  Dims kept;  // the result's sizes with a 1 for each dimension that goes
  for (std::size_t d = 0; d < goes.size(); ++d) {
    kept.push_back(goes[d] ? 1 : x->sizes[d]);
    if (!goes[d] || keeps) out.sizes.push_back(kept.back());
  }
  const auto count = static_cast<std::size_t>(numel_of(kept));
  out.values.assign(count, 0);
  std::vector<bool> begun(count, false);
  for (std::size_t i = 0; i < x->values.size(); ++i) {
    const std::size_t at = place_in(x->sizes, static_cast<std::int64_t>(i), kept);
    out.values[at] = begun[at] ? kFunction(out.values[at], x->values[i]) : x->values[i];
    begun[at] = true;
  }
  if (kMean) {
    const double share = static_cast<double>(x->values.size()) / static_cast<double>(count);
    for (double& value : out.values) value /= share;
  }
  return out;
}

/// max and min have an overload of two tensors; of one along a dimension they give values first.
template <Binary kFunction>
Numbers extreme(const Arguments& a) {
  if (a.is_tensor(1)) return each(numbers_of(a.value(0)), numbers_of(a.value(1)), kFunction);
  return folded<kFunction>(a);
}

template <Binary kFunction>
Numbers scanned(const Arguments& a) {
  Numbers x = numbers_of(a.value(0));
  if (!x || x->sizes.empty()) return x;
  const auto rank = static_cast<std::int64_t>(x->sizes.size());
  std::int64_t dim = a.integer(1);
  if (dim < 0) dim += rank;
  std::int64_t stride = 1;
  for (std::int64_t d = dim + 1; d < rank; ++d) stride *= x->sizes[static_cast<std::size_t>(d)];
  const std::int64_t length = x->sizes[static_cast<std::size_t>(dim)];
  for (std::size_t i = 0; i < x->values.size(); ++i) {
    if (static_cast<std::int64_t>(i) / stride % length == 0) continue;
    x->values[i] = kFunction(x->values[i - static_cast<std::size_t>(stride)], x->values[i]);
  }
  return x;
}

/// cat and stack along the first dimension.
Numbers joined(const Arguments& a) {
  HostNumbers out;
  if (a.integer(1) != 0) return std::nullopt;
  for (const Tensor& tensor : a.tensors(0)) {
    const Numbers part = numbers_of(tensor);
    if (!part) return std::nullopt;
    out.values.insert(out.values.end(), part->values.begin(), part->values.end());
    out.sizes = part->sizes;
  }
  // The shape is the operator's to say; only how many there are must fit.
  out.sizes = {static_cast<std::int64_t>(out.values.size())};
  return out;
}

Numbers filled(const Dims& sizes, double value) {
  const std::int64_t count = numel_of(sizes);
  if (count > kMostHostValues) return std::nullopt;
  return HostNumbers{sizes, HostValues(static_cast<std::size_t>(count), value)};
}

/// From both ends to the middle, eight at a time while there are as many. Source: linspace_kernel
/// of RangeFactoriesKernel.cpp, on AVX2.
template <class Number>
HostValues spaced(Number start, Number end, std::int64_t steps) {
  constexpr std::int64_t kTogether = 32 / static_cast<std::int64_t>(sizeof(Number));
  const Number step = steps > 1 ? (end - start) / static_cast<Number>(steps - 1) : Number{0};
  HostValues out;
  out.reserve(static_cast<std::size_t>(steps));
  const auto at = [&](std::int64_t i) {
    return i < steps / 2 ? start + step * static_cast<Number>(i)
                         : end - step * static_cast<Number>(steps - i - 1);
  };
  for (std::int64_t i = 0; i < steps; ++i) {
    const bool together = i / kTogether * kTogether + kTogether <= steps;
    const Number base = at(together ? i / kTogether * kTogether : i);
    const Number rest = together ? static_cast<Number>(i % kTogether) * step : Number{0};
    out.push_back(static_cast<double>(steps == 1 ? start : base + rest));
  }
  return out;
}

Numbers linspace(const Arguments& a) {
  const std::int64_t steps = a.integer(2);
  const ScalarType type = a.dtype(3).value_or(ScalarType::kFloat32);
  if (steps < 1 || steps > kMostHostValues) return std::nullopt;
  if (type == ScalarType::kFloat32) {
    return HostNumbers{
        {steps}, spaced(static_cast<float>(a.number(0)), static_cast<float>(a.number(1)), steps)};
  }
  return HostNumbers{{steps}, spaced(a.number(0), a.number(1), steps)};
}

Numbers ones(const Arguments& a) { return filled(a.dims(0), 1); }
Numbers ones_like(const Arguments& a) { return filled(a.tensor(0).sizes(), 1); }
Numbers full(const Arguments& a) { return filled(a.dims(0), a.number(1)); }
Numbers full_like(const Arguments& a) { return filled(a.tensor(0).sizes(), a.number(1)); }

double add(double x, double y) { return x + y; }
double multiply(double x, double y) { return x * y; }
double larger(double x, double y) { return std::max(x, y); }
double smaller(double x, double y) { return std::min(x, y); }

}  // namespace

/// How an operator computes known numbers: one at a time, pairs, or in a way of its own.
struct HostRow {
  std::string_view name;
  Unary of_one = nullptr;
  Binary of_two = nullptr;
  OwnRule own = nullptr;
};

namespace {

constexpr HostRow one(std::string_view name, Unary function) { return {name, function}; }
constexpr HostRow two(std::string_view name, Binary function) { return {name, nullptr, function}; }
constexpr HostRow own(std::string_view name, OwnRule function) {
  return {name, nullptr, nullptr, function};
}

/// By name.
constexpr HostRow kRules[] = {
    one("abs", [](double x) { return std::abs(x); }),
    own("add", sum_of_two<1>),
    own("amax", folded<larger>),
    own("amin", folded<smaller>),
    own("cat", joined),
    one("ceil", [](double x) { return std::ceil(x); }),
    own("clamp", clamped),
    one("cos", [](double x) { return std::cos(x); }),
    own("cumprod", scanned<multiply>),
    own("cumsum", scanned<add>),
    own("div", quotient),
    own("divide", quotient),
    two("eq", [](double x, double y) { return x == y ? 1.0 : 0.0; }),
    one("exp", [](double x) { return std::exp(x); }),
    one("exp2", [](double x) { return std::exp2(x); }),
    one("floor", [](double x) { return std::floor(x); }),
    two("floor_divide", floored),
    own("full", full),
    own("full_like", full_like),
    two("ge", [](double x, double y) { return x >= y ? 1.0 : 0.0; }),
    two("gt", [](double x, double y) { return x > y ? 1.0 : 0.0; }),
    two("le", [](double x, double y) { return x <= y ? 1.0 : 0.0; }),
    own("linspace", linspace),
    one("log", [](double x) { return std::log(x); }),
    one("log10", [](double x) { return std::log10(x); }),
    one("log2", [](double x) { return std::log2(x); }),
    two("lt", [](double x, double y) { return x < y ? 1.0 : 0.0; }),
    own("max", extreme<larger>),
    two("maximum", larger),
    own("mean", folded<add, true>),
    own("min", extreme<smaller>),
    two("minimum", smaller),
    two("mul", multiply),
    two("multiply", multiply),
    two("ne", [](double x, double y) { return x != y ? 1.0 : 0.0; }),
    one("neg", [](double x) { return -x; }),
    own("ones", ones),
    own("ones_like", ones_like),
    two("pow", [](double x, double y) { return std::pow(x, y); }),
    own("prod", folded<multiply>),
    one("reciprocal", [](double x) { return 1 / x; }),
    two("remainder", modulo),
    own("round", rounded),
    one("sin", [](double x) { return std::sin(x); }),
    one("sqrt", [](double x) { return std::sqrt(x); }),
    one("square", [](double x) { return x * x; }),
    own("stack", joined),
    own("sub", sum_of_two<-1>),
    own("sum", folded<add>),
    two("true_divide", [](double x, double y) { return x / y; }),
    one("trunc", [](double x) { return std::trunc(x); }),
};

const HostRow* rule_of(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  const auto* found = std::lower_bound(
      std::begin(kRules), std::end(kRules), name,
      [](const HostRow& row, std::string_view wanted) { return row.name < wanted; });
  return found != std::end(kRules) && found->name == name ? found : nullptr;
}

Numbers computed(const HostRow& rule, const Arguments& a) {
  if (rule.own != nullptr) return rule.own(a);
  if (rule.of_two != nullptr)
    return each(numbers_of(a.value(0)), numbers_of(a.value(1)), rule.of_two);
  Numbers x = numbers_of(a.value(0));
  if (x) std::transform(x->values.begin(), x->values.end(), x->values.begin(), rule.of_one);
  return x;
}

TensorObject* object_of(const Tensor& tensor) {
  return tensor.defined() ? static_cast<TensorObject*>(tensor->wrapper) : nullptr;
}

constexpr std::string_view kHeld = "_host_values";

/// What an object holds by place in the storage; null: nothing.
lang::List* held_by(const Tensor& tensor) {
  TensorObject* object = object_of(tensor);
  if (object == nullptr || object->attrs().size() == 0) return nullptr;
  const Value* held = object->attrs().find(object->session().interp.intern(kHeld));
  auto* list = held == nullptr ? nullptr : held->as<lang::List>();
  return list == nullptr || list->items.empty() ? nullptr : list;
}

}  // namespace

double host_value(const Tensor& tensor, std::int64_t index) {
  const lang::List* held = held_by(tensor);
  if (held == nullptr) return ops::known_value(tensor, index);
  const auto at = static_cast<std::size_t>(tensor->offset + index);
  return at < held->items.size() && held->items[at].is_number() ? held->items[at].number() : 0;
}

std::optional<HostValues> known_values(const Tensor& tensor) {
  const std::int64_t count = tensor.numel();
  if (count > kMostHostValues || !tensor->storage) return std::nullopt;
  if (held_by(tensor) == nullptr && !tensor->storage->values()) return std::nullopt;
  HostValues out;
  out.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    std::int64_t at = 0;
    for (std::int64_t d = tensor.dim() - 1; d >= 0; --d) {
      at += rest % tensor.size(d) * tensor.stride(d);
      rest /= tensor.size(d);
    }
    out.push_back(host_value(tensor, at));
  }
  return out;
}

void forget_values(const Tensor& tensor) {
  if (lang::List* held = held_by(tensor)) held->items.clear();
}

void note_values(TensorObject& object, const HostValues& values) {
  const Tensor& tensor = object.tensor;
  forget_values(tensor);
  if (!tensor->storage || !is_kept(tensor.dtype())) return;
  if (tensor->offset != 0 || !tensor.is_contiguous() || tensor.bytes() != tensor->storage->bytes())
    return;
  if (static_cast<std::int64_t>(values.size()) != tensor.numel()) return;
  if (tensor.numel() > kMostHostValues) return;
  std::vector<Value> items;
  items.reserve(values.size());
  for (const double value : values) items.push_back(Value::real(as_kept(tensor.dtype(), value)));
  lang::Interp& interp = object.session().interp;
  const lang::Name name = interp.intern(kHeld);
  // What shares the storage shares the list.
  const Value* before = object.attrs().find(name);
  if (auto* list = before == nullptr ? nullptr : before->as<lang::List>()) {
    list->items.swap(items);
  } else {
    object.set_own(name, interp.list(std::move(items)));
  }
}

void share_values(const Tensor& from, const Value& result) {
  if (const auto* tuple = result.as<lang::Tuple>()) {
    for (const Value& item : tuple->items) share_values(from, item);
    return;
  }
  if (const auto* list = result.as<lang::List>()) {
    for (const Value& item : list->items) share_values(from, item);
    return;
  }
  auto* view = result.as<TensorObject>();
  if (view == nullptr || view->tensor == from || !from->storage) return;
  if (!(view->tensor->storage == from->storage) || held_by(from) == nullptr) return;
  const lang::Name name = view->session().interp.intern(kHeld);
  const Value held = *object_of(from)->attrs().find(name);
  view->set_own(name, held);
}

HostRule host_rule(std::string_view op) {
  return {rule_of(op), op.ends_with('_'), op.ends_with("_like")};
}

HostArithmetic::HostArithmetic(const HostRule& rule, const Arguments& arguments, std::size_t count)
    : writes_(rule.writes) {
  bool computable = rule.row != nullptr;
  const auto look = [&](const Tensor& tensor) {
    if (!tensor.defined()) return;
    const bool known = held_by(tensor) != nullptr;
    if (known) known_.push_back(tensor);
    if (tensor.is_cuda() || (!known && !(tensor->storage && tensor->storage->values())))
      computable = computable && rule.makes_like;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto* tensor = std::get_if<Tensor>(&arguments.value(i))) look(*tensor);
    if (const auto* list = std::get_if<ops::TensorList>(&arguments.value(i)))
      std::for_each(list->begin(), list->end(), look);
  }
  if (computable) made_ = computed(*rule.row, arguments);
}

void HostArithmetic::note(const Value& result) const {
  if (known_.empty() && !made_) return;
  const auto* several = result.as<lang::Tuple>();
  const Value first = several != nullptr && !several->items.empty() ? several->items[0] : result;
  auto* object = first.as<TensorObject>();
  if (object != nullptr && !object->tensor.is_cuda() && made_) {
    note_values(*object, made_->values);
    return;
  }
  for (const Tensor& tensor : known_) {
    if (writes_) {
      forget_values(tensor);
    } else {
      share_values(tensor, result);
    }
  }
}

}  // namespace tidemark::torch
