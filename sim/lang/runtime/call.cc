#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/check.h"
#include "sim/lang/runtime/call_watch.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/function_body.h"
#include "sim/lang/runtime/generator.h"

namespace tidemark::lang {

void ValueStack::open_chunk(std::size_t count) {
  // A chunk that is too small for this reservation is passed over.
  while (chunk_ < chunks_.size() && chunks_[chunk_].size < count) ++chunk_;
  if (chunk_ == chunks_.size()) {
    constexpr std::size_t kFirst = 512;  // enough for most programs
    const std::size_t size = std::max(count, chunks_.empty() ? kFirst : kChunk);
    chunks_.push_back({std::make_unique<Value[]>(size), size});
  }
  top_ = chunks_[chunk_].values.get();
  end_ = top_ + chunks_[chunk_].size;
  ++chunk_;
}

NestedCall::NestedCall(Interp& interp) : interp_(interp) {
  interp.check_stack();
  if (interp.depth_ >= interp.options_.limits.recursion) interp.too_deep();
  ++interp.depth_;
}

NestedCall::~NestedCall() { --interp_.depth_; }

CallDepth::CallDepth(Interp& interp, Frame* frame)
    : interp_(interp), nested_(interp), previous_(interp.frame_) {
  frame->back = interp.frame_;
  interp.frame_ = frame;
}

CallDepth::~CallDepth() { interp_.frame_ = previous_; }

namespace {

// "'x'", "'x' and 'y'", "'x', 'y', and 'z'".
std::string quoted_list(Interp& in, const std::vector<Name>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += names.size() > 2 ? ", " : " ";
    if (i > 0 && i + 1 == names.size()) out += "and ";
    out += fmt::format("'{}'", in.text(names[i]));
  }
  return out;
}

[[noreturn]] void missing(Interp& in, std::string_view function, std::string_view kind,
                          const std::vector<Name>& names) {
  in.type_error(fmt::format("{}() missing {} required {} argument{}: {}", function, names.size(),
                            kind, names.size() == 1 ? "" : "s", quoted_list(in, names)));
}

[[noreturn]] void too_many(Interp& in, std::string_view function, std::size_t most,
                           std::size_t defaults, std::size_t given) {
  const std::string takes =
      defaults > 0 ? fmt::format("from {} to {}", most - defaults, most) : fmt::format("{}", most);
  const bool plural = defaults > 0 || most != 1;
  in.type_error(fmt::format("{}() takes {} positional argument{} but {} {} given", function, takes,
                            plural ? "s" : "", given, given == 1 ? "was" : "were"));
}

[[noreturn]] void unexpected_keyword(Interp& in, std::string_view function, Name name,
                                     const std::vector<std::string_view>& known_names) {
  in.type_error(
      fmt::format("{}() got an unexpected keyword argument '{}'", function, in.text(name)),
      did_you_mean(in.text(name), known_names));
}

[[noreturn]] void twice(Interp& in, std::string_view function, Name name) {
  in.type_error(fmt::format("{}() got multiple values for argument '{}'", function, in.text(name)));
}

Value taken(CallArgs& args, std::size_t i) {
  return args.movable ? std::move(args.values[i]) : args.values[i];
}

}  // namespace

