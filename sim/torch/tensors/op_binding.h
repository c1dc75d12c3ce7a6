#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ops/number_range.h"
#include "sim/ops/registry.h"
#include "sim/ops/values/rule.h"
#include "sim/torch/tensors/op_index.h"
#include "sim/torch/tensors/op_signature.h"
#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

class DTensorPlans;

/// The overloads of one operator as one callable of the language.
class BoundOp {
 public:
  /// `index`: its position in OpIndex::entries(). Requires: the release has it.
  BoundOp(Session& session, std::size_t index)
      : session_(session),
        index_(index),
        name_(OpIndex::entries()[index].name),
        defs_(OpIndex::overloads(index, session.wheel.pytorch)) {}
  /// Brings the arguments to a signature, runs the operator, gives its result. The first overload
  /// that fits is taken. Errors: TypeError with every signature when none fits; as
  /// Session::guarded.
  /// `callable`: what programs know the operator as; an argument that is none of its own, whose
  /// class has a __torch_function__, is asked for what it makes of the call.
  lang::Value call(lang::CallArgs& args, const lang::Value& callable);
  /// The same, of DTensors: what torch.distributed.tensor makes of it; Empty where no argument is
  /// one, or this rank's parts are meant.
  lang::Value dispatch(const lang::Value& callable, const lang::CallArgs& args) const;
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Whether a call of it may have asked a device for memory: not, where all its results lie on the
  /// host.
  [[nodiscard]] bool is_on_device() const { return is_on_device_; }

 private:
  struct Overload {
    const ops::OpDef* def;
    std::vector<Parameter> parameters;
    bool takes_tensors;        ///< any number of them, as arguments of their own
    std::size_t generator_at;  ///< which parameter says where random numbers come from
  };
  bool bind(const Overload& overload, lang::CallArgs& args, std::vector<ops::Argument>& out,
            std::string* why, Integers integers = Integers::kPlain) const;
  /// The first overload that takes the arguments, which become `out`; null: none.
  const Overload* fitting(lang::CallArgs& args, std::vector<ops::Argument>& out, std::string* why);
  /// Reads the signatures, at the first call. Requires: well-formed ones (InternalError otherwise:
  /// the text is ours).
  void parse();
  /// The call with `out`, which the result is written into. Errors: refusals by name.
  lang::Value call_into(lang::CallArgs& args, const lang::Value& out);

  /// What the first __torch_function__ of the arguments gives; Empty: there is none.
  [[nodiscard]] lang::Value ask_arguments(const lang::Value& callable,
                                          const lang::CallArgs& args) const;
  /// Where a keyword of the call is known to a later release: since when.
  [[nodiscard]] std::string hint_of_later(const lang::CallArgs& args) const;

  Session& session_;
  std::size_t index_;
  std::string name_;
  std::vector<const ops::OpDef*> defs_;
  std::vector<Overload> overloads_;  ///< of defs_, once parsed
  bool has_out_ = false;             ///< an overload names out= itself
  bool is_on_device_ = false;
  const ops::WrittenNumbers* written_ = nullptr;
  const ops::ValueRule* rule_ = nullptr;  ///< of its numbers, once parsed
};

/// A call's keywords as a dict of the language.
lang::Value keywords_of(lang::Interp& interp, const lang::CallArgs& args);

/// One session's callables of the op table. An operator's callable is made when it is first looked
/// up, what it needs for its arguments when it is first called.
class OpTable final : lang::LateMembers {
 public:
  explicit OpTable(Session& session);
  ~OpTable();
  /// The callable for torch.NAME, F.NAME or x.NAME; Empty when there is none. `where`: "torch",
  /// "F", "method". Requires, of its calls: the table lives.
  lang::Value find(std::string_view where, std::string_view name);
  /// All names of one place, sorted.
  [[nodiscard]] std::vector<std::string_view> list(std::string_view where) const;
  /// The operators that were called with or for tensors of a device, each once, sorted by name.
  [[nodiscard]] std::vector<std::string_view> called() const;
  /// The methods of tensors become members of the class, each when it is asked for.
  void fill(lang::ClassObject& tensor_class);
  /// What tensors have beside operators. `make`: Empty when there is nothing of the name.
  /// `make_all`: sets in the class what it does not have yet.
  void fill_further(std::function<lang::Value(lang::Name)> make, std::function<void()> make_all);
  /// What operators on DTensors do, once it has been worked out.
  DTensorPlans& dtensor_plans();
  /// Lets go of every callable.
  void release();

  /// From now on an operator asks its arguments whether their class, one that inherits from
  /// torch.Tensor, has a __torch_function__.
  void watch_subclasses() { has_subclasses_ = true; }
  [[nodiscard]] bool asks_subclasses() const { return has_subclasses_ && as_plain_ == 0; }
  /// For as long as it lives such tensors are tensors like others.
  class AsPlain {
   public:
    explicit AsPlain(OpTable& table) : table_(table) { ++table_.as_plain_; }
    ~AsPlain() { --table_.as_plain_; }
    AsPlain(const AsPlain&) = delete;
    AsPlain& operator=(const AsPlain&) = delete;

   private:
    OpTable& table_;
  };
  /// The same between two calls of a program's.
  void take_as_plain(int change) { as_plain_ += change; }

  /// From now on a call of an operator goes to the object's __torch_function__ (a
  /// torch.overrides.TorchFunctionMode), which is not asked while it answers.
  void enter_mode(lang::Value mode) { modes_.push_back(std::move(mode)); }
  void leave_mode() { modes_.pop_back(); }
  [[nodiscard]] bool has_mode() const { return !modes_.empty(); }
  /// What the last of them makes of a call. Requires: has_mode().
  lang::Value call_mode(const lang::Value& function, const lang::Value& positional,
                        const lang::Value& keywords);

 private:
  struct Callable {
    lang::Value made;
    std::unique_ptr<BoundOp> op;  ///< once called
  };
  /// `name`: the entry's.
  const lang::Value& callable(std::size_t index, lang::Name name);
  [[nodiscard]] bool is_method(std::size_t index) const;
  lang::Value* make(lang::Name name) override;
  void make_all() override;

  Session& session_;
  std::vector<Callable> callables_;  ///< beside the index's entries
  std::vector<lang::Value> modes_;
  bool has_subclasses_ = false;
  int as_plain_ = 0;
  lang::ClassObject* tensor_class_ = nullptr;
  std::function<lang::Value(lang::Name)> further_;
  std::function<void()> all_further_;
  std::vector<bool> absent_;             ///< by name: tensors have none
  std::unique_ptr<DTensorPlans> plans_;  ///< once asked for
};

/// What an operator gave, as a value.
lang::Value to_value(Session& session, ops::OpResult result);

}  // namespace tidemark::torch
