// A call of a compiled function: where its graphs begin and end.

#include "sim/torch/compile/compiled_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/lang/runtime/notes.h"
#include "sim/torch/compile/live_values.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Value;
using ops::Tensor;

RunsUnderWay& runs_of(Session& session) {
  static const char kKey = 0;
  std::shared_ptr<void>& kept = session.compiled_code[&kKey];
  if (kept == nullptr) kept = std::make_shared<RunsUnderWay>();
  return *static_cast<RunsUnderWay*>(kept.get());
}

void CompiledRun::begin(ops::TensorList arguments) {
  arguments_ = std::move(arguments);
  captures_.push_back(
      std::make_unique<Capture>(session_, arguments_, backend_ != Backend::kAotEager));
  capture().breaks = this;
  capture().is_later_graph = captures_.size() > 1;
  capture().notes_calls = session_.bucket_cap > 0;
  looks_ = session_.c.looks().all;
  session_.lifted.clear();
  backwards_ = session_.backwards;
  is_capturing_ = true;
}

/// The compiled function's own frame: the outermost of the user's code; null: there is none.
const lang::Frame* CompiledRun::own_frame() const {
  const lang::Frame* own = nullptr;
  for (const lang::Frame* frame = session_.interp.current_frame();
       frame != nullptr && frame != base_; frame = frame->back) {
    if (frame->code != nullptr && !lang::Interp::is_internal(view(frame->code->file->name)))
      own = frame;
  }
  return own;
}

/// The innermost frame of the user's code: the library's own frames on top are part of the call
/// that breaks the graph.
const lang::Frame* CompiledRun::users_frame() const {
  const lang::Frame* frame = session_.interp.current_frame();
  while (frame != nullptr && frame != base_ &&
         (frame->code == nullptr || lang::Interp::is_internal(view(frame->code->file->name))))
    frame = frame->back;
  return frame;
}

/// A graph breaks in the compiled function's own code only. Broken elsewhere, what was captured is
/// nothing, and the function is called anew, with the break known. Source: Dynamo's
/// InliningInstructionTranslator.should_compile_partial_graph, fail_and_restart_analysis.
void CompiledRun::note_break(std::string_view what, const lang::Frame& own) {
  const lang::Frame* innermost = users_frame();
  if (innermost == &own && !is_in_loop(own)) return;
  const bool is_new = breaks_.add(own, *innermost);
  if (is_new && captures_.size() == 1) {
    begins_anew_ = true;
    session_.interp.raise(*session_.interp.classes().generator_exit, "the graph breaks");
  }
  lang::note(
      session_.interp,
      fmt::format("{} breaks the graph within a function that compiled code calls, or in a "
                  "loop, behind another break: the first time the graph is split right there",
                  what));
}

void CompiledRun::leave_graph(std::string_view what, const ops::TensorList& read) {
  if (!is_capturing_) return;
  const lang::Frame* own = own_frame();
  if (own != nullptr) {
    note_break(what, *own);
    own_code_ = own->code;
  }
  ++runs_of(session_).breaks_seen;
  kept_args_.clear();
  LiveValues live = live_values(session_.interp, own);
  ops::TensorList used;
  for (const auto* list : {&read, &std::as_const(live.used)}) {
    for (const Tensor& tensor : *list) {
      const auto is_it = [&](const Tensor& other) { return other.impl() == tensor.impl(); };
      if (std::none_of(used.begin(), used.end(), is_it)) used.push_back(tensor);
      std::erase_if(live.dead, is_it);
    }
  }
  compile(used, live.dead);
}

bool CompiledRun::suspend() {
  if (is_capturing_ || !is_by_frames_) return false;
  is_by_frames_ = false;
  is_suspended_ = true;
  return true;
}

void CompiledRun::resume() {
  if (is_capturing_) return;
  if (std::exchange(is_suspended_, false)) {
    is_by_frames_ = true;
    return;
  }
  ops::TensorList arguments;
  if (const lang::Frame* own = own_frame()) {
    for (std::size_t i = 0; i < own->code->slots.size; ++i)
      collect_tensors(own->slots[i], arguments);
  }
  begin(std::move(arguments));
}

bool CompiledRun::break_graph(std::string_view what) {
  if (!is_capturing_) return false;
  leave_graph(what, {});
  resume();
  return true;
}

void CompiledRun::end(const Value& value) {
  if (!is_capturing_) return;
  kept_args_.clear();
  ops::TensorList all;
  collect_results(value, all);
  compile(all, {});
}

/// A function runs as it stands; what it calls is seen.
Value CompiledRun::run(lang::Function& function, lang::CallArgs& args) {
  runs_of(session_).runs_now = &function;
  return lang::Evaluator::call_function(session_.interp, function, args);
}

