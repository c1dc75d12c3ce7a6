#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/list_slots.h"
#include "sim/lang/runtime/notes.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/lang/runtime/set_order.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/lang/runtime/wide_integer.h"

/// The methods of list, tuple, dict, set, int and float.
namespace tidemark::lang {

namespace {

List& list_of(Arguments& args) { return args.object<List>(0, "list"); }
Dict& dict_of(Arguments& args) { return args.object<Dict>(0, "dict"); }
Set& set_of(Arguments& args) { return args.object<Set>(0, "set"); }

// The position of an equal element from `begin` on and before `end`; nothing: there is none. Code
// may run and change the items: the position was good when they were compared.
std::optional<std::size_t> position(Interp& in, const std::vector<Value>& items,
                                    const Value& wanted, std::size_t begin = 0,
                                    std::size_t end = SIZE_MAX) {
  for (std::size_t i = begin; i < items.size() && i < end; ++i) {
    in.step();
    const Value item = items[i];
    if (item.same_as(wanted) || in.equal(item, wanted)) return i;
  }
  return std::nullopt;
}

// The same, of a program that would end where there is none: a number that nobody knows is taken to
// be the first of them.
std::optional<std::size_t> needed_position(Interp& in, const std::vector<Value>& items,
                                           const Value& wanted, std::size_t begin = 0,
                                           std::size_t end = SIZE_MAX) {
  if (wanted.as<Unknown>() == nullptr) return position(in, items, wanted, begin, end);
  if (begin >= std::min(items.size(), end)) return std::nullopt;
  guess(in, "a number that is not known is taken to be the first of the list that it is in");
  return begin;
}

// A bound of index(): negative ones count from the end.
std::size_t bound(Arguments& args, std::size_t i, const std::vector<Value>& items) {
  const std::int64_t at = args.integer(i);
  const auto size = static_cast<std::int64_t>(items.size());
  return static_cast<std::size_t>(at < 0 ? std::max<std::int64_t>(0, at + size) : at);
}

// index(value) of a value that is another on other ranks.
Value position_of_ranks(Interp& in, const Arguments& args) {
  const Value both[] = {args[1]};
  return by_rank(in, both, [&](std::span<const Value> of) {
    return in.call_method(args[0], in.intern("index"), {of[0]});
  });
}

std::optional<std::size_t> position_within(Interp& in, Arguments& args,
                                           const std::vector<Value>& items) {
  const std::size_t begin = bound(args, 2, items);
  const std::size_t end = bound(args, 3, items);
  return needed_position(in, items, args[1], begin, end);
}

std::int64_t count_equal(Interp& in, const std::vector<Value>& items, const Value& wanted) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    in.step();
    const Value item = items[i];
    if (item.same_as(wanted) || in.equal(item, wanted)) ++count;
  }
  return count;
}

// Sorts in place. The list is empty meanwhile, and must be so at the end.
Value sort_list(Interp& in, Arguments& args) {
  std::vector<Value>& items = list_of(args).items;
  const bool reverse = args.boolean(2);
  std::vector<Value> taken = std::move(items);
  items = {};
  std::vector<Value> sorted;
  try {
    sorted = sorted_values(in, taken, args[1], reverse);
  } catch (const Raised&) {
    items.swap(taken);
    throw;
  }
  const bool modified = items.capacity() > 0;
  items.swap(sorted);
  if (modified) in.value_error("list modified during sort");
  return Value::none();
}

Value list_pop(Interp& in, Arguments& args) {
  List& list = list_of(args);
  std::int64_t i = args.integer(1);
  if (list.items.empty()) in.raise(*in.classes().index_error, "pop from empty list");
  const std::int64_t count = static_cast<std::int64_t>(list.items.size());
  if (i < 0) i += count;
  if (i < 0 || i >= count) in.raise(*in.classes().index_error, "pop index out of range");
  return taken_out(list.items, static_cast<std::size_t>(i));
}