void bind_arguments(Interp& in, Function& function, CallArgs& args, Value* slots) {
  const Code& code = *function.code;
  if (code.parameters == nullptr) {  // a comprehension: the iterator
    slots[0] = taken(args, 0);
    return;
  }
  const Parameters& parameters = *code.parameters;
  const std::size_t positional = parameters.positional.size;
  const std::size_t keyword_only = parameters.keyword_only.size;
  const std::size_t named = positional + keyword_only;
  const std::size_t star = named;
  const std::size_t double_star = named + (parameters.star != nullptr ? 1 : 0);
  if (parameters.double_star != nullptr) slots[double_star] = in.dict();
  const std::size_t plain = std::min(args.positional, positional);
  for (std::size_t i = 0; i < plain; ++i) slots[i] = taken(args, i);
  if (parameters.star != nullptr) {
    std::vector<Value> rest;
    for (std::size_t i = plain; i < args.positional; ++i) rest.push_back(taken(args, i));
    slots[star] = in.tuple(std::move(rest));
  }
  // A call that fails drops the keyword arguments that have no place yet first.
  const auto drop_keywords = [&](std::size_t from) {
    for (std::size_t k = from; args.movable && k < args.keyword_count; ++k) {
      args.values[args.positional + k].reset();
    }
  };
  std::size_t next = parameters.positional_only;  // keywords often come in the parameters' order
  for (std::size_t k = 0; k < args.keyword_count; ++k) {
    const Name name = args.keywords[k];
    std::size_t at = next;
    while (at < named && code.slots[at] != name) ++at;
    if (at == named) {
      for (at = parameters.positional_only; at < next && code.slots[at] != name;) ++at;
      if (at == next) at = named;
    }
    if (at < named) {
      next = at + 1;
      if (!slots[at].empty()) {
        drop_keywords(k);
        twice(in, in.text(function.qualname), name);
      }
      slots[at] = taken(args, args.positional + k);
      continue;
    }
    if (parameters.double_star == nullptr) {
      drop_keywords(k);
      for (std::size_t i = 0; i < parameters.positional_only; ++i) {
        if (code.slots[i] != name) continue;
        in.type_error(
            fmt::format("{}() got some positional-only arguments passed as keyword arguments: '{}'",
                        in.text(function.qualname), in.text(name)));
      }
      std::vector<std::string_view> candidates;
      for (std::size_t i = 0; i < named; ++i) candidates.push_back(in.text(code.slots[i]));
      unexpected_keyword(in, in.text(function.qualname), name, candidates);
    }
    static_cast<Dict*>(slots[double_star].object())
        ->table.set(in, in.str(std::string(in.text(name))), taken(args, args.positional + k));
  }
  if (args.positional > positional && parameters.star == nullptr) {
    // What has no place goes first.
    for (std::size_t i = positional; args.movable && i < args.positional; ++i)
      args.values[i].reset();
    too_many(in, in.text(function.qualname), positional, function.defaults.size(), args.positional);
  }
  const std::size_t required = positional - function.defaults.size();
  std::vector<Name> absent;
  for (std::size_t i = plain; i < required; ++i) {
    if (slots[i].empty()) absent.push_back(code.slots[i]);
  }
  if (!absent.empty()) missing(in, in.text(function.qualname), "positional", absent);
  for (std::size_t i = std::max(plain, required); i < positional; ++i) {
    if (slots[i].empty()) slots[i] = function.defaults[i - required];
  }
  for (std::size_t i = 0; i < keyword_only; ++i) {
    Value& slot = slots[positional + i];
    if (slot.empty()) slot = function.keyword_defaults[i];
    if (slot.empty()) absent.push_back(code.slots[positional + i]);
  }
  if (!absent.empty()) missing(in, in.text(function.qualname), "keyword-only", absent);
}

void Evaluator::leave(Interp& in, Frame& frame, std::size_t count) {
  if (frame.object && frame.object->use_count() > 1) {
    FrameObject& kept = *frame.object;
    kept.locals.reserve(count);
    for (std::size_t i = 0; i < count; ++i) kept.locals.push_back(std::move(frame.slots[i]));
    if (frame.function != nullptr) kept.function = Ref<Function>(frame.function);
    if (frame.back != nullptr) {
      if (!frame.back->object && frame.back->code != nullptr)
        frame.back->object = make_ref<FrameObject>(in.heap(), shared_code(*frame.back->code));
      kept.back = frame.back->object;
    }
    return;
  }
  frame.object.reset();
  for (std::size_t i = 0; i < count; ++i)
    if (!frame.slots[i].empty()) frame.slots[i].reset();
}

void Evaluator::make_cells(Interp& in, const Code& code, Value* slots) {
  for (const std::uint32_t slot : code.cells) {
    Ref<Cell> cell = make_ref<Cell>(in.heap());
    cell->value = std::move(slots[slot]);
    slots[slot] = std::move(cell);
  }
}

