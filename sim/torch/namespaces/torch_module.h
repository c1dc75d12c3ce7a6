#pragma once

#include "sim/torch/sessions/session.h"

namespace tidemark::torch {

/// Makes torch, torch.nn, torch.nn.functional, torch.optim, torch.cuda and the others importable.
void add_modules(Session& session);

}  // namespace tidemark::torch