constexpr FunctionRow kListMethods[] = {
    {"append(self, object, /)",
     [](Interp& in, Arguments& args) {
       List& list = list_of(args);
       if (list.items.size() >= in.limits().sequence) in.too_long();
       list.items.push_back(args.take(1));
       return Value::none();
     }},
    {"extend(self, iterable, /)",
     [](Interp& in, Arguments& args) {
       extend(in, list_of(args), args[1]);
       return Value::none();
     }},
    {"insert(self, index, object, /)",
     [](Interp& in, Arguments& args) {
       List& list = list_of(args);
       std::int64_t i = args.integer(1);
       if (list.items.size() >= in.limits().sequence) in.too_long();
       const auto count = static_cast<std::int64_t>(list.items.size());
       if (i < 0) i = std::max<std::int64_t>(0, i + count);
       put_in(list.items, static_cast<std::size_t>(std::min(i, count)), args.take(2));
       return Value::none();
     }},
    {"pop(self, index=-1, /)", list_pop},
    {"remove(self, value, /)",
     [](Interp& in, Arguments& args) {
       List& list = list_of(args);
       const std::optional<std::size_t> i = needed_position(in, list.items, args[1]);
       if (!i) in.value_error("list.remove(x): x not in list");
       if (*i >= list.items.size()) return Value::none();
       const Value removed = taken_out(list.items, *i);
       return Value::none();
     }},
    {"clear(self, /)",
     [](Interp&, Arguments& args) {
       drop_backward(list_of(args).heap(), list_of(args).items);
       return Value::none();
     }},
    {"index(self, value, start=0, stop=9223372036854775807, /)",
     [](Interp& in, Arguments& args) {
       if (is_of_rank(args[1]) && !args.has(2)) return position_of_ranks(in, args);
       const std::optional<std::size_t> i = position_within(in, args, list_of(args).items);
       if (!i) in.value_error(in.repr(args[1]) + " is not in list");
       return Value::integer(static_cast<std::int64_t>(*i));
     }},
    {"count(self, value, /)",
     [](Interp& in, Arguments& args) {
       return Value::integer(count_equal(in, list_of(args).items, args[1]));
     }},
    {"reverse(self, /)",
     [](Interp&, Arguments& args) {
       std::reverse(list_of(args).items.begin(), list_of(args).items.end());
       return Value::none();
     }},
    {"sort(self, /, *, key=None, reverse=False)", sort_list},
    {"copy(self, /)", [](Interp& in, Arguments& args) { return in.list(list_of(args).items); }},
};

constexpr FunctionRow kTupleMethods[] = {
    {"index(self, value, start=0, stop=9223372036854775807, /)",
     [](Interp& in, Arguments& args) {
       const std::vector<Value>& items = args.object<Tuple>(0, "tuple").items;
       if (is_of_rank(args[1]) && !args.has(2)) return position_of_ranks(in, args);
       const std::optional<std::size_t> i = position_within(in, args, items);
       if (!i) in.value_error("tuple.index(x): x not in tuple");
       return Value::integer(static_cast<std::int64_t>(*i));
     }},
    {"count(self, value, /)",
     [](Interp& in, Arguments& args) {
       const std::vector<Value>& items = args.object<Tuple>(0, "tuple").items;
       return Value::integer(count_equal(in, items, args[1]));
     }},
};

template <DictPart kPart>
Value view(Interp& in, Arguments& args) {
  return make_ref<DictView>(in.heap(), Ref<Dict>(&dict_of(args)), kPart);
}