static thread_local constinit CallWatcher* watcher_ = nullptr;

CallWatcher* set_call_watcher(CallWatcher* watcher) { return std::exchange(watcher_, watcher); }

Value Evaluator::call_function(Interp& in, Function& function, CallArgs& args) {
  if (watcher_ != nullptr) {
    Value seen;
    if (watcher_->call(function, args, seen)) return seen;
  }
  const Code& code = *function.code;
  make_body_known(in, code, *function.globals);
  ValueStack::Span slots(*in.values_, code.slots.size);
  try {
    bind_arguments(in, function, args, slots.data());
  } catch (const Raised&) {
    slots.drop_forward();
    throw;
  }
  if (code.is_async) {
    in.refuse(fmt::format("'{}' is 'async': coroutines are not supported", in.text(code.name)));
  }
  if (code.generator) {
    std::vector<Value> own;
    own.reserve(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) own.push_back(std::move(slots[i]));
    return make_ref<FunctionGenerator>(in, Ref<Function>(&function), std::move(own));
  }
  Frame frame;
  frame.code = &code;
  frame.slots = slots.data();
  frame.globals = function.globals.get();
  frame.function = &function;
  frame.closure = &function.closure;
  frame.at = code.place;
  const CallDepth depth(in, &frame);
  make_cells(in, code, frame.slots);
  Evaluator evaluator(in, frame);
  Value result;
  try {
    if (code.form == Code::Form::kComprehension) {
      result = evaluator.comprehension_body();
    } else if (code.value != nullptr) {
      result = evaluator.eval(code.value);
    } else {
      result = evaluator.run(code.body) == Flow::kReturn ? std::move(frame.result) : Value::none();
    }
  } catch (Raised& raised) {
    evaluator.trace(*raised.exception);
    leave(in, frame, code.slots.size);
    throw;
  }
  leave(in, frame, code.slots.size);
  return result;
}

namespace {

/// Calls `body` with an evaluator of a module's own frame.
template <class Body>
Value run_at_top(Interp& in, Module& module, const Code& code, const Body& body) {
  Frame frame;
  frame.code = &code;
  frame.globals = &module;
  const CallDepth depth(in, &frame);
  Evaluator evaluator(in, frame);
  try {
    return body(evaluator);
  } catch (Raised& raised) {
    evaluator.trace(*raised.exception);
    throw;
  }
}

}  // namespace

void Evaluator::run_module_body(Interp& in, Module& module,
                                const std::shared_ptr<SyntaxTree>& tree) {
  run_statements(in, module, *tree->code, tree->body);
}

void Evaluator::run_statements(Interp& in, Module& module, const Code& code,
                               const Seq<Stmt*>& statements) {
  run_at_top(in, module, code, [&](Evaluator& evaluator) {
    evaluator.run(statements);
    return Value();
  });
}

Value Evaluator::run_expression(Interp& in, Module& module,
                                const std::shared_ptr<SyntaxTree>& tree) {
  return run_at_top(in, module, *tree->code,
                    [&](Evaluator& evaluator) { return evaluator.eval(tree->expression); });
}

namespace {

// A traceback entry for a host function that stands for Python code.
void keep_locals(Interp& in, ExceptionObject& exception, std::vector<Value> locals) {
  Ref<FrameObject> frame = make_ref<FrameObject>(in.heap(), std::shared_ptr<const Code>());
  frame->locals = std::move(locals);
  exception.traceback.push_back({std::move(frame), {}});
}

}  // namespace

Value Interp::run_as_python(std::vector<Value> locals, const std::function<Value()>& body) {
  Value result;
  try {
    result = body();
  } catch (Raised& raised) {
    keep_locals(*this, *raised.exception, std::move(locals));
    throw;
  }
  drop_forward(heap(), locals);
  return result;
}

