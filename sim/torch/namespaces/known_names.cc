#include "sim/library/known_names.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/tensors/op_binding.h"

namespace tidemark::torch {

using lang::Arguments;
using lang::Interp;
using lang::Value;
using library::KnownName;
using library::KnownNames;

namespace {

constexpr std::string_view kOwnerOfMembers = "torch.Tensor";

/// Backends that a CUDA wheel has not: their functions raise PyTorch's own error, which a program
/// may handle.
bool is_absent_backend(std::string_view owner) {
  return owner == "torch.xpu" || owner == "torch.mps" || owner == "torch.mtia";
}

bool is_class_name(std::string_view name) { return name.front() >= 'A' && name.front() <= 'Z'; }

/// What stands for a name that PyTorch has and the library does not: it can be named and handed on,
/// and is refused when it is used.
Value stand_in(Interp& interp, const KnownNames& owner, const KnownName& known) {
  if (known.kind == KnownName::Kind::kNone) return Value::none();
  const std::string_view module = view(owner.owner);
  const std::string_view name = interp.text(known.name);
  if (is_absent_backend(module) && known.kind == KnownName::Kind::kCode && !is_class_name(name)) {
    const Value failing =
        interp.get_attr(interp.import("torch._absent_device"), interp.intern("failing"));
    return interp.call(failing, {interp.str(std::string(module)), interp.str(std::string(name))});
  }
  const Value make = interp.get_attr(interp.import("_placeholders"), interp.intern("make_known"));
  return interp.call(make, {interp.str(fmt::format("{}.{}", module, name)),
                            Value::boolean(known.kind == KnownName::Kind::kValue)});
}

/// A name of tensors, as a member of their class.
Value member_of(Session& session, const KnownNames& known, const KnownName& each) {
  Interp& interp = session.interp;
  const std::string_view text = interp.text(each.name);
  if (each.kind == KnownName::Kind::kCode) {
    return interp.raw_function(text, [text](Interp& in, lang::CallArgs&) -> Value {
      in.refuse(fmt::format("Tensor.{} is not modelled", text), kWayOut);
    });
  }
  const Value get = interp.raw_function(
      text, [&known, &each](Interp& in, lang::CallArgs&) { return stand_in(in, known, each); });
  return make_ref<lang::Property>(interp.heap(), get, Value::none(), Value::none());
}

/// The names of a tensor that no class of it has yet.
void add_members(Session& session, const KnownNames& known, std::uint8_t release) {
  for (const KnownName& each : known.names) {
    if (session.tensor_class->attrs.find(each.name) != nullptr) continue;
    if (known.find(each.name, release) != &each) continue;
    session.tensor_class->attrs.set(each.name, member_of(session, known, each));
  }
}

/// What the library's loader and dir() ask.
void fill_known_names(lang::Interp& interp, lang::Module& module, std::uint8_t release) {
  lang::define(interp, module, "member(owner, name)", [release](Interp& in, Arguments& args) {
    const KnownNames* known = library::known_names(args.text(0));
    const KnownName* found =
        known == nullptr ? nullptr : known->find(in.intern(args.text(1)), release);
    return found == nullptr ? Value::not_implemented() : stand_in(in, *known, *found);
  });
  lang::define(interp, module, "names(owner)", [release](Interp& in, Arguments& args) {
    const KnownNames* known = library::known_names(args.text(0));
    std::vector<Value> names;
    if (known == nullptr) return in.list(std::move(names));
    for (const KnownName& each : known->names) {
      if (known->find(each.name, release) == &each)
        names.push_back(in.str(std::string(in.text(each.name))));
    }
    return in.list(std::move(names));
  });
}

}  // namespace

void add_known_names(Session& session) {
  const std::uint8_t release = session.wheel.pytorch.minor;
  session.interp.add_module("_known_names", [release](Interp& interp, lang::Module& module) {
    fill_known_names(interp, module, release);
  });
  const KnownNames& known = *library::known_names(kOwnerOfMembers);
  session.op_table().fill_further(
      [&session, &known, release](lang::Name name) {
        const KnownName* found = known.find(name, release);
        return found == nullptr ? Value() : member_of(session, known, *found);
      },
      [&session, &known, release] { add_members(session, known, release); });
}

}  // namespace tidemark::torch