constexpr FunctionRow kDictMethods[] = {
    {"keys(self, /)", view<DictPart::kKeys>},
    {"values(self, /)", view<DictPart::kValues>},
    {"items(self, /)", view<DictPart::kItems>},
    {"get(self, key, default=None, /)",
     [](Interp& in, Arguments& args) {
       const Value* found = dict_of(args).table.find(in, args[1]);
       return found != nullptr ? *found : args.take(2);
     }},
    {"pop(self, key, default=..., /)",
     [](Interp& in, Arguments& args) {
       ValueTable::Entry removed = dict_of(args).table.remove(in, args[1]);
       if (!removed.key.empty()) return std::move(removed.value);
       if (args[2].empty()) in.raise(in.make_exception(*in.classes().key_error, {args[1]}));
       return args.take(2);
     }},
    {"popitem(self, last=True)",
     [](Interp& in, Arguments& args) {
       ValueTable& table = dict_of(args).table;
       const bool last = args.boolean(1);
       if (table.size() == 0) {
         in.raise(in.make_exception(*in.classes().key_error,
                                    {in.str("popitem(): dictionary is empty")}));
       }
       ValueTable::Entry entry = last ? table.remove_last() : table.remove_first();
       return in.tuple({std::move(entry.key), std::move(entry.value)});
     }},
    {"setdefault(self, key, default=None, /)",
     [](Interp& in, Arguments& args) {
       if (const Value* found = dict_of(args).table.find(in, args[1])) return *found;
       dict_of(args).table.set(in, args[1], args[2]);
       return args[2];
     }},
    {"update(self, other=..., /, **kwargs)",
     [](Interp& in, Arguments& args) {
       if (!args[1].empty()) update_dict(in, dict_of(args), args[1]);
       update_dict(in, dict_of(args), args[2]);
       return Value::none();
     }},
    {"clear(self, /)",
     [](Interp& in, Arguments& args) {
       dict_of(args).table.clear(in.heap());
       return Value::none();
     }},
    {"copy(self, /)",
     [](Interp& in, Arguments& args) -> Value {
       const Ref<Dict> copy = make_ref<Dict>(in.heap(), class_of_copy(in, dict_of(args)));
       copy->default_factory = dict_of(args).default_factory;
       update_dict(in, *copy, args[0]);
       return copy;
     }},
};

Value union_of(Interp& in, Arguments& args) {
  const Ref<Set> out = set_copy(in, set_of(args));
  const std::vector<Value> others = args[1].as<Tuple>()->items;
  for (const Value& other : others) {
    if (!other.same_as(args[0])) out->update(in, other);
  }
  return out;
}

Value intersection_of(Interp& in, Arguments& args) {
  const std::vector<Value> others = args[1].as<Tuple>()->items;
  if (others.empty()) return set_copy(in, set_of(args));
  Ref<Set> out(&set_of(args));
  for (const Value& other : others) out = set_intersection(in, *out, other);
  return out;
}

Value difference_of(Interp& in, Arguments& args) {
  const std::vector<Value> others = args[1].as<Tuple>()->items;
  if (others.empty()) return set_copy(in, set_of(args));
  const Ref<Set> out = set_difference(in, set_of(args), others[0]);
  for (std::size_t i = 1; i < others.size(); ++i) set_difference_update(in, *out, others[i]);
  return out;
}

Value with_set(Interp& in, Arguments& args, CompareOp op) {
  const Value other = args[1].as<Set>() != nullptr ? args[1] : in.call(in.classes().set, {args[1]});
  return in.compare(op, args[0], other);
}

constexpr FunctionRow kSetMethods[] = {
    {"union(self, *others)", union_of},
    {"intersection(self, *others)", intersection_of},
    {"difference(self, *others)", difference_of},
    {"symmetric_difference(self, other, /)",
     [](Interp& in, Arguments& args) -> Value {
       return set_symmetric_difference(in, set_of(args), args[1]);
     }},
    {"issubset(self, other, /)",
     [](Interp& in, Arguments& args) { return with_set(in, args, CompareOp::kLe); }},
    {"issuperset(self, other, /)",
     [](Interp& in, Arguments& args) { return with_set(in, args, CompareOp::kGe); }},
    {"isdisjoint(self, other, /)",
     [](Interp& in, Arguments& args) {
       for (const Value& item : in.unpack(args[1])) {
         if (set_of(args).table.find(in, item) != nullptr) return Value::boolean(false);
       }
       return Value::boolean(true);
     }},
    {"copy(self, /)",
     [](Interp& in, Arguments& args) { return in.call(in.type_of(args[0]), {args[0]}); }},
};

