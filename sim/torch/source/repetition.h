#pragma once

#include <memory>

#include "sim/lang/runtime/loop.h"
#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

/// Leaves out turns of loops that would do what turns before them did: once everything that decides
/// how the run goes on is after one turn what it was after an earlier one, the sink is told how
/// often what lay between comes again, and the loop goes on behind it.
///
/// A state is written only where it may pay: something was asked of a device in the turn, an
/// earlier turn asked as much, and at least two turns are left. Turns that print, that read
/// statistics which only grow, in which a request was refused, or that run a backward function made
/// before them, are all executed; and so are those of a loop whose body looks at its variable
/// otherwise than by remainders and comparisons with what stays the same.
class Repetition final : public lang::LoopWatcher {
 public:
  /// `printed`: how much the program has printed.
  Repetition(Session& session, const std::uint64_t& printed)
      : session_(session), printed_(printed) {}
  std::unique_ptr<lang::LoopWatch> watch(const lang::RangeLoop& loop) override;

 private:
  Session& session_;
  const std::uint64_t& printed_;
};

}  // namespace tidemark::torch
