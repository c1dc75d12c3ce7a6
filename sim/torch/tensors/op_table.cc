#include <fmt/format.h>

#include <utility>

#include "sim/base/check.h"
#include "sim/torch/tensors/dtensor_plans.h"
#include "sim/torch/tensors/op_binding.h"
#include "sim/torch/tensors/tensor_object.h"

/// The operators of torch, as callables that are made when a program asks for them.
namespace tidemark::torch {

using lang::CallArgs;
using lang::Value;

OpTable::OpTable(Session& session) : session_(session), callables_(OpIndex::entries().size()) {}

OpTable::~OpTable() = default;

DTensorPlans& OpTable::dtensor_plans() {
  if (!plans_) plans_ = std::make_unique<DTensorPlans>(session_);
  return *plans_;
}

const Value& OpTable::callable(std::size_t index, lang::Name name) {
  Callable& entry = callables_[index];
  if (entry.made.empty()) {
    entry.made = make_ref<lang::Builtin>(
        session_.interp.heap(), name, [this, index](lang::Interp&, CallArgs& args) {
          Callable& called = callables_[index];
          if (has_mode()) {
            lang::Interp& interp = session_.interp;
            return call_mode(called.made,
                             interp.tuple({args.values, args.values + args.positional}),
                             keywords_of(interp, args));
          }
          if (!called.op) {
            called.op = std::make_unique<BoundOp>(session_, index);
          }
          Value of_dtensors = called.op->dispatch(called.made, args);
          return of_dtensors.empty() ? called.op->call(args, called.made) : of_dtensors;
        });
  }
  return entry.made;
}

Value OpTable::find(std::string_view where, std::string_view name) {
  const std::size_t found = OpIndex::find(where, name);
  const bool is_known = found != OpIndex::kNone && OpIndex::is_in(found, session_.wheel.pytorch);
  return is_known ? callable(found, session_.interp.intern(name)) : Value();
}

std::vector<std::string_view> OpTable::list(std::string_view where) const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < callables_.size(); ++i) {
    const OpIndex::Entry& entry = OpIndex::entries()[i];
    if (entry.where == where && OpIndex::is_in(i, session_.wheel.pytorch))
      names.push_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string_view> OpTable::called() const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < callables_.size(); ++i) {
    if (callables_[i].op && callables_[i].op->is_on_device())
      names.push_back(OpIndex::entries()[i].name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool OpTable::is_method(std::size_t index) const {
  return OpIndex::entries()[index].where == "method" &&
         OpIndex::is_in(index, session_.wheel.pytorch);
}

void OpTable::fill(lang::ClassObject& tensor_class) {
  tensor_class_ = &tensor_class;
  tensor_class.attrs.set_late(*this, callables_.size());
}

void OpTable::fill_further(std::function<Value(lang::Name)> make, std::function<void()> make_all) {
  further_ = std::move(make);
  all_further_ = std::move(make_all);
  absent_.clear();
}

Value* OpTable::make(lang::Name name) {
  const auto place = static_cast<std::size_t>(name);
  if (place < absent_.size() && absent_[place]) return nullptr;
  Value member;
  const std::size_t found = OpIndex::find("method", session_.interp.text(name));
  if (found != OpIndex::kNone && is_method(found)) {
    member = callable(found, name);
  } else if (further_) {
    member = further_(name);
  }
  if (member.empty()) {
    if (place >= absent_.size()) absent_.resize(place + place / 2 + 1);
    absent_[place] = true;
    return nullptr;
  }
  tensor_class_->attrs.set(name, std::move(member));
  return tensor_class_->attrs.find(name);
}

void OpTable::make_all() {
  std::vector<lang::AttrMap::Entry> methods;
  for (std::size_t i = 0; i < callables_.size(); ++i) {
    if (!is_method(i)) continue;
    const lang::Name name = session_.interp.intern(OpIndex::entries()[i].name);
    methods.push_back({name, callable(i, name)});
  }
  tensor_class_->attrs.complete(std::move(methods));
  if (all_further_) all_further_();
}

Value OpTable::call_mode(const Value& function, const Value& positional, const Value& keywords) {
  /// The mode is out of the way while it answers.
  struct Aside {
    std::vector<Value>& modes;
    Value mode = std::move(modes.back());
    explicit Aside(std::vector<Value>& all) : modes(all) { modes.pop_back(); }
    ~Aside() { modes.push_back(std::move(mode)); }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;
  };
  const Aside aside(modes_);
  lang::Interp& interp = session_.interp;
  return interp.call_method(aside.mode, interp.intern("__torch_function__"),
                            {function, interp.tuple({}), positional, keywords});
}

void OpTable::release() {
  modes_.clear();
  plans_.reset();
  for (Callable& entry : callables_) entry.made.reset();
}

}  // namespace tidemark::torch