namespace {

/// Drops a call's arguments from the first to the last, whether it succeeded or not.
class DropsForward {
 public:
  explicit DropsForward(ValueStack::Span& values) : values_(values) {}
  ~DropsForward() { values_.drop_forward(); }
  DropsForward(const DropsForward&) = delete;
  DropsForward& operator=(const DropsForward&) = delete;

 private:
  ValueStack::Span& values_;
};

/// Calls one that stands for a function of Python: an exception keeps its arguments.
Value call_as_python(Interp& in, Builtin& builtin, Arguments& arguments, ValueStack::Span& bound) {
  try {
    return builtin.function(in, arguments);
  } catch (Raised& raised) {
    std::vector<Value> locals;
    for (std::size_t i = 0; i < bound.size(); ++i) locals.push_back(std::move(bound[i]));
    keep_locals(in, *raised.exception, std::move(locals));
    throw;
  }
}

}  // namespace

Value call_builtin(Interp& in, Builtin& builtin, CallArgs& args) {
  if (builtin.raw) return builtin.raw(in, args);
  const Signature& signature = builtin.signature(in);
  const std::size_t total =
      signature.parameters.size() + (signature.star ? 1 : 0) + (signature.double_star ? 1 : 0);
  ValueStack::Span bound(in.value_stack(), total);
  bind_signature(in, signature, args, bound.data());
  Arguments arguments(in, signature, {bound.data(), total});
  const DropsForward drops(bound);
  Value result = builtin.python ? call_as_python(in, builtin, arguments, bound)
                                : builtin.function(in, arguments);
  TIDEMARK_CHECK(!result.empty(), signature.function + " gave no value");
  return result;
}

void bind_signature(Interp& in, const Signature& signature, CallArgs& args, Value* bound) {
  const std::size_t count = signature.parameters.size();
  if (args.positional == count && signature.positional_count == count && args.keyword_count == 0 &&
      !signature.star && !signature.double_star) {
    for (std::size_t i = 0; i < count; ++i) bound[i] = taken(args, i);
    return;
  }
  // Where the parameter stands among the bound values: *args and **kwargs have places of their own.
  const auto place = [&](std::size_t i) {
    return signature.star && i >= *signature.star ? i + 1 : i;
  };
  const std::size_t plain = std::min(args.positional, signature.positional_count);
  for (std::size_t i = 0; i < plain; ++i) bound[place(i)] = taken(args, i);
  if (signature.star) {
    std::vector<Value> rest;
    for (std::size_t i = plain; i < args.positional; ++i) rest.push_back(taken(args, i));
    bound[*signature.star] = in.tuple(std::move(rest));
  } else if (args.positional > signature.positional_count) {
    std::size_t defaults = 0;
    for (std::size_t i = 0; i < signature.positional_count; ++i) {
      const Signature::Parameter& parameter = signature.parameters[i];
      if (parameter.optional || !parameter.fallback.empty()) ++defaults;
    }
    too_many(in, signature.function, signature.positional_count, defaults, args.positional);
  }
  Ref<Dict> extra;
  if (signature.double_star) {
    extra = in.dict();
    bound[*signature.double_star] = extra;
  }
  for (std::size_t k = 0; k < args.keyword_count; ++k) {
    const Name name = args.keywords[k];
    std::size_t at = 0;
    while (at < count &&
           (signature.parameters[at].name != name || !signature.parameters[at].keyword)) {
      ++at;
    }
    if (at < count) {
      if (!bound[place(at)].empty()) twice(in, signature.function, name);
      bound[place(at)] = taken(args, args.positional + k);
    } else if (extra) {
      extra->table.set(in, in.str(std::string(in.text(name))), taken(args, args.positional + k));
    } else {
      std::vector<std::string_view> candidates;
      for (const Signature::Parameter& p : signature.parameters) {
        if (p.keyword) candidates.push_back(in.text(p.name));
      }
      unexpected_keyword(in, signature.function, name, candidates);
    }
  }
  std::vector<Name> absent;
  bool keyword_only = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Signature::Parameter& parameter = signature.parameters[i];
    Value& value = bound[place(i)];
    if (!value.empty() || parameter.optional) continue;
    value = parameter.fallback;
    if (!value.empty()) continue;
    keyword_only = absent.empty() && !parameter.positional;
    absent.push_back(parameter.name);
  }
  if (!absent.empty()) {
    missing(in, signature.function, keyword_only ? "keyword-only" : "positional", absent);
  }
}

