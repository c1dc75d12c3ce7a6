#include <fmt/format.h>

#include <algorithm>

#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/generator.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/runtime/unknown.h"

/// Built-in functions that go through iterables.
namespace tidemark::lang {

namespace {

Iterator& iterator_at(std::vector<Value>& held, std::size_t i) {
  return *static_cast<Iterator*>(held[i].object());
}

// The tuple that enumerate and zip give: the one given last, filled anew, when nobody else has it.
bool reusable(const Value& tuple) {
  return tuple.as<Tuple>() != nullptr && tuple.object()->use_count() == 1;
}

Value enumerated(Interp& in, Arguments& args) {
  const std::int64_t start = args.integer(1);
  return make_ref<EnumerateIterator>(in.heap(), in.iterate(args[0]), start,
                                     in.tuple({Value::none(), Value::none()}));
}

Value zipped(Interp& in, Arguments& args) {
  const bool strict = args.boolean(1);
  std::vector<Value> held;
  const std::vector<Value> iterables = args[0].as<Tuple>()->items;
  for (const Value& iterable : iterables) {
    if (!in.iterable(iterable)) {
      in.type_error(fmt::format("zip argument #{} must support iteration", held.size() + 1));
    }
    held.emplace_back(in.iterate(iterable));
  }
  const std::size_t count = held.size();
  held.push_back(in.tuple(std::vector<Value>(count, Value::none())));
  return make_iterator(in, "zip", std::move(held),
                       [count, strict](Interp& interp, std::vector<Value>& own) -> Value {
                         if (count == 0) return {};
                         // Held, so that code which asks for the next one meanwhile gets another.
                         const Value kept = reusable(own[count]) ? own[count] : Value();
                         const bool reuse = !kept.empty();
                         std::vector<Value> fresh;
                         for (std::size_t i = 0; i < count; ++i) {
                           Value item = iterator_at(own, i).next(interp);
                           if (item.empty()) {
                             if (!strict) return {};
                             for (std::size_t rest = i == 0 ? 1 : i; rest < count; ++rest) {
                               if (i > 0 || !iterator_at(own, rest).next(interp).empty()) {
                                 const std::size_t which = i > 0 ? i : rest;
                                 interp.value_error(fmt::format(
                                     "zip() argument {} is {} than argument{} 1{}", which + 1,
                                     i > 0 ? "shorter" : "longer", which > 1 ? "s" : "",
                                     which > 1 ? fmt::format("-{}", which) : ""));
                               }
                             }
                             return {};
                           }
                           if (reuse) {
                             kept.as<Tuple>()->items[i] = std::move(item);
                           } else {
                             fresh.push_back(std::move(item));
                           }
                         }
                         return reuse ? kept : interp.tuple(std::move(fresh));
                       });
}

Value mapped(Interp& in, CallArgs& args) {
  if (args.positional < 2) in.type_error("map() must have at least two arguments.");
  std::vector<Value> held;
  for (std::size_t i = 1; i < args.positional; ++i) held.emplace_back(in.iterate(args.values[i]));
  held.push_back(args.values[0]);
  const std::size_t count = args.positional - 1;
  return make_iterator(in, "map", std::move(held),
                       [count](Interp& interp, std::vector<Value>& own) -> Value {
                         std::vector<Value> values;
                         for (std::size_t i = 0; i < count; ++i) {
                           Value item = iterator_at(own, i).next(interp);
                           if (item.empty()) return {};
                           values.push_back(std::move(item));
                         }
                         const Value function = own[count];
                         return interp.call(function, std::move(values));
                       });
}

Value filtered(Interp& in, Arguments& args) {
  std::vector<Value> held = {args[0], in.iterate(args[1])};
  return make_iterator(
      in, "filter", std::move(held), [](Interp& interp, std::vector<Value>& own) -> Value {
        while (true) {
          Value item = iterator_at(own, 1).next(interp);
          if (item.empty()) return {};
          interp.step();
          const Value function = own[0];
          if (function.is_none() ? interp.truth(item) : interp.truth(interp.call(function, {item})))
            return item;
        }
      });
}

Value reverse_iterator(Interp& in, Arguments& args) {
  const Value& value = args[0];
  if (has_code(value)) {
    Value own = in.ask_code(value, known(name::kReversed));
    if (!own.empty()) return own;
  }
  if (value.as<List>() != nullptr || value.as<Tuple>() != nullptr) {
    return make_ref<SequenceIterator>(in.heap(), value, true);
  }
  if (const auto* range = value.as<Range>()) {
    const std::int64_t count = range->length();
    if (count == 0) return make_ref<RangeIterator>(in.heap(), 0, 1, 0);
    const std::int64_t back = in.unary(UnaryOp::kNeg, Value::integer(range->step)).as_int();
    return make_ref<RangeIterator>(in.heap(), range->start + (count - 1) * range->step, back,
                                   count);
  }
  if (value.as<Dict>() != nullptr)
    return make_ref<TableIterator>(in.heap(), value, DictPart::kKeys, true);
  if (const auto* view = value.as<DictView>()) {
    return make_ref<TableIterator>(in.heap(), view->dict, view->part, true);
  }
  if (value.as<Str>() != nullptr) {
    return make_ref<SequenceIterator>(in.heap(), in.tuple(in.unpack(value)), true);
  }
  if (value.as<Instance>() != nullptr) {
    Value out = in.call_special(value, known(name::kReversed));
    if (!out.empty()) return out;
    if (in.type_of(value)->lookup(known(name::kGetitem)) != nullptr) {
      std::vector<Value> items;
      const std::int64_t count = in.length(value);
      for (std::int64_t i = 0; i < count; ++i) {
        in.step();
        items.push_back(in.get_item(value, Value::integer(i)));
      }
      return make_ref<SequenceIterator>(in.heap(), in.tuple(std::move(items)), true);
    }
  }
  in.type_error(fmt::format("'{}' object is not reversible", in.type_name(value)));
}

/// StopIteration, with what a generator has returned.
[[noreturn]] void stop(Interp& in, const Value& iterator) {
  std::vector<Value> args;
  if (auto* own = dynamic_cast<FunctionGenerator*>(iterator.as<Iterator>())) {
    Value returned = own->take_returned();
    if (!returned.is_none()) args.push_back(std::move(returned));
  }
  in.raise(in.make_exception(*in.classes().stop_iteration, std::move(args)));
}

Value next_value(Interp& in, const Value& iterator) {
  if (auto* own = iterator.as<Iterator>()) return own->next(in);
  if (in.type_of(iterator)->lookup(known(name::kNext)) == nullptr) {
    in.type_error(fmt::format("'{}' object is not an iterator", in.type_name(iterator)));
  }
  try {
    return in.call_special(iterator, known(name::kNext));
  } catch (const Raised& raised) {
    if (!raised.exception->type().derives_from(*in.classes().stop_iteration)) throw;
  }
  return {};
}

// min and max.
Value extreme(Interp& in, CallArgs& args, std::string_view function, CompareOp better) {
  const Value* key = args.keyword(known(name::kKeyWord));
  const Value* fallback = args.keyword(known(name::kDefaultWord));
  if (args.positional == 0) {
    in.type_error(fmt::format("{} expected at least 1 argument, got 0", function));
  }
  std::vector<Value> items;
  if (args.positional == 1) {
    items = in.unpack(args.values[0]);
  } else {
    items.assign(args.values, args.values + args.positional);
  }
  // Of numbers of which one is not known the extreme is not known either.
  if (key == nullptr || key->is_none()) {
    const auto is_number = [](const Value& item) {
      return plain_of(item).is_number() || item.as<Unknown>() != nullptr;
    };
    const auto first = std::find_if(items.begin(), items.end(), [](const Value& item) {
      return item.as<Unknown>() != nullptr;
    });
    if (first != items.end() && std::all_of(items.begin(), items.end(), is_number)) {
      const auto* unknown = first->as<Unknown>();
      const bool is_real = std::any_of(items.begin(), items.end(), [](const Value& item) {
        const auto* each = item.as<Unknown>();
        return each != nullptr ? each->kind() == Unknown::Type::kReal : plain_of(item).is_float();
      });
      return unknown->another(in, is_real ? Unknown::Type::kReal : unknown->kind());
    }
  }
  Value best;
  Value best_key;
  for (Value& item : items) {
    in.step();
    Value own_key = key == nullptr || key->is_none() ? item : in.call(*key, {item});
    if (best.empty() || in.truth(in.compare(better, own_key, best_key))) {
      best = std::move(item);
      best_key = std::move(own_key);
    }
  }
  if (!best.empty()) return best;
  if (fallback != nullptr && args.positional == 1) return *fallback;
  in.value_error(fmt::format("{}() arg is an empty sequence", function));
}

// Stable merge sort; unlike std::stable_sort it stays within bounds whatever the comparison says.
void merge_sort(Interp& in, std::vector<std::size_t>& order, std::size_t begin, std::size_t end,
                const std::vector<Value>& keys, bool reverse) {
  if (end - begin < 2) return;
  const std::size_t middle = begin + (end - begin) / 2;
  merge_sort(in, order, begin, middle, keys, reverse);
  merge_sort(in, order, middle, end, keys, reverse);
  std::vector<std::size_t> merged;
  merged.reserve(end - begin);
  std::size_t a = begin;
  std::size_t b = middle;
  while (a < middle && b < end) {
    in.step();
    const Value& left = keys[order[a]];
    const Value& right = keys[order[b]];
    const bool swap = reverse ? in.truth(in.compare(CompareOp::kLt, left, right))
                              : in.truth(in.compare(CompareOp::kLt, right, left));
    merged.push_back(order[swap ? b++ : a++]);
  }
  merged.insert(merged.end(), order.begin() + static_cast<std::ptrdiff_t>(a),
                order.begin() + static_cast<std::ptrdiff_t>(middle));
  merged.insert(merged.end(), order.begin() + static_cast<std::ptrdiff_t>(b),
                order.begin() + static_cast<std::ptrdiff_t>(end));
  std::copy(merged.begin(), merged.end(), order.begin() + static_cast<std::ptrdiff_t>(begin));
}

}  // namespace

std::vector<Value> sorted_values(Interp& in, std::vector<Value> items, const Value& key,
                                 bool reverse) {
  std::vector<Value> keys;
  if (!key.empty() && !key.is_none()) {
    for (const Value& item : items) keys.push_back(in.call(key, {item}));
  }
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  merge_sort(in, order, 0, order.size(), keys.empty() ? items : keys, reverse);
  std::vector<Value> out;
  out.reserve(items.size());
  for (const std::size_t i : order) out.push_back(std::move(items[i]));
  return out;
}

namespace {

Value or_stop(Interp& in, const Value& iterator, Value value) {
  if (!value.empty()) return value;
  stop(in, iterator);
}

FunctionGenerator& generator_of(Interp& in, Arguments& args) {
  auto* generator = dynamic_cast<FunctionGenerator*>(args[0].as<Iterator>());
  if (generator == nullptr) {
    in.refuse(
        fmt::format("{}() of a generator expression is not supported", args.signature().function));
  }
  return *generator;
}

void add_iterator_methods(Interp& in) {
  for (const Ref<ClassObject>& type : {in.classes().iterator, in.classes().generator}) {
    define(in, *type, "__next__(self, /)", [](Interp& interp, Arguments& args) {
      return or_stop(interp, args[0], args.object<Iterator>(0, "an iterator").next(interp));
    });
    define(in, *type, "__iter__(self, /)", [](Interp&, Arguments& args) { return args.take(0); });
  }
  ClassObject& type = *in.classes().generator;
  define(in, type, "send(self, arg, /)", [](Interp& interp, Arguments& args) {
    return or_stop(interp, args[0], generator_of(interp, args).send(interp, args.take(1)));
  });
  define(in, type, "close(self, /)", [](Interp& interp, Arguments& args) {
    generator_of(interp, args).close(interp);
    return Value::none();
  });
  define(in, type, "throw(self, typ, val=None, tb=None, /)", [](Interp& interp, Arguments& args) {
    Value error = args[1].as<ClassObject>() != nullptr ? interp.call(args[1]) : args[1];
    const Ref<ExceptionObject> exception = error.ref<ExceptionObject>();
    if (!exception)
      interp.type_error("exceptions must be classes or instances deriving from BaseException");
    return or_stop(interp, args[0], generator_of(interp, args).raise_inside(interp, exception));
  });
}

}  // namespace

void add_iteration(Interp& in) {
  add_iterator_methods(in);
  define(in, "enumerate(iterable, start=0)", enumerated);
  define(in, "zip(*iterables, strict=False)", zipped);
  in.set_builtin(in.intern("map"), in.raw_function("map", mapped));
  define(in, "filter(function, iterable, /)", filtered);
  define(in, "reversed(sequence, /)", reverse_iterator);
  define(in, "iter(object, sentinel=..., /)", [](Interp& interp, Arguments& args) -> Value {
    if (args[1].empty()) {
      Value made;
      if (args[0].as<Instance>() != nullptr)
        made = interp.call_special(args[0], known(name::kIter));
      return made.empty() ? Value(interp.iterate(args[0])) : made;
    }
    return make_iterator(interp, "callable_iterator", {args[0], args[1]},
                         [](Interp& inner, std::vector<Value>& own) -> Value {
                           if (own.empty()) return {};
                           const Value function = own[0];
                           const Value sentinel = own[1];
                           Value item = inner.call(function);
                           if (!inner.equal(item, sentinel)) return item;
                           drop_forward(inner.heap(), own);
                           return {};
                         });
  });
  define(in, "next(iterator, default=..., /)", [](Interp& interp, Arguments& args) {
    Value item = next_value(interp, args[0]);
    if (!item.empty()) return item;
    if (!args[1].empty()) return args.take(1);
    stop(interp, args[0]);
  });
  define(in, "sum(iterable, /, start=0)", [](Interp& interp, Arguments& args) {
    Value total = args[1];
    if (total.as<Str>() != nullptr) {
      interp.type_error("sum() can't sum strings [use ''.join(seq) instead]");
    }
    const Ref<Iterator> iterator = interp.iterate(args[0]);
    while (true) {
      Value item = iterator->next(interp);
      if (item.empty()) return total;
      interp.step();
      Value next = interp.binary(BinaryOp::kAdd, total, item);
      total = std::move(next);
      item.reset();
    }
  });
  define(in, "any(iterable, /)", [](Interp& interp, Arguments& args) {
    const Ref<Iterator> iterator = interp.iterate(args[0]);
    for (Value item = iterator->next(interp); !item.empty(); item = iterator->next(interp)) {
      interp.step();
      if (interp.truth(item)) return Value::boolean(true);
    }
    return Value::boolean(false);
  });
  define(in, "all(iterable, /)", [](Interp& interp, Arguments& args) {
    const Ref<Iterator> iterator = interp.iterate(args[0]);
    for (Value item = iterator->next(interp); !item.empty(); item = iterator->next(interp)) {
      interp.step();
      if (!interp.truth(item)) return Value::boolean(false);
    }
    return Value::boolean(true);
  });
  define(
      in, "sorted(iterable, /, *, key=None, reverse=False)", [](Interp& interp, Arguments& args) {
        return interp.list(sorted_values(interp, interp.unpack(args[0]), args[1], args.boolean(2)));
      });
  in.set_builtin(in.intern("min"), in.raw_function("min", [](Interp& interp, CallArgs& args) {
    return extreme(interp, args, "min", CompareOp::kLt);
  }));
  in.set_builtin(in.intern("max"), in.raw_function("max", [](Interp& interp, CallArgs& args) {
    return extreme(interp, args, "max", CompareOp::kGt);
  }));
}

}  // namespace tidemark::lang
