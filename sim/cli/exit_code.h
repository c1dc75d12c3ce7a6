#pragma once

namespace tidemark::cli {

/// What the process tells its caller. Scripts rely on these numbers; they stand nowhere else.
enum class ExitCode : int {
  kDone = 0,
  kDiffers = 1,          ///< a comparison differs
  kInput = 2,            ///< a scenario, a file's contents or the command line is wrong
  kOutOfMemory = 3,      ///< the simulated device ran out of memory, with --fail-on-oom
  kIo = 4,               ///< a file cannot be read or written
  kAssertionFailed = 5,  ///< a claim about a result is false
  kInternal = 70,        ///< a bug in Tidemark
  kUnfinished = 75,      ///< there was no time for all of it; the same command goes on
  kNoDevice = 77,        ///< a GPU is needed and there is none
};

}  // namespace tidemark::cli
