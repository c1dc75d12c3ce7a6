#pragma once

#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

/// torch._C: what the files of sim/library need of the host. Users do not call it.
void fill_torch_c(Session& session, lang::Module& module);
/// Hooks of saved tensors, checkpointing, torch.autograd.Function and grad(): what of autograd is
/// not an operator.
void fill_autograd(Session& session, lang::Module& module);
/// Gradient accumulators with hooks, and what else c10d::Reducer has in C++.
void fill_reducer(Session& session, lang::Module& module);
/// What torch.distributed has in C++: the process's place in its job, collectives, DTensors.
void fill_distributed(Session& session, lang::Module& module);
/// What ranks send each other, for those who work out their times.
void fill_transfers(Session& session, lang::Module& module);
/// What memory is for, where the operator that asks for it does not say.
void fill_purposes(Session& session, lang::Module& module);
/// torch.cuda: memory figures, streams and events, synchronisation.
void fill_cuda(Session& session, lang::Module& module);

/// Every module of PyTorch whose names are known answers for them: what is not modelled is there
/// and is refused when it is used. So do tensors. Requires: what these have is there already.
/// (known_names.cc)
void add_known_names(Session& session);

/// Each item of a sequence, all tensors; a TypeError names what else is among them.
/// Model code can call what torch._C has: nothing there trusts what it is given.
ops::TensorList tensors_in(lang::Interp& interp, const lang::Value& sequence);
/// The first argument, called with the rest. Errors: a TypeError where there is none.
lang::Value call_first(lang::Interp& interp, const lang::CallArgs& args);

/// What torch/_routing.py needs: experts that routers choose under a stated distribution.
/// (routing.cc)
void add_routing(Session& session, lang::Module& module);

/// The functions for random numbers of the host. (random_functions.cc)
void add_random_functions(Session& session, lang::Module& module);

}  // namespace tidemark::torch
