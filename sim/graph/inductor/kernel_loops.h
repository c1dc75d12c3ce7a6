#pragma once

#include <functional>
#include <set>

#include "sim/graph/inductor/schedule.h"

namespace tidemark::graph::inductor {

/// A kernel that reduces more than it holds at once runs through its numbers in several loops. What
/// one of them writes and a later one reads needs memory, though nobody else reads it. Source:
/// docs/rules/compile.md#8; torch's generate_node_schedule, CSEProxy.load.
/// `ancestors`: of an operation.
std::set<BufferId> read_in_later_loops(
    const Schedule& schedule, const Step& step,
    const std::function<const NumberSet&(std::uint32_t)>& ancestors);

}  // namespace tidemark::graph::inductor
