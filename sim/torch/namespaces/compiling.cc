// What torch.compile and checkpointing ask of compiled code.

#include <string>
#include <string_view>
#include <vector>

#include "sim/torch/compile/capture.h"
#include "sim/torch/compile/compiled_call.h"
#include "sim/torch/compile/graphed_pass.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Value;
using ops::Tensor;

namespace {

/// As torch.utils.checkpoint's CheckpointPolicy numbers them.
Capture::Fate fate_of(std::int64_t policy) {
  return policy == 0   ? Capture::Fate::kKept
         : policy == 1 ? Capture::Fate::kFree
                       : Capture::Fate::kComputedAgain;
}

}  // namespace

void add_compiling(Session& session, lang::Module& module) {
  module.set(session.interp.intern("call_compiled"),
             session.interp.raw_function(
                 "call_compiled", [s = &session](lang::Interp& in, lang::CallArgs& args) -> Value {
                   if (args.positional < 3) in.type_error("expected a function to call");
                   const auto* name = args.values[0].as<lang::Str>();
                   const std::string_view text =
                       name != nullptr ? std::string_view(name->text()) : "";
                   const Backend backend = text == "inductor"          ? Backend::kInductor
                                           : text == "inductor graphs" ? Backend::kInductorGraphs
                                                                       : Backend::kAotEager;
                   const ForSizes sizes = args.values[1].is_none()   ? ForSizes::kAutomatic
                                          : in.truth(args.values[1]) ? ForSizes::kOthersToo
                                                                     : ForSizes::kOwn;
                   const Value function = args.values[2];
                   lang::CallArgs rest{args.values + 3, args.positional - 3, args.keywords,
                                       args.keyword_count, false};
                   return call_compiled(*s, backend, sizes, function, rest);
                 }));
  const auto region = [&](std::string_view name, std::string_view signature, bool begins) {
    module.set(
        session.interp.intern(name),
        session.interp.function(signature, [s = &session, begins](lang::Interp&, lang::Arguments&) {
          auto* capture = dynamic_cast<Capture*>(s->c.tracer);
          if (capture == nullptr) return Value::boolean(false);
          if (begins) return Value::boolean(capture->begin_region());
          capture->end_region();
          return Value::boolean(true);
        }));
  };
  module.set(session.interp.intern("initialise_device"),
             session.interp.raw_function(
                 "initialise_device", [s = &session](lang::Interp&, lang::CallArgs& args) -> Value {
                   initialise_device(*s, args);
                   return Value::none();
                 }));
  module.set(session.interp.intern("set_bucket_cap"),
             session.interp.function("set_bucket_cap(cap)",
                                     [s = &session](lang::Interp&, lang::Arguments& a) {
                                       const Bytes before = s->bucket_cap;
                                       s->bucket_cap = static_cast<Bytes>(a.integer(0));
                                       return Value::integer(static_cast<std::int64_t>(before));
                                     }));
  // Between these a program runs as eager has it: leave_graph tells whether it was captured before.
  module.set(session.interp.intern("leave_graph"),
             session.interp.function(
                 "leave_graph(what)", [s = &session](lang::Interp&, lang::Arguments& a) {
                   GraphBreaks* code = code_under_way(*s);
                   const bool leaves = code != nullptr && code->is_capturing();
                   if (leaves) code->leave_graph(a.text(0), {});
                   const bool waits = !leaves && code != nullptr && code->suspend();
                   return Value::boolean(leaves || waits);
                 }));
  module.set(
      session.interp.intern("enter_graph"),
      session.interp.function("enter_graph()", [s = &session](lang::Interp&, lang::Arguments&) {
        if (GraphBreaks* code = code_under_way(*s)) code->resume();
        return Value::none();
      }));
  add_graphed_passes(session, module);
  // What PyTorch's compiler sees as one call, though it is several here.
  const auto whole_call = [&](std::string_view name, std::string_view signature, bool begins) {
    module.set(
        session.interp.intern(name),
        session.interp.function(signature, [s = &session, begins](lang::Interp&, lang::Arguments&) {
          if (auto* capture = dynamic_cast<Capture*>(s->c.tracer))
            begins ? capture->begin_whole_call() : capture->end_whole_call();
          return Value::none();
        }));
  };
  whole_call("begin_whole_call", "begin_whole_call()", true);
  whole_call("end_whole_call", "end_whole_call()", false);
  region("begin_checkpointed", "begin_checkpointed()", true);
  region("end_checkpointed", "end_checkpointed()", false);
  // DTensors find sizes by fake tensors, the first of which meets no device behind it: none is
  // asked for when code is compiled later. Source: torch's fake_tensor.init_gpu_context.
  module.set(session.interp.intern("note_fake_tensors"),
             session.interp.function("note_fake_tensors()",
                                     [s = &session](lang::Interp&, lang::Arguments&) {
                                       s->has_compiled = true;
                                       return Value::none();
                                     }));
  // Of the checkpointed code under way: what becomes of each operator's results. False: nothing is
  // compiled.
  module.set(
      session.interp.intern("set_policy"),
      session.interp.function(
          "set_policy(policy)", [s = &session](lang::Interp&, lang::Arguments& a) {
            auto* capture = dynamic_cast<Capture*>(s->c.tracer);
            if (capture == nullptr) return Value::boolean(false);
            capture->set_policy([s, policy = Value(a[0])](std::string_view op,
                                                          const std::vector<const Tensor*>& reads) {
              std::vector<Value> tensors;
              tensors.reserve(reads.size());
              for (const Tensor* read : reads) tensors.push_back(s->wrap(*read));
              lang::Interp& in = s->interp;
              const Value chosen =
                  in.call(policy, {in.str(std::string(op)), in.tuple(std::move(tensors))});
              return fate_of(chosen.as_int());
            });
            return Value::boolean(true);
          }));
  module.set(
      session.interp.intern("is_compiling"),
      session.interp.function("is_compiling()", [s = &session](lang::Interp&, lang::Arguments&) {
        return Value::boolean(s->c.tracer != nullptr);
      }));
}

}  // namespace tidemark::torch
