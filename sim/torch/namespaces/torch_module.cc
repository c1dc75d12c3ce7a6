#include "sim/torch/namespaces/torch_module.h"

#include <limits>
#include <numbers>
#include <string_view>

#include "sim/library/library.h"
#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/op_binding.h"

namespace tidemark::torch {

using lang::Interp;
using lang::Name;
using lang::Value;

namespace {

/// What the op table has at a place ("torch", "F") are names of a module: made when they are asked
/// for.
void add_operators(Session& session, lang::Module& module, std::string_view place) {
  module.make_missing = [&session, place](Interp& in, lang::Module&, Name name) {
    return session.op_table().find(place, in.text(name));
  };
  module.list_missing = [&session, place] { return session.op_table().list(place); };
}

/// Every public name of the library's file torch/_tensor.py is a method of tensors; what C++ has
/// already stays.
void add_library_methods(Session& session) {
  static constexpr std::string_view kFile = "torch._tensor";
  for (const lang::LibraryName& each : library::all().find(kFile)->names) {
    const Name name = each.name;
    const std::string_view text = session.interp.text(name);
    if (each.kind == lang::LibraryName::Kind::kModule || text.starts_with('_')) continue;
    if (session.tensor_class->attrs.find(name) != nullptr) continue;
    session.tensor_class->attrs.set(
        name, session.interp.raw_function(text, [name](Interp& in, lang::CallArgs& args) {
          return in.call(in.get_attr(in.import(kFile), name), args);
        }));
  }
}

void fill_torch(Session& session, lang::Module& torch) {
  Interp& interp = session.interp;
  for (std::size_t i = 0; i < ops::kScalarTypes.size(); ++i) {
    const Value& dtype = session.dtypes.at(static_cast<std::uint8_t>(i));
    torch.set(interp.intern(ops::kScalarTypes[i].name), dtype);
    if (!ops::kScalarTypes[i].alias.empty())
      torch.set(interp.intern(ops::kScalarTypes[i].alias), dtype);
  }
  const auto format = [&](std::string_view name, ops::MemoryFormat value) {
    torch.set(interp.intern(name), session.formats.at(static_cast<std::uint8_t>(value)));
  };
  format("contiguous_format", ops::MemoryFormat::kContiguous);
  format("legacy_contiguous_format", ops::MemoryFormat::kContiguous);
  format("channels_last", ops::MemoryFormat::kChannelsLast);
  format("channels_last_3d", ops::MemoryFormat::kChannelsLast3d);
  format("preserve_format", ops::MemoryFormat::kPreserve);
  torch.set(interp.intern("Tensor"), session.tensor_class);
  torch.set(interp.intern("Size"), session.size_class);
  torch.set(interp.intern("dtype"), session.dtype_class);
  torch.set(interp.intern("device"), session.device_class);
  torch.set(interp.intern("memory_format"), session.memory_format_class);
  torch.set(interp.intern("OutOfMemoryError"), session.out_of_memory);
  torch.set(interp.intern("strided"), interp.str("torch.strided"));
  torch.set(interp.intern("sparse_coo"), interp.str("torch.sparse_coo"));
  torch.set(interp.intern("__version__"), interp.str(to_string(session.wheel.pytorch) + ".0"));
  torch.set(interp.intern("pi"), Value::real(std::numbers::pi));
  torch.set(interp.intern("e"), Value::real(std::numbers::e));
  torch.set(interp.intern("inf"), Value::real(std::numeric_limits<double>::infinity()));
  torch.set(interp.intern("nan"), Value::real(std::numeric_limits<double>::quiet_NaN()));
  torch.set(interp.intern("_C"), interp.import("torch._C"));
  add_operators(session, torch, "torch");
}

}  // namespace

void add_modules(Session& session) {
  Interp& interp = session.interp;
  const auto add_parameter = [&session](Interp& in, lang::Module& module) {
    module.set(in.intern("Parameter"), session.parameter_class);
  };
  interp.add_module("torch._C",
                    [&session](Interp&, lang::Module& module) { fill_torch_c(session, module); });
  interp.add_module("torch",
                    [&session](Interp&, lang::Module& module) { fill_torch(session, module); });
  interp.add_module("torch.nn", add_parameter);
  interp.add_module("torch.nn.parameter", add_parameter);
  interp.add_module("torch.nn.functional", [&session](Interp&, lang::Module& module) {
    add_operators(session, module, "F");
  });
  interp.add_module("torch.cuda",
                    [&session](Interp&, lang::Module& module) { fill_cuda(session, module); });
  add_library_methods(session);
  add_known_names(session);
}

}  // namespace tidemark::torch