Ref<Instance> allocate_instance(Interp& in, ClassObject& type) {
  if (type.allocate != nullptr) return type.allocate(in, Ref<ClassObject>(&type));
  return make_ref<Instance>(in.heap(), Ref<ClassObject>(&type));
}

Value instantiate(Interp& in, ClassObject& type, CallArgs& args) {
  if (type.construct) return type.construct(in, type, args);
  ClassObject* maker = nullptr;
  const Value* make = type.lookup(known(name::kNew), &maker);
  const bool own_new = make != nullptr && maker != in.classes().object.get();
  Value self;
  if (own_new) {
    const auto* wrapper = make->as<MethodWrapper>();
    const Value callee = wrapper == nullptr ? *make : wrapper->function;
    ValueStack::Span values(in.value_stack(), args.total() + 1);
    values[0] = Ref<ClassObject>(&type);
    for (std::size_t i = 0; i < args.total(); ++i) values[i + 1] = args.values[i];
    CallArgs with_type{values.data(), args.positional + 1, args.keywords, args.keyword_count,
                       false};
    self = in.call(callee, with_type);
    if (!in.is_instance(self, type)) return self;
  } else {
    self = allocate_instance(in, type);
  }
  if (auto* exception = self.as<ExceptionObject>()) {
    exception->args.assign(args.values, args.values + args.positional);
  }
  ClassObject* owner = nullptr;
  const Value* init = type.lookup(known(name::kInit), &owner);
  if (init == nullptr || owner == in.classes().object.get()) {
    if (args.total() > 0 && !own_new && self.as<ExceptionObject>() == nullptr) {
      in.type_error(fmt::format("{}() takes no arguments", in.text(type.name())));
    }
    return self;
  }
  ValueStack::Span values(in.value_stack(), args.total() + 1);
  values[0] = self;
  for (std::size_t i = 0; i < args.total(); ++i) values[i + 1] = args.values[i];
  CallArgs with_self{values.data(), args.positional + 1, args.keywords, args.keyword_count, false};
  const Value callee = *init;
  const Value result = in.call(callee, with_self);
  if (!result.is_none()) {
    in.type_error(fmt::format("__init__() should return None, not '{}'", in.type_name(result)));
  }
  return self;
}

namespace {

/// callee(first, *args): what a method of the class of `first` is called with.
Value call_with_first(Interp& in, const Value& callee, const Value& first, const CallArgs& args) {
  ValueStack::Span values(in.value_stack(), args.total() + 1);
  values[0] = first;
  for (std::size_t i = 0; i < args.total(); ++i) values[i + 1] = args.values[i];
  CallArgs all{values.data(), args.positional + 1, args.keywords, args.keyword_count, false};
  return in.call(callee, all);
}

/// By the metaclass's __call__, where code defines one.
Value call_class(Interp& in, ClassObject& type, CallArgs& args) {
  if (type.metaclass) [[unlikely]] {
    ClassObject* owner = nullptr;
    const Value* own = type.metaclass->lookup(known(name::kCall), &owner);
    if (own != nullptr && owner->user_defined)
      return call_with_first(in, Value(*own), Ref<ClassObject>(&type), args);
  }
  return instantiate(in, type, args);
}

}  // namespace

