#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;

namespace {

/// What a checkpointed region's first run keeps of its operators' results, by operator, for the
/// second run to take in order. Source: torch.utils.checkpoint's _CachingTorchDispatchMode and
/// _CachedTorchDispatchMode.
class KeptResults final : public lang::HostObject, public OperatorWatch {
 public:
  /// `decide(operator, tensors, is_again)`: whether its results are kept.
  KeptResults(Session& session, Ref<lang::ClassObject> type, Value decide)
      : HostObject(session.interp.heap(), std::move(type), kKeptResultsKind),
        session_(session),
        decide_(std::move(decide)) {}
  /// As a dict of lists of tuples: by operator in the order of first use, the last of a list first.
  ~KeptResults() override {
    for (auto& [op, calls] : calls_) {
      for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
        std::reverse(call->begin(), call->end());
        let_go(*call);
      }
    }
  }
  static bool is(const lang::Object& o) { return o.host_kind() == kKeptResultsKind; }
  void traverse(lang::Visitor& visitor) const override {
    HostObject::traverse(visitor);
    visitor.visit(decide_);
  }
  void clear() override {
    decide_.reset();
    HostObject::clear();
  }

  void enter(bool is_again) {
    outer_ = session_.emitter.watched_by();
    is_again_ = is_again;
    session_.emitter.watch(this);
  }
  void exit() {
    end();
    session_.emitter.watch(outer_);
  }

  void begins(std::string_view op, const std::vector<const ops::Tensor*>& inputs) override {
    if (op == "AccumulateGrad" || is_deciding_) return;
    end();
    std::vector<Value> tensors;
    tensors.reserve(inputs.size());
    for (const ops::Tensor* input : inputs) tensors.push_back(session_.wrap(*input));
    is_deciding_ = true;
    Interp& interp = session_.interp;
    const Value kept = interp.call(
        decide_,
        {interp.str(std::string(op)), interp.tuple(std::move(tensors)), Value::boolean(is_again_)});
    is_deciding_ = false;
    if (!interp.truth(kept)) return;
    op_ = op;
    if (!is_again_) {
      is_keeping_ = true;
      return;
    }
    if (calls_of(op_).empty())
      interp.runtime_error(op_ + " encountered during backward, but not found in storage");
    is_answering_ = true;
  }
  void ends() override {
    if (!is_deciding_) end();
  }
  std::optional<ops::RequestNumber> answer(Bytes bytes) override {
    if (!is_answering_) return std::nullopt;
    if (!has_taken_) take();
    for (std::size_t i = 0; i < under_way_.size(); ++i) {
      if (under_way_[i].bytes != bytes) continue;
      const ops::RequestNumber request = under_way_[i].request;
      under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(i));
      return request;
    }
    return ops::kNoMemory;
  }
  [[nodiscard]] bool is_answering() const override { return is_answering_; }
  void made(ops::RequestNumber request, Bytes bytes) override {
    if (is_keeping_) under_way_.push_back({request, bytes});
  }
  void saves(ops::RequestNumber request) override {
    for (Block& block : under_way_) {
      if (is_keeping_ && block.request == request) hold(block);
    }
  }
  void released(ops::RequestNumber request) override {
    std::erase_if(under_way_, [request](const Block& block) { return block.request == request; });
  }

 private:
  struct Block {
    ops::RequestNumber request;
    Bytes bytes;
    bool is_held = false;
  };
  using Memory = std::vector<Block>;

  std::vector<Memory>& calls_of(const std::string& op) {
    for (auto& [name, calls] : calls_) {
      if (name == op) return calls;
    }
    return calls_.emplace_back(op, std::vector<Memory>()).second;
  }
  /// What was kept of the operator's next call. One that ends before it asks for memory, since
  /// nothing behind what it saves is wanted, leaves it where it is.
  void take() {
    std::vector<Memory>& calls = calls_of(op_);
    under_way_ = std::move(calls.front());
    calls.erase(calls.begin());
    has_taken_ = true;
  }
  void hold(Block& block) {
    if (!block.is_held) session_.emitter.hold(block.request);
    block.is_held = true;
  }

  /// The operator under way has ended: what is left of its memory are its results.
  void end() {
    Memory left = std::exchange(under_way_, {});
    if (is_keeping_) {
      for (Block& block : left) hold(block);
      calls_of(op_).push_back(std::move(left));
    } else {
      let_go(left);
    }
    is_keeping_ = is_answering_ = has_taken_ = false;
  }
  void let_go(const Memory& memory) {
    for (const Block& block : memory) session_.emitter.release(block.request);
  }

  Session& session_;
  Value decide_;
  OperatorWatch* outer_ = nullptr;
  std::vector<std::pair<std::string, std::vector<Memory>>> calls_;
  std::string op_;
  Memory under_way_;
  bool is_again_ = false;
  bool is_keeping_ = false;
  bool is_answering_ = false;
  bool has_taken_ = false;
  bool is_deciding_ = false;
};

}  // namespace

void add_kept_results(Session& session, lang::Module& module) {
  Session* s = &session;
  Interp& interp = session.interp;
  const Ref<lang::ClassObject> type = interp.make_class("KeptResults", "torch._C");
  const auto method = [&](std::string_view signature, lang::HostFunction body) {
    type->attrs.set(interp.intern(lang::function_name(signature)),
                    interp.function(signature, std::move(body)));
  };
  method("enter(self, is_again)", [](Interp&, Arguments& a) {
    a.object<KeptResults>(0, "KeptResults").enter(a.boolean(1));
    return Value::none();
  });
  method("exit(self)", [](Interp&, Arguments& a) {
    a.object<KeptResults>(0, "KeptResults").exit();
    return Value::none();
  });
  module.set(interp.intern("KeptResults"),
             interp.function("KeptResults(decide)", [s, type](Interp&, Arguments& a) -> Value {
               return make_ref<KeptResults>(*s, type, a[0]);
             }));
}

}  // namespace tidemark::torch
