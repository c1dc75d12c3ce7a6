#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/intrusive.h"
#include "sim/base/routing.h"
#include "sim/base/source.h"
#include "sim/lang/runtime/notes.h"
#include "sim/ops/tensor.h"

namespace tidemark::torch {

class Session;

/// The results of torch.autograd.grad(). A thread of autograd's holds them beside the program, and
/// lets go of them when it next gets Python's lock: at once, or as late as the next backward pass,
/// for which that thread is needed. Which it is, is chance. Source: docs/rules/autograd.md#10.
class LateGradients {
 public:
  /// A pass has given `gradients`.
  void begin(Session& session, const ops::TensorList& gradients);
  /// The next pass begins, or the program ends. Where the program dropped one of them before, and
  /// has asked for memory since, the session's notes are told that chance decides.
  void end(Session& session);
  /// The program is gone.
  void drop();

 private:
  ops::TensorList held_;  ///< to the latest end
  std::vector<Ref<ops::StorageWatch>> watched_;
  std::uint64_t requests_ = 0;  ///< of the program, when the pass had ended
  SourceSpan at_;               ///< where the program asked for them
};

/// What a run rests on, and what it does about things that nobody knows. The notes of an
/// interpreter that runs a program for torch are of this kind.
class RunNotes final : public lang::Notes {
 public:
  LateGradients late_gradients;
  /// How routers spread tokens over experts; none: nobody says.
  std::optional<Routing> routing;
};
/// Null: the interpreter runs none.
RunNotes* run_notes(const Session& session);

}  // namespace tidemark::torch
