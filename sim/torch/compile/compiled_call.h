#pragma once

#include "sim/lang/runtime/objects.h"
#include "sim/torch/compile/known_code.h"
#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

class GraphBreaks;

/// What torch.compile's backend makes of captured code.
enum class Backend : std::uint8_t { kAotEager, kInductor, kInductorGraphs };

/// A call of a compiled function: captured, cut into a forward and a backward pass, and the first
/// of them run. The code is captured at every call, so that what it does besides happens each time,
/// as PyTorch has it. Errors: as the code's; the program is refused where it does what is not
/// modelled. Source: docs/compile.md.
lang::Value call_compiled(Session& session, Backend backend, ForSizes sizes,
                          const lang::Value& function, lang::CallArgs& args);

/// The tensors that compiled code is called with. The first compilation of a process makes one, so
/// that the device is there. Source: torch's fake_tensor.init_gpu_context.
ops::TensorList initialise_device(Session& session, const lang::CallArgs& args);

/// The innermost call of compiled code; null: there is none.
GraphBreaks* code_under_way(Session& session);

/// torch._C.call_compiled(backend, dynamic, function, *args, **kwargs), and what else compiling
/// has. (namespaces/compiling.cc)
void add_compiling(Session& session, lang::Module& module);

}  // namespace tidemark::torch