Value CompiledRun::call_once() {
  if (frame_ == nullptr) return session_.interp.call(function_, args_);
  if (breaks_.is_skipped(*frame_->code)) {
    abandon();
    is_by_frames_ = true;
  }
  return run(*frame_, args_);
}

Value CompiledRun::call() {
  while (true) {
    ops::TensorList arguments;
    for (const Value& value : kept_args_) collect_tensors(value, arguments);
    begin(std::move(arguments));
    try {
      Value value = call_once();
      end(value);
      if (own_code_ != nullptr) breaks_.settle(own_code_);
      return value;
    } catch (const lang::Raised&) {
      if (!std::exchange(begins_anew_, false)) throw;
    }
    abandon();
    captures_.clear();
    for (std::size_t i = 0; i < kept_args_.size(); ++i) args_.values[i] = kept_args_[i];
  }
}

/// Nothing comes of what was captured.
void CompiledRun::abandon() {
  for (const auto& [tensor, id] : capture().inputs) Capture::forget_node(tensor);
  capture().stop();
  is_capturing_ = false;
}

/// A function of the program's own has a graph of its own, others have those of what they call.
Value CompiledRun::call_by_frames(lang::Function& function, lang::CallArgs& args) {
  const bool is_users = !lang::Interp::is_internal(view(function.code->file->name));
  if (!is_users || function.code->generator || function.code->is_async) return run(function, args);
  const Value frame = Ref<lang::Function>(&function);
  return CompiledRun(session_, backend_, sizes_, frame, args, &function).call();
}

bool CompiledRun::sees(lang::Function& function, lang::CallArgs& args, Value& result) {
  if (!is_capturing_) {
    if (!is_by_frames_) return false;
    result = call_by_frames(function, args);
    return true;
  }
  const lang::Frame* own = own_frame();
  if (own == nullptr) {
    if (!breaks_.is_skipped(*function.code)) return false;
    abandon();
    is_by_frames_ = true;
    result = run(function, args);
    return true;
  }
  // Source: Dynamo's LoggingLoggerVariable; files of the standard library are skipped.
  const std::string_view name = view(function.code->file->name);
  const bool is_logger = name.starts_with("<logging") || name.starts_with("<warnings");
  if (is_logger && session_.interp.current_frame() == users_frame()) {
    break_graph("a logger");
    return false;
  }
  if (users_frame() != own) return false;
  KnownBreaks::Kind kind = breaks_.at(*own);
  const bool is_guess = kind == KnownBreaks::Kind::kNone && captures_.size() > 1 &&
                        breaks_.may_break(*own, *function.code) && !is_in_loop(*own);
  if (is_guess) kind = KnownBreaks::Kind::kCall;
  if (kind == KnownBreaks::Kind::kNone) return false;
  {
    ops::TensorList read;
    for (std::size_t i = 0; i < args.total(); ++i) collect_tensors(args.values[i], read);
    leave_graph("a call", read);
  }
  is_by_frames_ = true;
  const std::uint64_t seen = runs_of(session_).breaks_seen;
  result = call_by_frames(function, args);
  if (is_guess && runs_of(session_).breaks_seen > seen) breaks_.add_call(*own);
  if (kind == KnownBreaks::Kind::kRest) return true;
  is_by_frames_ = false;
  resume();
  return true;
}

bool RunsUnderWay::call(lang::Function& function, lang::CallArgs& args, Value& result) {
  if (runs_now == &function) {
    runs_now = nullptr;
    return false;
  }
  return !runs.empty() && runs.back()->sees(function, args, result);
}

GraphBreaks* code_under_way(Session& session) {
  const auto& runs = runs_of(session).runs;
  return runs.empty() ? nullptr : runs.back();
}

ops::TensorList initialise_device(Session& session, const lang::CallArgs& args) {
  ops::TensorList arguments;
  for (std::size_t i = 0; i < args.positional + args.keyword_count; ++i)
    collect_tensors(args.values[i], arguments);
  const bool is_on_device =
      std::any_of(arguments.begin(), arguments.end(), [](const Tensor& t) { return t.is_cuda(); });
  if (session.has_compiled || !is_on_device) return arguments;
  session.has_compiled = true;
  const ops::LabelScope label(session.c, "init_gpu_context");
  const Tensor made = session.c.empty({1}, session.c.default_dtype, session.current_device);
  return arguments;
}

Value call_compiled(Session& session, Backend backend, ForSizes sizes, const Value& function,
                    lang::CallArgs& args) {
  const auto& under_way = runs_of(session).runs;
  const bool is_within = session.c.tracer != nullptr || !under_way.empty();
  if (is_within) return session.interp.call(function, args);
  initialise_device(session, args);
  ++session.compiled_calls;
  return CompiledRun(session, backend, sizes, function, args).call();
}

}  // namespace tidemark::torch
