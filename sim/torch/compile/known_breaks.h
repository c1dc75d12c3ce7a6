#pragma once

#include <cstdint>
#include <set>
#include <tuple>

#include "sim/lang/runtime/frame.h"

namespace tidemark::torch {

/// Where graphs have broken within functions that compiled code calls, and in loops: known once,
/// kept with the session. Source: Dynamo's SpeculationLog, which its restarts read.
class KnownBreaks {
 public:
  enum class Kind : std::uint8_t {
    kNone,
    kCall,  ///< the call runs as it stands, another graph begins behind it
    kRest,  ///< no call breaks the graph: from there on the function runs as it stands
  };

  /// Notes a break: `own` is the compiled function's frame, `innermost` where it broke. False: it
  /// was known.
  bool add(const lang::Frame& own, const lang::Frame& innermost);
  /// What becomes of a function that compiled code calls where `own` stands.
  [[nodiscard]] Kind at(const lang::Frame& own) const;
  /// Whether a call of this code breaks the graph, as far as is known while the code that calls it
  /// runs for the first time: a graph broke within it elsewhere.
  [[nodiscard]] bool may_break(const lang::Frame& own, const lang::Code& code) const {
    return settled_.count(own.code) == 0 && within_.count(&code) > 0;
  }
  /// A call that was taken for such has broken the graph.
  void add_call(const lang::Frame& own) { calls_.insert(place_of(own)); }
  /// Code has run once: all its breaks are known.
  void settle(const lang::Code* code) { settled_.insert(code); }
  /// Whether a function runs as it stands: its graph broke in a loop.
  [[nodiscard]] bool is_skipped(const lang::Code& code) const { return skipped_.count(&code) > 0; }

 private:
  using Place = std::tuple<const lang::Code*, std::uint32_t, std::uint32_t>;
  static Place place_of(const lang::Frame& frame) {
    return {frame.code, frame.at.begin, frame.at.end};
  }

  std::set<Place> calls_;
  std::set<Place> rests_;
  std::set<const lang::Code*> within_;
  std::set<const lang::Code*> skipped_;
  std::set<const lang::Code*> settled_;
};

}  // namespace tidemark::torch
