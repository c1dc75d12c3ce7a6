#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace tidemark::lang {

struct ForStmt;
struct Frame;
class Iterator;
class RangeIterator;

/// A `for` over a range, while it runs.
struct RangeLoop {
  const ForStmt& node;
  const Frame& frame;
  const RangeIterator& range;
};

/// Follows one loop's turns.
class LoopWatch {
 public:
  virtual ~LoopWatch() = default;
  /// A turn has ended and another one is to follow. Returns how many are to be left out.
  virtual std::int64_t turn_ended() = 0;
};

/// Is told of the loops of a program that may be long.
class LoopWatcher {
 public:
  virtual ~LoopWatcher() = default;
  /// A loop begins; null: it is of no interest.
  virtual std::unique_ptr<LoopWatch> watch(const RangeLoop& loop) = 0;
};

}  // namespace tidemark::lang
