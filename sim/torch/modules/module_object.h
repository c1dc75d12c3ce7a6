#pragma once

#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

class HookedCall;

/// nn.Module's state: parameters, buffers and submodules in the order they were set, and the call
/// that runs forward. What needs no speed is in the language:
/// sim/library/torch/nn/modules/module.py.
class ModuleObject final : public lang::HostObject {
 public:
  ModuleObject(Session& session, Ref<lang::ClassObject> type)
      : HostObject(session.interp.heap(), std::move(type), kModuleKind), session_(session) {}
  ~ModuleObject() override;
  static bool is(const lang::Object& o) { return o.host_kind() == kModuleKind; }
  void traverse(lang::Visitor& visitor) const override;
  void clear() override;

  lang::Value get_missing_attr(lang::Interp& interp, lang::Name name) override;
  void store_attr(lang::Interp& interp, lang::Name name, lang::Value value) override;
  bool del_attr(lang::Interp& interp, lang::Name name) override;
  /// module(x): the arguments live until it returns.
  lang::Value call(lang::Interp& interp, lang::CallArgs& args) override;
  /// The same where a class of the user's has a __call__ of its own: nn.Module.__call__.
  lang::Value call_module(lang::Interp& interp, lang::CallArgs& args);
  /// nn.Module.__delattr__. False: no such attribute.
  bool remove_member(lang::Interp& interp, lang::Name name);
  lang::Value deep_copy(lang::Interp& interp, lang::DeepCopies& copies) override;

  /// Source: torch's Module._replicate_for_data_parallel: the attributes, no parameters, buffers or
  /// children.
  lang::Value replica();

  /// A mapping of the program's that takes the table's place (module._parameters = mapping): its
  /// __getitem__ gives the parameters from now on. None: the module's own table again.
  void replace_parameters(lang::Interp& interp, lang::Value mapping);
  [[nodiscard]] const lang::Value& own_parameters() const { return own_parameters_; }
  /// The parameters, as the program's mapping has them where there is one.
  const lang::AttrMap& parameter_table(lang::Interp& interp);
  /// Puts one into the table, and into the program's mapping where there is one.
  void set_parameter(lang::Interp& interp, lang::Name name, lang::Value value);

  /// Its path from the module that was called first, among Program::labels; 0: not known.
  [[nodiscard]] std::uint32_t label() const { return label_; }

  lang::AttrMap parameters;
  lang::AttrMap buffers;
  lang::AttrMap modules;
  std::vector<lang::Name> not_persistent;
  lang::Value pre_hooks;  ///< a dict of the language, or Empty
  lang::Value post_hooks;
  /// What gives an object for the hooks of one call's backward, or None; Empty: there were never
  /// any.
  lang::Value backward_hooks;
  bool initialised = false;

 private:
  void finalize();
  void name_tree(const std::string& path, bool is_root);
  lang::Value run_forward(lang::Interp& interp, lang::CallArgs& args);
  lang::Value run_call(lang::Interp& interp, lang::CallArgs& args);
  lang::Value call_with_hooks(lang::Interp& interp, lang::CallArgs& args);
  /// `result` and `called`: what there is when an exception ends the call.
  lang::Value call_in_hooks(lang::Interp& interp, lang::CallArgs& args, HookedCall& given,
                            lang::Value& result, std::vector<lang::Value>& called);

  Session& session_;
  lang::Value own_parameters_;  ///< Empty where there is none
  bool is_finalized_ = false;   ///< stands for one that is gone, in its __del__
  std::uint32_t label_ = 0;     ///< its path from the module that was called first; 0: not known
};

/// Adds torch._C.ModuleBase, from which the library's nn.Module is made.
void add_module_class(Session& session, lang::Module& torch_c);

}  // namespace tidemark::torch
