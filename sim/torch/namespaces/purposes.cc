#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sim/lang/runtime/rank_value.h"
#include "sim/torch/modules/module_object.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/tensor_object.h"

/// What memory is for, where the operator that asks for it does not say: labels for people.
namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;
using ops::Tensor;

void fill_purposes(Session& session, lang::Module& module) {
  Session* s = &session;
  const auto add = [&](std::string_view signature, lang::HostFunction body) {
    module.set(session.interp.intern(lang::function_name(signature)),
               session.interp.function(signature, std::move(body)));
  };
  // The tensor's memory is for `purpose` of a module, whose path stands before it where it is
  // known, and a parameter's name behind it. `module` may be None.
  add("name_memory(tensor, module, purpose, name='')", [s](Interp&, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    const Value& purpose = lang::shown(a[2]);
    const auto* text = purpose.as<lang::Str>();
    if (text == nullptr || !tensor->storage || !tensor.device().is_cuda()) return Value::none();
    const auto* of = a[1].as<ModuleObject>();
    const auto* name = lang::shown(a[3]).as<lang::Str>();
    s->emitter.name_memory(tensor->storage->request(), of == nullptr ? 0 : of->label(),
                           name == nullptr ? std::string_view() : name->text(), text->text());
    return Value::none();
  });
  // The same of the module whose forward runs, if any does.
  add("name_here(tensor, purpose)", [s](Interp&, Arguments& a) {
    const Tensor& tensor = a.object<TensorObject>(0, "Tensor").tensor;
    if (tensor->storage && tensor.device().is_cuda())
      s->emitter.name_memory(tensor->storage->request(), s->c.module_label, {}, a.text(1));
    return Value::none();
  });
  // From here on operators are those of `part`, which stands before their modules' paths; None: of
  // the whole program.
  add("begin_part(part)", [s](Interp&, Arguments& a) {
    const Value& part = lang::shown(a[0]);
    const auto* text = part.as<lang::Str>();
    s->emitter.begin_part(text == nullptr ? std::string_view() : text->text());
    return Value::none();
  });
}

}  // namespace tidemark::torch
