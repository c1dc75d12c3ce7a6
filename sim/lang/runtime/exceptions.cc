#include "sim/lang/runtime/exceptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sim/base/budget.h"
#include "sim/base/bytes.h"
#include "sim/lang/runtime/frame.h"
#include "sim/lang/runtime/traceback.h"

namespace tidemark::lang {

void FrameObject::traverse(Visitor& visitor) const {
  for (const Value& value : locals) visitor.visit(value);
  visitor.visit(function);
  visitor.visit(back);
}

void FrameObject::clear() {
  drop_forward(heap(), locals);
  heap().drop(std::move(function));
  if (back) heap().drop(Value(std::move(back)));
}

void ExceptionObject::traverse(Visitor& visitor) const {
  Instance::traverse(visitor);
  for (const Value& value : args) visitor.visit(value);
  for (const TracebackEntry& entry : traceback) visitor.visit(entry.frame);
  visitor.visit(cause);
  visitor.visit(context);
}

void drop_traceback(ExceptionObject& exception) {
  std::vector<ExceptionObject::TracebackEntry> frames = std::move(exception.traceback);
  exception.traceback.clear();
  // The innermost frame goes first.
  for (ExceptionObject::TracebackEntry& entry : frames) {
    if (entry.frame) exception.heap().drop(Value(std::move(entry.frame)));
  }
}

Value traceback_of(Interp& in, const ExceptionObject& exception) {
  // Made in the library: an entry for each frame, the outermost first.
  std::vector<Value> entries;
  for (const ExceptionObject::TracebackEntry& entry : exception.traceback) {
    if (!entry.frame || entry.at.code == nullptr) continue;
    const std::int64_t line = in.span(entry.at).line;
    entries.push_back(in.tuple({Value(entry.frame), Value::integer(line)}));
  }
  if (entries.empty()) return Value::none();
  in.import("_tidemark");  // which gives frames their attributes
  return in.call(in.get_attr(in.import("_code"), in.intern("traceback_of")),
                 {in.list(std::move(entries))});
}

void ExceptionObject::clear() {
  attrs().clear(heap());
  drop_backward(heap(), args);
  drop_traceback(*this);
  heap().drop(std::move(cause));
  heap().drop(std::move(context));
}

std::string ExceptionObject::str(Interp& interp) {
  if (type().lookup(known(name::kStr)) != nullptr) return Instance::str(interp);
  if (args.empty()) return {};
  const std::size_t count = args.size();
  if (count > 1 && type().derives_from(*interp.classes().os_error)) {
    const Value number = args[0];
    const Value text = args[1];
    const Value file = count > 2 ? args[2] : Value();
    std::string out = fmt::format("[Errno {}] {}", interp.to_str(number), interp.to_str(text));
    return file.empty() ? out : out + ": " + interp.repr(file);
  }
  if (args.size() > 1) return interp.repr(interp.tuple(args));
  const bool key_error = type().derives_from(*interp.classes().key_error);
  const Value only = args[0];
  return key_error ? interp.repr(only) : interp.to_str(only);
}

std::string ExceptionObject::repr(Interp& interp) {
  if (type().lookup(known(name::kRepr)) != nullptr) return Instance::repr(interp);
  std::string out = std::string(interp.text(type().name())) + "(";
  const std::vector<Value> all = args;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) out += ", ";
    out += interp.repr(all[i]);
  }
  return out + ")";
}

Value ExceptionObject::get_missing_attr(Interp& interp, Name name) {
  switch (static_cast<std::uint32_t>(name)) {
    case name::kArgs:
      return interp.tuple(args);
    case name::kCause:
      return cause.empty() ? Value::none() : cause;
    case name::kContext:
      return context.empty() ? Value::none() : context;
    case name::kTraceback:
      return traceback_of(interp, *this);
    case name::kValue:
      if (type().derives_from(*interp.classes().stop_iteration)) {
        return args.empty() ? Value::none() : args[0];
      }
      return {};
    default:
      break;
  }
  if (interp.text(name) == "__suppress_context__") return Value::boolean(suppress_context);
  if (interp.text(name) == "code" && type().derives_from(*interp.classes().system_exit))
    return args.empty() ? Value::none() : args.size() == 1 ? args[0] : interp.tuple(args);
  if (!type().derives_from(*interp.classes().os_error)) return {};
  constexpr std::string_view kOsErrorParts[] = {"errno", "strerror", "filename"};
  for (std::size_t i = 0; i < std::size(kOsErrorParts); ++i) {
    if (interp.text(name) == kOsErrorParts[i])
      return args.size() > std::max<std::size_t>(i, 1) ? args[i] : Value::none();
  }
  return {};
}