constexpr FunctionRow kMutableSetMethods[] = {
    {"add(self, elem, /)",
     [](Interp& in, Arguments& args) {
       set_of(args).add(in, args.take(1));
       return Value::none();
     }},
    {"discard(self, elem, /)",
     [](Interp& in, Arguments& args) {
       set_of(args).discard(in, args[1]);
       return Value::none();
     }},
    {"remove(self, elem, /)",
     [](Interp& in, Arguments& args) {
       if (!set_of(args).discard(in, args[1])) {
         in.raise(in.make_exception(*in.classes().key_error, {args[1]}));
       }
       return Value::none();
     }},
    {"pop(self, /)",
     [](Interp& in, Arguments& args) {
       if (Value popped = set_of(args).pop(); !popped.empty()) return popped;
       in.raise(in.make_exception(*in.classes().key_error, {in.str("pop from an empty set")}));
     }},
    {"update(self, *others)",
     [](Interp& in, Arguments& args) {
       const std::vector<Value> others = args[1].as<Tuple>()->items;
       for (const Value& other : others) set_of(args).update(in, other);
       return Value::none();
     }},
    {"difference_update(self, *others)",
     [](Interp& in, Arguments& args) {
       const std::vector<Value> others = args[1].as<Tuple>()->items;
       for (const Value& other : others) set_difference_update(in, set_of(args), other);
       return Value::none();
     }},
    {"intersection_update(self, *others)",
     [](Interp& in, Arguments& args) {
       const Value kept = intersection_of(in, args);
       set_of(args).take_from(*kept.as<Set>());
       return Value::none();
     }},
    {"symmetric_difference_update(self, other, /)",
     [](Interp& in, Arguments& args) {
       set_symmetric_difference_update(in, set_of(args), args[1]);
       return Value::none();
     }},
    {"clear(self, /)",
     [](Interp&, Arguments& args) {
       set_of(args).empty();
       return Value::none();
     }},
};

constexpr FunctionRow kNumberMethods[] = {
    {"bit_length(self, /)",
     [](Interp&, Arguments& args) {
       const std::optional<Wide> number = wide_of(args[0]);
       if (!number) (void)args.integer(0);  // says what is wrong
       return Value::integer(static_cast<std::int64_t>(bits_of(*number)));
     }},
    {"bit_count(self, /)",
     [](Interp&, Arguments& args) {
       const std::optional<Wide> number = wide_of(args[0]);
       if (!number) (void)args.integer(0);  // says what is wrong
       std::int64_t bits = 0;
       for (const std::uint32_t piece : number->pieces) bits += std::popcount(piece);
       return Value::integer(bits);
     }},
    {"is_integer(self, /)",
     [](Interp&, Arguments& args) {
       const double value = args.real(0);
       return Value::boolean(std::isfinite(value) && value == std::floor(value));
     }},
    {"conjugate(self, /)", [](Interp&, Arguments& args) { return args[0]; }},
};

}  // namespace

void add_container_methods(Interp& in) {
  const BuiltinClasses& c = in.classes();
  add_methods(in, *c.list, kListMethods);
  add_methods(in, *c.tuple, kTupleMethods);
  add_methods(in, *c.dict, kDictMethods);
  define(in, *c.dict, "fromkeys(iterable, value=None, /)",
         [](Interp& interp, Arguments& args) -> Value {
           const Ref<Dict> dict = interp.dict();
           for (Value& key : interp.unpack(args[0]))
             dict->table.set(interp, std::move(key), args[1]);
           return dict;
         });
  c.dict->attrs.find(in.intern("fromkeys"))->as<Builtin>()->binds_self = false;
  add_methods(in, *c.set, kSetMethods);
  add_methods(in, *c.frozenset, kSetMethods);
  add_methods(in, *c.set, kMutableSetMethods);
  add_methods(in, *c.integer, kNumberMethods);
  add_methods(in, *c.real, kNumberMethods);
}

}  // namespace tidemark::lang