Value Interp::call(const Value& callee, CallArgs& args) {
  step();
  check_stack();
  if (callee.is_object()) {
    switch (callee.object()->kind()) {
      case Kind::kFunction:
        return Evaluator::call_function(*this, *static_cast<Function*>(callee.object()), args);
      case Kind::kBuiltin:
        return call_builtin(*this, *static_cast<Builtin*>(callee.object()), args);
      case Kind::kClass:
        return call_class(*this, *static_cast<ClassObject*>(callee.object()), args);
      case Kind::kBoundMethod: {
        const auto& method = *static_cast<BoundMethod*>(callee.object());
        ValueStack::Span values(*values_, args.total() + 1);
        values[0] = method.self;
        for (std::size_t i = 0; i < args.total(); ++i) values[i + 1] = args.values[i];
        const Value function = method.function;
        CallArgs with_self{values.data(), args.positional + 1, args.keywords, args.keyword_count,
                           true};
        Value result = call(function, with_self);
        values.drop_forward();
        return result;
      }
      case Kind::kInstance:
      case Kind::kHost:
      case Kind::kException: {
        Value result = static_cast<Instance*>(callee.object())->call(*this, args);
        if (!result.empty()) return result;
        break;
      }
      case Kind::kStaticMethod:
        return call(Value(static_cast<MethodWrapper*>(callee.object())->function), args);
      default: {
        const Value* own = has_code(callee) ? class_of(callee).lookup(known(name::kCall)) : nullptr;
        if (own != nullptr) return call_with_first(*this, Value(*own), callee, args);
        break;
      }
    }
  }
  type_error(fmt::format("'{}' object is not callable", type_name(callee)));
}

Value Interp::call(const Value& callee, std::vector<Value> positional) {
  CallArgs args{positional.data(), positional.size(), nullptr, 0, false};
  return call(callee, args);
}

Value Interp::call(const Value& callee, std::vector<Value> positional,
                   std::vector<std::pair<Name, Value>>
                       keywords) {  // NOLINT(performance-unnecessary-value-param): moved from
  std::vector<Name> keyword_names;
  const std::size_t count = positional.size();
  for (auto& [keyword, value] : keywords) {
    keyword_names.push_back(keyword);
    positional.push_back(std::move(value));
  }
  CallArgs args{positional.data(), count, keyword_names.data(), keyword_names.size(), false};
  return call(callee, args);
}

Value Interp::call_with(const Value& callee, const Ref<Tuple>& positional,
                        const Ref<Dict>& keywords) {
  const std::size_t count = positional ? positional->items.size() : 0;
  const std::size_t extra = keywords ? keywords->table.size() : 0;
  ValueStack::Span values(*values_, count + extra);
  for (std::size_t i = 0; i < count; ++i) values[i] = positional->items[i];
  std::vector<Name> keyword_names;
  if (keywords) {
    for (const ValueTable::Entry& entry : keywords->table.entries()) {
      if (entry.key.empty()) continue;
      values[count + keyword_names.size()] = entry.value;
      keyword_names.push_back(intern(entry.key.as<Str>()->text()));
    }
  }
  // The tuple and the dict hold the arguments, so that these copies can go to the callee.
  CallArgs args{values.data(), count, keyword_names.data(), keyword_names.size(), true};
  Value result = call(callee, args);
  values.drop_forward();
  return result;
}

Value Interp::call_method(const Value& object, Name name, CallArgs& args) {
  ValueStack::Span values(*values_, args.total() + 1);
  const Value callee = find_method(object, name, values[0]);
  const bool with_self = !values[0].empty();
  for (std::size_t i = 0; i < args.total(); ++i) values[i + 1] = args.values[i];
  CallArgs all{values.data() + (with_self ? 0 : 1), args.positional + (with_self ? 1 : 0),
               args.keywords, args.keyword_count, true};
  Value result = call(callee, all);
  values.drop_forward();
  return result;
}

Value Interp::call_method(const Value& object, Name name, std::vector<Value> positional) {
  CallArgs args{positional.data(), positional.size(), nullptr, 0, false};
  return call_method(object, name, args);
}

Value Interp::call_special(const Value& object, Name name, std::vector<Value> positional) {
  Value self;
  const Value method = find_special(object, name, self);
  if (method.empty()) return {};
  if (!self.empty()) positional.insert(positional.begin(), std::move(self));
  return call(method, std::move(positional));
}

}  // namespace tidemark::lang