Ref<ExceptionObject> Interp::make_exception(ClassObject& type, std::vector<Value> args) {
  Ref<ExceptionObject> exception = make_ref<ExceptionObject>(heap(), Ref<ClassObject>(&type));
  exception->args = std::move(args);
  return exception;
}

void Interp::raise(Ref<ExceptionObject> exception) {
  if (handled_ && handled_ != exception && exception->context.empty()) {
    // No cycles: an exception that is somewhere in the chain is taken out of it.
    for (ExceptionObject* link = handled_.get(); link != nullptr;) {
      auto* next = link->context.as<ExceptionObject>();
      if (next == exception.get()) link->context.reset();
      link = next == exception.get() ? nullptr : next;
    }
    exception->context = handled_;
  }
  throw Raised{std::move(exception)};
}

void Interp::raise(ClassObject& type, std::string message, std::string hint) {
  Ref<ExceptionObject> exception = make_exception(type, {str(std::move(message))});
  exception->hint = std::move(hint);
  raise(std::move(exception));
}

void Interp::type_error(std::string message, std::string hint) {
  raise(*classes_->type_error, std::move(message), std::move(hint));
}
void Interp::value_error(std::string message) { raise(*classes_->value_error, std::move(message)); }
void Interp::runtime_error(std::string message) {
  raise(*classes_->runtime_error, std::move(message));
}

void Interp::refuse(std::string message, std::string hint) {
  Location at = here();
  for (const Frame* frame = frame_; frame != nullptr; frame = frame->back) {
    if (frame->code == nullptr || is_internal(view(frame->code->file->name))) continue;
    at = {frame->code, frame->at.begin, frame->at.end};
    break;
  }
  throw InputError(Problem{span(at), {}, std::move(message), std::move(hint)});
}

void Interp::too_deep() { raise(*classes_->recursion_error, "maximum recursion depth exceeded"); }

void Interp::finalize() {
  // Where finalizing lets others go, they wait for the first step of __del__.
  const std::vector<Value> gone = std::exchange(to_finalize_, {});
  for (const Value& object : gone) {
    try {
      call_method(object, known(name::kDel));
    } catch (const Raised&) {
      continue;
    }
  }
}

void Interp::check_budget() {
  if (!to_finalize_.empty()) finalize();
  if (!pending_refusal_.empty()) refuse(pending_refusal_);
  if (is_short_of_memory_) out_of_memory(this, true);
  if (steps_ > options_.limits.steps) {
    refuse(fmt::format("the program was stopped after {} steps", options_.limits.steps),
           "does a loop never end?");
  }
  const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - began_;
  if (gone.count() > budget().seconds) {
    refuse(fmt::format("the program was stopped after {:g} seconds", budget().seconds),
           "'tidemark --max-seconds N COMMAND ...' gives it more");
  }
  constexpr std::uint64_t kBetween = 4096;  // a look at the clock costs as much as some ten steps
  last_step_ = std::min(options_.limits.steps, steps_ + kBetween);
}

void Interp::out_of_memory(void* interp, bool is_urgent) {
  auto& self = *static_cast<Interp*>(interp);
  if (!is_urgent) {
    self.is_short_of_memory_ = true;
    self.last_step_ = 0;
    return;
  }
  self.refuse(fmt::format("the program takes more than {} of the host's memory",
                          format_bytes(Bytes{budget().memory})),
              "'tidemark --max-memory SIZE COMMAND ...' gives it more");
}

Location Interp::here() const {
  if (frame_ == nullptr || frame_->code == nullptr) return {};
  return {frame_->code, frame_->at.begin, frame_->at.end};
}

SourceSpan Interp::span(const Location& location) const {
  if (location.code == nullptr) return {};
  return span_of(location.code->file->source(), {location.begin, location.end});
}

