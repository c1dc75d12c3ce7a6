#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "sim/lang/builtins/integer_functions.h"
#include "sim/lang/builtins/library.h"
#include "sim/lang/builtins/python.h"
#include "sim/lang/builtins/regex.h"
#include "sim/lang/runtime/annotations.h"
#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/copying.h"
#include "sim/lang/runtime/iterators.h"
#include "sim/lang/runtime/library_loader.h"
#include "sim/lang/runtime/notes.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/lang/runtime/unknown.h"
#include "sim/lang/runtime/wide_integer.h"
#include "sim/lang/syntax/ast.h"

/// The modules that C++ has: math, and _tidemark, which the library's files (sim/library) take what
/// they cannot say in the language from.
namespace tidemark::lang {

namespace {

double number(Interp& in, Arguments& args, std::size_t i) {
  if (args[i].is_number()) return args[i].number();
  if (const auto* wide = args[i].as<WideInteger>()) return real_of(in, wide->number);
  if (args[i].as<Instance>() != nullptr) return args.real(i);
  in.type_error(fmt::format("must be real number, not {}", in.type_name(args[i])));
}

[[noreturn]] void domain(Interp& in) { in.value_error("math domain error"); }

template <double (*kFunction)(double)>
Value of_one(Interp& in, Arguments& args) {
  const double x = number(in, args, 0);
  const double out = kFunction(x);
  if (std::isnan(out) && !std::isnan(x)) domain(in);
  if (std::isinf(out) && std::isfinite(x))
    in.raise(*in.classes().overflow_error, "math range error");
  return Value::real(out);
}

/// A function of two numbers; what is not one in both is told of the first.
template <double (*kFunction)(double, double)>
Value of_two(Interp& in, Arguments& args) {
  const double x = number(in, args, 0);
  const double y = number(in, args, 1);
  const double out = kFunction(x, y);
  if (std::isnan(out) && !std::isnan(x) && !std::isnan(y)) domain(in);
  if (std::isinf(out) && std::isfinite(x) && std::isfinite(y)) {
    if (x == 0) domain(in);  // 0 to a negative power
    in.raise(*in.classes().overflow_error, "math range error");
  }
  return Value::real(out);
}

template <double (*kFunction)(double)>
Value logarithm(Interp& in, Arguments& args) {
  const double x = number(in, args, 0);
  if (x <= 0) domain(in);
  return Value::real(kFunction(x));
}

template <double (*kRound)(double)>
Value whole(Interp& in, Arguments& args) {
  if (args[0].is_integral()) return Value::integer(args[0].as_int());
  if (args[0].as<WideInteger>() != nullptr) return args[0];
  const double value = kRound(number(in, args, 0));
  if (std::isnan(value)) in.value_error("cannot convert float NaN to integer");
  if (std::isinf(value))
    in.raise(*in.classes().overflow_error, "cannot convert float infinity to integer");
  if (std::abs(value) >= 9.2e18) return integer_of(in, wide_from(value));
  return Value::integer(static_cast<std::int64_t>(value));
}

Value product(Interp& in, Arguments& args) {
  Value total = args[1];
  for (const Value& item : in.unpack(args[0])) total = in.binary(BinaryOp::kMul, total, item);
  return total;
}

/// Exact: partial sums that do not overlap, as Python keeps them.
Value exact_sum(Interp& in, Arguments& args) {
  std::vector<double> partials;
  for (const Value& item : in.unpack(args[0])) {
    if (!item.is_number())
      in.type_error(fmt::format("must be real number, not {}", in.type_name(item)));
    double x = item.number();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < partials.size(); ++i) {
      double y = partials[i];
      if (std::abs(x) < std::abs(y)) std::swap(x, y);
      const double high = x + y;
      const double low = y - (high - x);
      if (low != 0) partials[kept++] = low;
      x = high;
    }
    partials.resize(kept);
    partials.push_back(x);
  }
  double total = 0;
  for (std::size_t i = partials.size(); i > 0; --i) total += partials[i - 1];
  return Value::real(total);
}

constexpr FunctionRow kMath[] = {
    {"sqrt(x, /)", of_one<std::sqrt>},
    {"exp(x, /)", of_one<std::exp>},
    {"expm1(x, /)", of_one<std::expm1>},
    {"sin(x, /)", of_one<std::sin>},
    {"cos(x, /)", of_one<std::cos>},
    {"tan(x, /)", of_one<std::tan>},
    {"asin(x, /)", of_one<std::asin>},
    {"acos(x, /)", of_one<std::acos>},
    {"atan(x, /)", of_one<std::atan>},
    {"sinh(x, /)", of_one<std::sinh>},
    {"cosh(x, /)", of_one<std::cosh>},
    {"tanh(x, /)", of_one<std::tanh>},
    {"asinh(x, /)", of_one<std::asinh>},
    {"acosh(x, /)", of_one<std::acosh>},
    {"atanh(x, /)", of_one<std::atanh>},
    {"erf(x, /)", of_one<std::erf>},
    {"erfc(x, /)", of_one<std::erfc>},
    {"lgamma(x, /)", of_one<std::lgamma>},
    {"cbrt(x, /)", of_one<std::cbrt>},
    {"exp2(x, /)", of_one<std::exp2>},
    {"gamma(x, /)", of_one<std::tgamma>},
    {"fabs(x, /)", of_one<std::fabs>},
    {"log2(x, /)", logarithm<std::log2>},
    {"log10(x, /)", logarithm<std::log10>},
    {"log1p(x, /)", of_one<std::log1p>},
    {"log(x, base=..., /)",
     [](Interp& in, Arguments& args) {
       const double x = number(in, args, 0);
       if (x <= 0) domain(in);
       if (args[1].empty()) return Value::real(std::log(x));
       const double base = number(in, args, 1);
       if (base <= 0) domain(in);
       if (base == 1) in.raise(*in.classes().zero_division_error, "float division by zero");
       return Value::real(std::log(x) / std::log(base));
     }},
    {"pow(x, y, /)", of_two<std::pow>},
    {"atan2(y, x, /)", of_two<std::atan2>},
    {"hypot(x, y, /)", of_two<std::hypot>},
    {"fmod(x, y, /)", of_two<std::fmod>},
    {"copysign(x, y, /)", of_two<std::copysign>},
    {"remainder(x, y, /)", of_two<std::remainder>},
    {"nextafter(x, y, /)", of_two<std::nextafter>},
    {"dist(p, q, /)",
     [](Interp& in, Arguments& args) {
       const std::vector<Value> from = in.unpack(args[0]);
       const std::vector<Value> to = in.unpack(args[1]);
       if (from.size() != to.size())
         in.value_error("both points must have the same number of dimensions");
       double sum = 0;
       for (std::size_t i = 0; i < from.size(); ++i) {
         const double along = from[i].number() - to[i].number();
         sum += along * along;
       }
       return Value::real(std::sqrt(sum));
     }},
    {"frexp(x, /)",
     [](Interp& in, Arguments& args) {
       int exponent = 0;
       const double part = std::frexp(number(in, args, 0), &exponent);
       return in.tuple({Value::real(part), Value::integer(exponent)});
     }},
    {"modf(x, /)",
     [](Interp& in, Arguments& args) {
       double whole_part = 0;
       const double part = std::modf(number(in, args, 0), &whole_part);
       return in.tuple({Value::real(part), Value::real(whole_part)});
     }},
    {"ldexp(x, i, /)",
     [](Interp& in, Arguments& args) {
       const auto power = static_cast<int>(std::clamp<std::int64_t>(args.integer(1), -5000, 5000));
       const double out = std::ldexp(number(in, args, 0), power);
       if (std::isinf(out) && std::isfinite(number(in, args, 0)))
         in.raise(*in.classes().overflow_error, "math range error");
       return Value::real(out);
     }},
    {"ulp(x, /)",
     [](Interp& in, Arguments& args) {
       const double x = std::abs(number(in, args, 0));
       return Value::real(std::nextafter(x, HUGE_VAL) - x);
     }},
    {"floor(x, /)", whole<std::floor>},
    {"ceil(x, /)", whole<std::ceil>},
    {"trunc(x, /)", whole<std::trunc>},
    {"degrees(x, /)",
     [](Interp& in, Arguments& args) {
       return Value::real(number(in, args, 0) * 180 / std::numbers::pi);
     }},
    {"radians(x, /)",
     [](Interp& in, Arguments& args) {
       return Value::real(number(in, args, 0) * std::numbers::pi / 180);
     }},
    {"isnan(x, /)",
     [](Interp& in, Arguments& args) { return Value::boolean(std::isnan(number(in, args, 0))); }},
    {"isinf(x, /)",
     [](Interp& in, Arguments& args) { return Value::boolean(std::isinf(number(in, args, 0))); }},
    {"isfinite(x, /)",
     [](Interp& in, Arguments& args) {
       return Value::boolean(std::isfinite(number(in, args, 0)));
     }},
    {"isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0)",
     [](Interp& in, Arguments& args) {
       const double a = number(in, args, 0);
       const double b = number(in, args, 1);
       if (args.real(2) < 0 || args.real(3) < 0)
         in.raise(*in.classes().value_error, "tolerances must be non-negative");
       if (std::isinf(a) || std::isinf(b)) return Value::boolean(a == b);
       const double most =
           std::max(args.real(2) * std::max(std::abs(a), std::abs(b)), args.real(3));
       return Value::boolean(a == b || std::abs(a - b) <= most);
     }},
    {"fsum(seq, /)", exact_sum},
    {"prod(iterable, /, *, start=1)", product},
    {"gcd(*integers)", gcd},
    {"lcm(*integers)", lcm},
    {"isqrt(n, /)", isqrt},
    {"comb(n, k, /)", combinations},
    {"perm(n, k=None, /)", permutations},
    {"factorial(n, /)", factorial},
};

Value named_tuple(Interp& in, Arguments& args) {
  std::vector<std::string> fields;
  if (const Str* text = args[1].as<Str>()) {
    std::string spaced = text->text();
    std::replace(spaced.begin(), spaced.end(), ',', ' ');
    const Value words = in.call_method(in.str(std::move(spaced)), in.intern("split"));
    for (const Value& word : words.as<List>()->items) fields.push_back(word.as<Str>()->text());
  } else {
    for (const Value& field : in.unpack(args[1])) fields.push_back(in.to_str(field));
  }
  std::vector<Value> defaults;
  if (args.has(2)) {
    defaults = in.unpack(args[2]);
    if (defaults.size() > fields.size()) in.type_error("Got more default values than field names");
  }
  return in.make_named_tuple_class(args.text(0), "", fields, std::move(defaults));
}

/// Null: it has none.
AttrMap* attributes_of(const Value& owner) {
  if (auto* type = owner.as<ClassObject>()) return &type->attrs;
  if (auto* function = owner.as<Function>()) return &function->attrs;
  if (const auto* container = owner.as<Container>()) return container->attrs();
  auto* instance = owner.as<Instance>();
  return instance == nullptr ? nullptr : &instance->attrs();
}

/// What the module _attribute_tables is made of: names, get, set, remove and size, of an object or
/// a class; and the class of such tables' base, a dict to isinstance().
void add_attribute_access(Interp& in, Module& module) {
  const auto access = [&](std::string_view signature, HostFunction body) -> Value {
    return in.function(signature, std::move(body));
  };
  module.set(
      in.intern("attribute_access"),
      in.tuple(
          {access("names(owner, table)",
                  [](Interp& interp, Arguments& args) {
                    std::vector<Value> names;
                    if (const auto* global = args[0].as<Module>()) {
                      if (global->list_missing) {  // all that it has not made yet
                        for (const std::string_view name : global->list_missing())
                          interp.find_attr(args[0], interp.intern(name));
                      }
                      for (const AttrMap::Entry& entry : global->entries()) {
                        if (!entry.value.empty())
                          names.push_back(interp.str(std::string(interp.text(entry.name))));
                      }
                      return interp.list(std::move(names));
                    }
                    const AttrMap* table = attributes_of(args[0]);
                    if (table == nullptr) return interp.list(std::move(names));
                    names.reserve(table->size());
                    for (const AttrMap::Entry& entry : table->entries()) {
                      const std::string_view name = interp.text(entry.name);
                      const bool apart = entry.name == known(name::kAnnotations) &&
                                         args[0].as<Function>() != nullptr;
                      if (!name.starts_with('<') && !apart)
                        names.push_back(interp.str(std::string(name)));
                    }
                    return interp.list(std::move(names));
                  }),
           access("get(owner, table, name)",
                  [](Interp& interp, Arguments& args) {
                    const Name name = interp.intern(args.text(2));
                    if (args[0].as<Module>() != nullptr) {
                      Value found = interp.find_attr(args[0], name);
                      return found.empty() ? Value::not_implemented() : found;
                    }
                    const AttrMap* table = attributes_of(args[0]);
                    const Value* own = table == nullptr ? nullptr : table->find(name);
                    if (own == nullptr) return Value::not_implemented();
                    if (name == known(name::kAnnotations) && args[0].as<ClassObject>() != nullptr)
                      return annotations_of(interp, *args[0].as<ClassObject>());
                    return *own;
                  }),
           access("set(owner, table, name, value)",
                  [](Interp& interp, Arguments& args) {
                    const Name name = interp.intern(args.text(2));
                    if (auto* global = args[0].as<Module>()) {
                      global->set(name, args.take(3));
                    } else if (auto* instance = args[0].as<Instance>()) {
                      instance->set_own(name, args.take(3));
                    } else if (args[0].as<Function>() != nullptr) {
                      interp.set_attr(args[0], name, args.take(3));
                    } else if (auto* container = args[0].as<Container>()) {
                      container->set_own(name, args.take(3));
                    } else {
                      interp.type_error("'mappingproxy' object does not support item assignment");
                    }
                    return Value::none();
                  }),
           access("remove(owner, table, name)",
                  [](Interp& interp, Arguments& args) {
                    if (args[0].as<ClassObject>() != nullptr)
                      interp.type_error("'mappingproxy' object does not support item deletion");
                    const Name name = interp.intern(args.text(2));
                    if (auto* global = args[0].as<Module>()) {
                      global->set(name, {});
                      return Value::none();
                    }
                    AttrMap* table = attributes_of(args[0]);
                    if (table != nullptr) table->remove(name);
                    return Value::none();
                  }),
           // With those that names() does not list: whether any came or went.
           access("size(owner, table)", [](Interp&, Arguments& args) {
             const auto* global = args[0].as<Module>();
             const AttrMap* table = global == nullptr ? attributes_of(args[0]) : nullptr;
             const auto held =
                 global == nullptr
                     ? static_cast<std::ptrdiff_t>(table == nullptr ? 0 : table->size())
                     : std::ranges::count_if(global->entries(), [](const AttrMap::Entry& entry) {
                         return !entry.value.empty();
                       });
             return Value::integer(held);
           })}));
  // What such a table's get() and `in` find, in short: its _find() is asked where the table is of
  // another kind, or what it has not may be kept apart.
  const Object* const plain_access = module.find(in.intern("attribute_access"))->object();
  const auto find = [plain_access, owner = in.intern("_owner"), access = in.intern("_access"),
                     search = in.intern("_find"),
                     apart = in.intern("_kept_apart")](Interp& interp, Arguments& args) -> Value {
    constexpr std::size_t kPlain = 3;  // attributes of one that is of no other kind
    const auto* table = args[0].as<Instance>();
    const auto* name = args[1].as<Str>();
    if (table != nullptr && name != nullptr && table->attrs().size() == kPlain) {
      const Value* how = table->attrs().find(access);
      const Value* of = table->attrs().find(owner);
      const auto* object =
          of == nullptr || of->as<Module>() != nullptr ? nullptr : of->as<Instance>();
      if (object != nullptr && how != nullptr && how->is_object() &&
          how->object() == plain_access) {
        const Value* own = object->attrs().find(interp.intern(name->text()));
        if (own != nullptr) return *own;
        if (object->type().lookup(apart) == nullptr) return Value::not_implemented();
      }
    }
    return interp.call_method(args[0], search, {args[1]});
  };
  define(in, module, "table_get(self, key, default=None)", [find](Interp& interp, Arguments& args) {
    Value found = find(interp, args);
    return found.tag() == Tag::kNotImplemented ? args[2] : found;
  });
  define(in, module, "table_has(self, key)", [find](Interp& interp, Arguments& args) {
    return Value::boolean(find(interp, args).tag() != Tag::kNotImplemented);
  });
  const Ref<ClassObject> base = in.make_class("dict", "builtins", {in.classes().dict});
  base->allocate = [](Interp& interp, Ref<ClassObject> type) {
    return make_ref<Instance>(interp.heap(), std::move(type));
  };
  // Its objects are not dicts underneath.
  base->attrs.set(known(name::kNew), *in.classes().object->attrs.find(known(name::kNew)));
  module.set(in.intern("mapping_base"), base);
}

/// A list, dict or set of the same class with the same elements and attributes.
Value same_elements(Interp& in, const Value& what) {
  const Container& from = *what.as<Container>();
  const Ref<ClassObject> type(from.type());
  Ref<Container> copy;
  if (from.kind() == Kind::kList) {
    copy = make_ref<List>(in.heap(), static_cast<const List&>(from).items, type);
  } else if (from.kind() == Kind::kDict) {
    const auto& dict = static_cast<const Dict&>(from);
    const Ref<Dict> same = make_ref<Dict>(in.heap(), type);
    same->default_factory = dict.default_factory;
    update_dict(in, *same, what);
    copy = same;
  } else {
    in.refuse(fmt::format("copy.copy() of a {} is not supported", in.text(type->name())));
  }
  if (from.attrs() != nullptr) {
    const std::vector<AttrMap::Entry> own = from.attrs()->listed();
    for (const AttrMap::Entry& entry : own) copy->set_own(entry.name, entry.value);
  }
  return copy;
}

void fill_host(Interp& in, Module& module) {
  define(in, module, "later(name)",
         [](Interp& interp, Arguments& args) { return make_later(interp, args.text(0)); });
  define(in, module, "named_tuple(typename, field_names, defaults=None)", named_tuple);
  define(in, module, "make_dict(type, factory, items)",
         [](Interp& interp, Arguments& args) -> Value {
           const Ref<Dict> dict = make_ref<Dict>(interp.heap(), args[0].ref<ClassObject>());
           if (!args[1].is_none()) dict->default_factory = args[1];
           update_dict(interp, *dict, args[2]);
           return dict;
         });
  define(in, module, "set_factory(dict, factory)", [](Interp&, Arguments& args) {
    args.object<Dict>(0, "dict").default_factory = args[1].is_none() ? Value() : args[1];
    return Value::none();
  });
  define(in, module, "factory_of(dict)", [](Interp&, Arguments& args) {
    const Value& factory = args.object<Dict>(0, "dict").default_factory;
    return factory.empty() ? Value::none() : factory;
  });
  define(in, module, "dict_type(name)", [](Interp& interp, Arguments& args) -> Value {
    const Ref<ClassObject> type =
        interp.make_class(args.text(0), "collections", {interp.classes().dict});
    type->attrs.set(known(name::kNew), *type->lookup(known(name::kNew)));  // may be inherited from
    return type;
  });
  define(in, module, "set_construct(type, function)", [](Interp& interp, Arguments& args) {
    ClassObject& own = args.object<ClassObject>(0, "type");
    (void)args.object<Function>(1, "function");
    // A name that code cannot have by chance.
    own.attrs.set(interp.intern("(construct)"), args[1]);
    own.construct = [](Interp& now, ClassObject& type, CallArgs& given) {
      const Value* held = type.lookup(now.intern("(construct)"));
      if (held == nullptr) now.type_error("the class has lost what makes its instances");
      const Value function = *held;
      std::vector<Value> values = {Ref<ClassObject>(&type)};
      values.insert(values.end(), given.values, given.values + given.total());
      CallArgs all{values.data(), given.positional + 1, given.keywords, given.keyword_count, false};
      return now.call(function, all);
    };
    return Value::none();
  });
  define(in, module, "deepcopy(x, memo=None)", [](Interp& interp, Arguments& args) {
    const auto* memo = args[1].as<Dict>();
    const bool says = memo != nullptr && memo->table.size() > 0;
    return says ? interp.deep_copy(args[0], *memo) : interp.deep_copy(args[0]);
  });
  define(in, module, "shallow_copy(x)", [](Interp& interp, Arguments& args) -> Value {
    Value reduced = copied_by_reduce(interp, args[0], nullptr);
    if (!reduced.empty()) return reduced;
    if (args[0].as<Container>() != nullptr) return same_elements(interp, args[0]);
    if (args[0].as<Iterator>() != nullptr) {
      Value copy = copied_iterator(interp, args[0], [](const Value& item) { return item; });
      if (!copy.empty()) return copy;
    }
    auto* from = args[0].as<Instance>();
    // What C++ holds beside the attributes would not be copied.
    if (from == nullptr || from->kind() != Kind::kInstance || from->host_kind() != 0) {
      interp.type_error(fmt::format("copy.copy() of a {} is not supported: use copy.deepcopy()",
                                    interp.type_name(args[0])));
    }
    const Ref<ClassObject> type(&from->type());
    const Ref<Instance> copy = type->allocate != nullptr ? type->allocate(interp, type)
                                                         : make_ref<Instance>(interp.heap(), type);
    Value state = own_state(interp, args[0]);
    if (state.empty() && takes_state(interp, args[0]))
      state = interp.get_attr(args[0], interp.intern("__dict__"));
    if (state.empty()) {
      for (const AttrMap::Entry& entry : from->attrs().entries())
        copy->set_own(entry.name, entry.value);
    } else if (!state.is_none()) {
      give_state(interp, Value(copy), state);
    }
    return copy;
  });
  define(in, module, "collect(generation=2)", [](Interp& interp, Arguments&) {
    return Value::integer(static_cast<std::int64_t>(interp.collect_garbage()));
  });
  define(in, module, "own_attributes(cls)", [](Interp& interp, Arguments& args) -> Value {
    const Ref<Dict> out = interp.dict();
    for (const AttrMap::Entry& entry : args.object<ClassObject>(0, "class").attrs.entries())
      out->table.set(interp, interp.str(std::string(interp.text(entry.name))), entry.value);
    return out;
  });
  add_attribute_access(in, module);
  add_import_functions(in, module);
  add_file_functions(in, module);
  add_object_functions(in, module);
  add_introspection(in, module);
  add_frames(in, module);
  add_weak_references(in, module);
  define(in, module, "set_method(type, name, function)", [](Interp& interp, Arguments& args) {
    args.object<ClassObject>(0, "class").attrs.set(interp.intern(args.text(1)), args.take(2));
    return Value::none();
  });
  define(in, module, "refuse(message, hint='')", [](Interp& interp, Arguments& args) -> Value {
    interp.refuse(args.text(0), args.text(1));
  });
  define(in, module, "note(text, is_guess=False)", [](Interp& interp, Arguments& args) {
    (args.boolean(1) ? guess : note)(interp, std::string(args.text(0)));
    return Value::none();
  });
  define(in, module, "leave_to_chance(text)", [](Interp& interp, Arguments& args) {
    note(interp, std::string(kLeftToChance) + std::string(args.text(0)));
    return Value::none();
  });
  define(in, module, "takes_late_ends()",
         [](Interp& interp, Arguments&) { return Value::boolean(takes_late_ends(interp)); });
  define(in, module, "is_known(number)",
         [](Interp&, Arguments& args) { return Value::boolean(args[0].as<Unknown>() == nullptr); });
  define(in, module, "note_of_user(text)", [](Interp& interp, Arguments& args) {
    const Str* text = shown(args[0]).as<Str>();
    if (text == nullptr) args.mismatch(0, "str");
    if (is_asked_by_user(interp)) note(interp, text->text());
    return Value::none();
  });
  define(in, module, "own_attribute(cls, name)", [](Interp& interp, Arguments& args) {
    const Value* own = args.object<ClassObject>(0, "class").attrs.find(interp.intern(args.text(1)));
    return own == nullptr ? Value::not_implemented() : *own;
  });
}

/// What a function gives for a number that is not known: another, or, of a check for faults, that
/// there is none.
Value of_unknown(Interp& in, const FunctionRow& row, const Unknown& number) {
  const std::string_view name = function_name(row.signature);
  if (name.starts_with("is") && name != "isqrt") {
    const bool says = name == "isfinite" || name == "isclose";
    return Value::boolean(number.decisions().decide_check(in, says));
  }
  const bool is_whole = name == "floor" || name == "ceil" || name == "trunc";
  return number.another(in, is_whole ? Unknown::Type::kInt : Unknown::Type::kReal);
}

void fill_math(Interp& in, Module& module) {
  for (const FunctionRow& row : kMath)
    define(in, module, row.signature, [&row](Interp& interp, Arguments& args) {
      for (std::size_t i = 0; i < args.size(); ++i) {
        if (const auto* unknown = args[i].as<Unknown>()) return of_unknown(interp, row, *unknown);
      }
      return row.function(interp, args);
    });
  // A function of C becomes no method of a class's instances.
  for (const FunctionRow& row : kMath) {
    const Value* found = module.find(in.intern(function_name(row.signature)));
    found->as<Builtin>()->binds_self = false;
  }
  module.set(in.intern("pi"), Value::real(std::numbers::pi));
  module.set(in.intern("e"), Value::real(std::numbers::e));
  module.set(in.intern("tau"), Value::real(2 * std::numbers::pi));
  module.set(in.intern("inf"), Value::real(std::numeric_limits<double>::infinity()));
  module.set(in.intern("nan"), Value::real(std::numeric_limits<double>::quiet_NaN()));
}

void add_library(Interp& in) {
  in.add_module("math", fill_math);
  in.add_module("_tidemark", fill_host);
  in.add_module("builtins", [](Interp&, Module& module) {
    module.make_missing = [](Interp& interp, Module&, Name name) {
      const Value* found = interp.find_builtin(name);
      return found == nullptr ? late_builtin(interp, name) : *found;
    };
  });
  in.add_module("_regex", fill_regex);
  add_random_numbers(in);
}

}  // namespace

Python::Python(Options options) : Interp(std::move(options)) {
  add_builtins(*this);
  add_library(*this);
}

}  // namespace tidemark::lang
