#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/graph/details.h"

namespace tidemark {

/// Which part of a run's graph is drawn, and how much of it is one box.
struct GraphOptions {
  std::string title;
  /// As the phases' names have it; empty: step 0, or all of a program without steps.
  std::string step;
  std::string phase;                   ///< "backward"; empty: every phase of the step
  bool each_op = false;                ///< a box an operator call
  std::optional<std::uint32_t> depth;  ///< a box a module that deep; else the deepest that gives at
                                       ///< most kLegible boxes
  static constexpr std::size_t kLegible = 60;
};

/// The graph as Graphviz's text. Arrows: data solid, saved dashed, alias dotted, control (written
/// over) in bold; each with its bytes. What lies in other phases and gives something is one box a
/// phase. Errors: InputError when no phase is meant, with those that are there.
std::string graph_dot(const graph::Details& details, const GraphOptions& options);

}  // namespace tidemark
