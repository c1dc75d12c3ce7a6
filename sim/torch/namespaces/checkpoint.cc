#include <algorithm>
#include <memory>

#include "sim/ops/saved_version.h"
#include "sim/torch/autograd/autograd.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;
using ops::Tensor;

namespace {

class Holder;

/// One region under torch.utils.checkpoint with use_reentrant=False: the tensors its forward would
/// have saved, as empty holders, and how to run it again. Source: torch's _CheckpointFrame;
/// docs/rules/autograd.md#9.
class CheckpointFrame final : public lang::HostObject {
 public:
  CheckpointFrame(Session& session, Ref<lang::ClassObject> type, Ref<lang::ClassObject> stop,
                  bool early_stop)
      : HostObject(session.interp.heap(), std::move(type), kCheckpointKind),
        session_(session),
        stop_(std::move(stop)),
        early_stop_(early_stop) {}
  CheckpointFrame(const CheckpointFrame&) = delete;
  CheckpointFrame& operator=(const CheckpointFrame&) = delete;
  /// The function goes first, then what was saved of the arguments, then the others, as the last
  /// references to them do in PyTorch.
  ~CheckpointFrame() override {
    run_again_.reset();
    saver_.reset();
    while (!arguments_.empty()) arguments_.pop_back();
  }
  static bool is(const lang::Object& o) { return o.host_kind() == kCheckpointKind; }
  void traverse(lang::Visitor& visitor) const override {
    HostObject::traverse(visitor);
    visitor.visit(run_again_);
    for (const Value& argument : arguments_) visitor.visit(argument);
  }
  void clear() override {
    run_again_.reset();
    arguments_.clear();
    HostObject::clear();
  }

  /// `arguments`: of the region, an Ellipsis in place of each tensor; the tensors are what `saver`
  /// saved, in order.
  void prepare(Ref<ops::Node> saver, Value run_again, std::vector<Value> arguments) {
    saver_ = std::move(saver);
    run_again_ = std::move(run_again);
    arguments_ = std::move(arguments);
  }
  void enter();
  void exit() {
    auto& hooks = session_.c.thread().pack_hooks;
    if (hooks.empty()) session_.interp.runtime_error("the region was not entered");
    hooks.pop_back();
  }
  /// Runs the region again, once for each backward pass that asks for what it saved. Gives the
  /// pass's number.
  std::int64_t recompute();
  void forget(const Holder* holder);

 private:
  Ref<ops::PackedTensor> keep_again(const Tensor& tensor, std::int64_t pass, std::size_t& next);
  /// The region's arguments again, tensors unpacked where an outer region packed them.
  std::vector<Value> saved_arguments();

  Session& session_;
  Ref<lang::ClassObject> stop_;
  Ref<ops::Node> saver_;
  Value run_again_;  ///< must not refer to this object: it dies with the last holder
  std::vector<Value> arguments_;
  std::vector<Holder*> holders_;  ///< in the order of saving; null: nobody wants it any more
  bool early_stop_;
  std::vector<std::int64_t> recomputed_;  ///< the passes for which it was run again
};

/// Stands where a tensor would have been saved.
class Holder final : public ops::PackedTensor {
 public:
  explicit Holder(Ref<CheckpointFrame> frame) : frame_(std::move(frame)) {}
  ~Holder() override { frame_->forget(this); }
  Tensor unpack() override {
    const std::int64_t pass = frame_->recompute();
    for (OfPass& each : again_) {
      if (each.pass != pass) continue;
      if (!each.tensor.defined()) {
        throw ops::OpError(
            "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
            "unpacked once. If you are calling ctx.saved_tensors in backward, make sure to do so "
            "only once.");
      }
      return std::move(each.tensor);
    }
    return {};
  }
  void keep(std::int64_t pass, Tensor tensor) { again_.push_back({pass, std::move(tensor)}); }

 private:
  /// From the recomputation until it is unpacked; of a pass that does not unpack it, as long as the
  /// node lives.
  struct OfPass {
    std::int64_t pass = 0;
    Tensor tensor;
  };
  std::vector<OfPass> again_;
  Ref<CheckpointFrame> frame_;
};

/// What recomputation saves is used from the holders: here it is kept only while its own node
/// lives.
class Plain final : public ops::PackedTensor {
 public:
  explicit Plain(Tensor kept) : tensor_(std::move(kept)) {}
  Tensor unpack() override { return tensor_; }

