#include "sim/lang/builtins/library.h"
#include "sim/lang/runtime/containers.h"
#include "sim/lang/runtime/frame.h"

/// Frames as values: what inspect.currentframe() and sys._getframe() give. A function's frame keeps
/// its variables for as long as somebody holds the frame, as CPython's does.
namespace tidemark::lang {

namespace {

void add_variable(Interp& in, Dict& to, Name name, const Value& value) {
  const auto* cell = value.as<Cell>();
  const Value& shown = cell == nullptr ? value : cell->value;
  const std::string_view text = in.text(name);
  if (!shown.empty() && !text.starts_with('.')) to.table.set(in, in.str(std::string(text)), shown);
}

/// A function's variables and those it takes from around it.
Value variables_of(Interp& in, const Code& code, const Value* slots,
                   const std::vector<Ref<Cell>>* closure) {
  const Ref<Dict> out = in.dict();
  for (std::size_t i = 0; i < code.slots.size; ++i) add_variable(in, *out, code.slots[i], slots[i]);
  for (std::size_t i = 0; closure != nullptr && i < code.frees.size; ++i)
    add_variable(in, *out, code.frees[i], (*closure)[i]);
  return out;
}

/// The frame as a value; the same one each time.
Value object_of(Interp& in, const Frame* frame) {
  while (frame != nullptr && frame->code == nullptr) frame = frame->back;
  if (frame == nullptr) return Value::none();
  if (!frame->object) frame->object = make_ref<FrameObject>(in.heap(), shared_code(*frame->code));
  return frame->object;
}

/// The frame that still runs; null: it has ended.
const Frame* running(Interp& in, const FrameObject& object) {
  const Frame* frame = in.current_frame();
  while (frame != nullptr && frame->object.get() != &object) frame = frame->back;
  return frame;
}

const FrameObject& frame_of(const Value& self) { return *self.as<FrameObject>(); }

Value get_back(Interp& in, const Value& self) {
  const FrameObject& object = frame_of(self);
  if (const Frame* frame = running(in, object)) return object_of(in, frame->back);
  return object.back ? Value(object.back) : Value::none();
}

Value get_locals(Interp& in, const Value& self) {
  const FrameObject& object = frame_of(self);
  if (const Frame* frame = running(in, object)) return locals_of(in, *frame);
  const auto* function = object.function.as<Function>();
  if (object.code == nullptr || object.locals.size() < object.code->slots.size) return in.dict();
  return variables_of(in, *object.code, object.locals.data(),
                      function == nullptr ? nullptr : &function->closure);
}

Value get_globals(Interp& in, const Value& self) {
  const FrameObject& object = frame_of(self);
  if (const Frame* frame = running(in, object)) return globals_of(in, *frame->globals);
  const auto* function = object.function.as<Function>();
  return function == nullptr ? Value(in.dict()) : globals_of(in, *function->globals);
}

Value get_line(Interp& in, const Value& self) {
  const FrameObject& object = frame_of(self);
  const Frame* frame = running(in, object);
  if (object.code == nullptr) return Value::integer(0);
  const Place at = frame == nullptr ? object.code->place : frame->at;
  return Value::integer(in.span({object.code.get(), at.begin, at.end}).line);
}

Value get_code(Interp& in, const Value& self) {
  const FrameObject& object = frame_of(self);
  const Frame* frame = running(in, object);
  if (frame != nullptr && frame->function != nullptr)
    return in.get_attr(Value(Ref<Function>(frame->function)), in.intern("__code__"));
  if (object.function.as<Function>() != nullptr)
    return in.get_attr(object.function, in.intern("__code__"));
  const Value make = in.get_attr(in.import("_code"), in.intern("Code"));
  const std::string file =
      object.code == nullptr ? std::string() : std::string(view(object.code->file->name));
  return in.call(make, {in.str(""), in.str(file), in.str("exec")});
}

constexpr PropertyRow kParts[] = {
    {"f_back", get_back},   {"f_locals", get_locals}, {"f_globals", get_globals},
    {"f_lineno", get_line}, {"f_code", get_code},
};

}  // namespace

Value globals_of(Interp& in, Module& module) {
  const Value make = in.get_attr(in.import("_attribute_tables"), in.intern("of"));
  return in.call(make, {Value(Ref<Module>(&module))});
}

Value locals_of(Interp& in, const Frame& frame) {
  const Code& code = *frame.code;
  if (code.form == Code::Form::kModule) return globals_of(in, *frame.globals);
  if (frame.class_namespace == nullptr) return variables_of(in, code, frame.slots, frame.closure);
  const Ref<Dict> out = in.dict();
  for (const AttrMap::Entry& entry : frame.class_namespace->entries())
    add_variable(in, *out, entry.name, entry.value);
  return out;
}

void add_frames(Interp& in, Module& module) {
  add_properties(in, *in.classes().frame, kParts);
  // The frame so many calls up; None beyond the last.
  define(in, module, "frame(depth)", [](Interp& interp, Arguments& args) {
    const Frame* frame = interp.current_frame();
    for (std::int64_t i = 0; frame != nullptr && (i < args.integer(0) || frame->code == nullptr);) {
      if (frame->code != nullptr) ++i;
      frame = frame->back;
    }
    return object_of(interp, frame);
  });
}

}  // namespace tidemark::lang
