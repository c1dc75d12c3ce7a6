#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim/study/sweep/results.h"
#include "sim/study/sweep/sweep.h"

namespace tidemark {

struct JointSweepOptions {
  unsigned threads = 1;  ///< of this process; 0: one a processor
  /// Told how many cells all processes have done, after each cell of ours.
  std::function<void(std::uint64_t cells)> progress;
};

/// What this process' part came to, now that every cell has its row.
enum class JointPart : std::uint8_t {
  kCollected,  ///< it put the rows together
  kHelped,     ///< another did
  kNothing,    ///< all rows were there already
};

/// The folder in which the processes of a joint sweep meet.
std::string joint_folder(const std::string& path);

/// Runs a sweep together with every other process that does the same with the same `path`: lots go
/// to whoever is free, those of a process that died to others (HandOut). Each process keeps its
/// rows in a file of its own in joint_folder(path); when all are there, one process puts them into
/// `path`, which then is what one process alone would have made, and takes the folder away. When
/// all were killed, the next call goes on. Returns when every cell has its row.
/// Errors: IoError; InputError when `path` holds another sweep.
JointPart run_joint_sweep(const ScenarioSource& source, const SweepPlan& plan,
                          const SweepOrigin& origin, const std::string& path,
                          const JointSweepOptions& options);

}  // namespace tidemark