 private:
  Tensor tensor_;
};

void CheckpointFrame::enter() {
  session_.c.thread().pack_hooks.push_back([this](const Tensor& tensor) -> Ref<ops::PackedTensor> {
    if (OperatorWatch* watch = session_.emitter.watched_by(); watch != nullptr && tensor->storage)
      watch->saves(tensor->storage->request());
    Ref<Holder> holder = make_ref<Holder>(Ref<CheckpointFrame>(this));
    holders_.push_back(holder.get());
    return holder;
  });
}

void CheckpointFrame::forget(const Holder* holder) {
  const auto at = std::find(holders_.begin(), holders_.end(), holder);
  if (at != holders_.end()) *at = nullptr;
}

Ref<ops::PackedTensor> CheckpointFrame::keep_again(const Tensor& tensor, std::int64_t pass,
                                                   std::size_t& next) {
  const std::size_t index = next++;
  if (index < holders_.size() && holders_[index] != nullptr) {
    holders_[index]->keep(pass, ops::Context::shallow_copy(tensor));
  }
  if (early_stop_ && next == holders_.size()) session_.interp.raise(*stop_, "");
  return make_ref<Plain>(ops::Context::shallow_copy(tensor));
}

std::vector<Value> CheckpointFrame::saved_arguments() {
  std::vector<Value> values = arguments_;
  std::size_t next = 0;
  for (Value& value : values) {
    if (value.tag() != lang::Tag::kEllipsis) continue;
    if (!saver_ || next >= saver_->saved.size())
      session_.interp.runtime_error("the region's arguments are not there any more");
    const ops::SavedTensor& saved = saver_->saved[next++];
    ops::check_version(*saver_, saved);
    value = session_.wrap(saved.unpack());
  }
  return values;
}

std::int64_t CheckpointFrame::recompute() {
  ops::Thread& thread = session_.c.thread();
  // Outside a pass each tensor that is asked for has a pass of its own.
  RunningPass* running = running_pass(thread);
  if (running != nullptr && running->number == 0) running->number = ++session_.numbered_passes;
  const std::int64_t pass = running == nullptr ? ++session_.numbered_passes : running->number;
  if (std::find(recomputed_.begin(), recomputed_.end(), pass) != recomputed_.end()) return pass;
  const Ref<CheckpointFrame> self(this);
  std::size_t next = 0;
  const ops::GradMode grad(session_.c, true);
  thread.pack_hooks.push_back(
      [this, pass, &next](const Tensor& t) { return keep_again(t, pass, next); });
  const std::size_t depth = thread.pack_hooks.size();
  try {
    session_.interp.call(run_again_, saved_arguments());
  } catch (const lang::Raised& raised) {
    if (&raised.exception->type() != stop_.get()) {
      thread.pack_hooks.resize(depth - 1);
      throw;
    }
  }
  thread.pack_hooks.resize(depth - 1);
  recomputed_.push_back(pass);
  return pass;
}

/// torch.autograd.graph.saved_tensors_hooks: a pair of functions.
class UserPacked final : public ops::PackedTensor {
 public:
  UserPacked(Session& session, Value value, Value unpack_hook)
      : session_(session), value_(std::move(value)), unpack_(std::move(unpack_hook)) {}
  Tensor unpack() override {
    const Value out = session_.interp.call(unpack_, {value_});
    const auto* tensor = out.as<TensorObject>();
    if (tensor == nullptr)
      session_.interp.type_error("Output of saved tensor unpack_hook expected to be a Tensor");
    return tensor->tensor;
  }

 private:
  Session& session_;
  Value value_;
  Value unpack_;
};

}  // namespace

void add_checkpoint(Session& session, lang::Module& module) {
  Session* s = &session;
  Interp& interp = session.interp;
  const Ref<lang::ClassObject> type = interp.make_class("CheckpointFrame", "torch._C");
  const Ref<lang::ClassObject> stop = interp.make_exception_class(
      "_StopRecomputationError", "torch.utils.checkpoint", interp.classes().exception);
  type->construct = [s, stop](Interp& in, lang::ClassObject& made, lang::CallArgs& args) -> Value {
    if (args.positional != 1) in.type_error("CheckpointFrame() expects one argument");
    return make_ref<CheckpointFrame>(*s, Ref<lang::ClassObject>(&made), stop,
                                     in.truth(args.values[0]));
  };
  const auto method = [&](std::string_view signature, lang::HostFunction body) {
    type->attrs.set(interp.intern(lang::function_name(signature)),
                    interp.function(signature, std::move(body)));
  };
  method("prepare(self, saver, run_again, arguments)", [](Interp& in, Arguments& a) {
    a.object<CheckpointFrame>(0, "CheckpointFrame")
        .prepare(a.object<TensorObject>(1, "Tensor").tensor->grad_fn, a[2], in.unpack(a[3]));
    return Value::none();
  });
  method("enter(self)", [](Interp&, Arguments& a) {
    a.object<CheckpointFrame>(0, "CheckpointFrame").enter();
    return Value::none();
  });
  method("exit(self)", [](Interp&, Arguments& a) {
    a.object<CheckpointFrame>(0, "CheckpointFrame").exit();
    return Value::none();
  });
  module.set(interp.intern("CheckpointFrame"), type);

  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(interp.intern(lang::function_name(signature)),
               interp.function(signature, std::move(body)));
  };
  add("push_saved_tensors_hooks(pack_hook, unpack_hook)", [s](Interp&, Arguments& a) {
    s->c.thread().pack_hooks.push_back(
        [s, pack = a[0], unpack = a[1]](const Tensor& tensor) -> Ref<ops::PackedTensor> {
          // The hook sees the tensor itself, a parameter as a parameter, and records nothing.
          // Source: torch's SavedVariable::set_hooks_and_pack_data.
          const ops::GradMode grad(s->c, false);
          Value packed = s->interp.call(pack, {s->wrap(tensor)});
          return make_ref<UserPacked>(*s, std::move(packed), unpack);
        });
    return Value::none();
  });
  add("pop_saved_tensors_hooks()", [s](Interp& in, Arguments&) {
    if (s->c.thread().pack_hooks.empty()) in.runtime_error("there are no hooks to take away");
    s->c.thread().pack_hooks.pop_back();
    return Value::none();
  });
}

}  // namespace tidemark::torch