std::vector<StackEntry> Interp::stack() const {
  std::vector<StackEntry> out;
  for (const Frame* frame = frame_; frame != nullptr; frame = frame->back) {
    if (frame->code == nullptr) continue;
    out.push_back({std::string(text(frame->code->qualname)),
                   span({frame->code, frame->at.begin, frame->at.end})});
  }
  return out;
}

bool Interp::is_internal(std::string_view source_name) { return source_name.starts_with('<'); }

namespace {

/// "torch.OutOfMemoryError", "NameError".
std::string full_name(const Interp& interp, const ClassObject& type) {
  std::string name(interp.text(type.name()));
  if (type.module().empty() || type.module() == "builtins" || type.module() == "__main__")
    return name;
  return type.module() + "." + name;
}

/// "TypeError: ..." as Python's last line of a traceback has it.
std::string last_line(Interp& in, ExceptionObject& exception) {
  std::string message;
  try {
    message = exception.str(in);
  } catch (const Raised&) {
    message = "<exception str() failed>";
  }
  std::string type = full_name(in, exception.type());
  return message.empty() ? type : type + ": " + message;
}

std::string place_of(const SourceSpan& at) {
  return fmt::format("{}:{}:{}", at.source->name, at.line + at.source->first_line - 1,
                     at.column + at.source->indent);
}

/// The places that an exception went through, innermost first.
std::vector<StackEntry> places_of(Interp& in, const ExceptionObject& exception) {
  std::vector<StackEntry> entries;
  for (const ExceptionObject::TracebackEntry& entry : exception.traceback) {
    if (entry.at.code == nullptr) continue;
    entries.push_back({std::string(in.text(entry.at.code->qualname)), in.span(entry.at)});
  }
  return entries;
}

/// Those outside of Tidemark's own code; all of them where there are none.
std::vector<StackEntry> users_of(const std::vector<StackEntry>& entries) {
  std::vector<StackEntry> out;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(out),
               [](const StackEntry& e) { return !Interp::is_internal(e.at.source->name); });
  return out.empty() ? entries : out;
}

}  // namespace

UncaughtException Interp::uncaught(ExceptionObject& exception) {
  constexpr std::size_t kMostCauses = 100;  // which may go in a circle
  constexpr std::size_t kMostToldCauses = 3;
  std::vector<std::string> types;
  std::string causes;
  for (auto* each = &exception; each != nullptr && types.size() < kMostCauses;
       each = each->cause.as<ExceptionObject>()) {
    if (!types.empty() && types.size() <= kMostToldCauses) {
      const std::vector<StackEntry> places = users_of(places_of(*this, *each));
      causes += fmt::format("; caused by {}", last_line(*this, *each));
      if (!places.empty()) causes += fmt::format(" at {}", place_of(places.front().at));
    }
    types.push_back(full_name(*this, each->type()));
  }
  std::vector<StackEntry> entries = places_of(*this, exception);
  const std::vector<StackEntry> shown = users_of(entries);
  Problem problem;
  problem.message = last_line(*this, exception);
  std::string message = problem.message.substr(
      std::min(problem.message.size(), types.front().size() + std::string_view(": ").size()));
  problem.hint = exception.hint;
  if (!shown.empty()) problem.at = shown.front().at;
  if (shown.size() > 1) {
    constexpr std::size_t kMostShown = 6;
    std::string chain = fmt::format("in {}", shown.front().function);
    for (std::size_t i = 1; i < shown.size() && i <= kMostShown; ++i) {
      chain += fmt::format("{} {} in {}", i == 1 ? ", called from" : ",", place_of(shown[i].at),
                           shown[i].function);
    }
    if (shown.size() > kMostShown + 1)
      chain += fmt::format(" and {} more", shown.size() - kMostShown - 1);
    problem.hint += (problem.hint.empty() ? "" : "; ") + chain;
  }
  if (!causes.empty()) problem.hint += problem.hint.empty() ? causes.substr(2) : causes;
  return {std::move(problem), std::move(types), std::move(message), std::move(entries)};
}

Value late_builtin(Interp& interp, Name name) {
  const std::string_view text = interp.text(name);
  if (text != "ExceptionGroup" && text != "BaseExceptionGroup") return {};
  Value made = interp.get_attr(interp.import("_exception_groups"), name);
  interp.set_builtin(name, made);
  return made;
}

}  // namespace tidemark::lang
