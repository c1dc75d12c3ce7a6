#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/graph/inductor/loops.h"
#include "sim/graph/inductor/schedule.h"

namespace tidemark::graph::inductor {

/// A line of the code that inductor writes, as far as memory goes.
struct Line {
  enum class Kind : std::uint8_t {
    kAllocate,   ///< memory for `buffer`
    kFree,       ///< the name of `buffer` goes
    kReuse,      ///< `buffer` takes over the memory of `other`, whose name goes
    kLoops,      ///< a generated kernel
    kLibrary,    ///< a kernel of a library: the node's effects
    kPart,       ///< `buffer` is a part of what `other` gave
    kWithin,     ///< `buffer` has its memory within `other`
    kFreeWhole,  ///< what a kernel gave goes, but for the parts taken
    kNothing,
  };
  Kind kind = Kind::kNothing;
  BufferId buffer = kNoBuffer;
  BufferId other = kNoBuffer;
  std::uint32_t step = 0;
  NodeId node = kNoNode;    ///< kLibrary, kPart: in the pass's graph
  std::uint64_t bytes = 0;  ///< kLoops: moved
  bool is_for_good = true;  ///< kFree: nobody took its memory over
};

/// The generated code of a pass: which buffer gets memory when, which takes over another's. Source:
/// docs/rules/compile.md#8.
std::vector<Line> plan_of(const Schedule& schedule);

}  // namespace tidemark::graph::inductor
