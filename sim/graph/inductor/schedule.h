#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/graph/inductor/loops.h"
#include "sim/graph/inductor/number_set.h"

namespace tidemark::graph::inductor {

using StepId = std::uint32_t;

/// What a step reads or writes of a buffer: where, over which loops. Loops behind the last that
/// counts are left out.
struct Dependency {
  BufferId buffer = kNoBuffer;
  bool is_whole = false;  ///< anywhere in it
  bool is_atomic = false;
  Index index;
  std::vector<std::int64_t> sizes;
  friend bool operator==(const Dependency&, const Dependency&) = default;
  /// Loops that run on into each other as one.
  [[nodiscard]] Dependency merged() const;
  /// The same, the loops in the order of their strides.
  [[nodiscard]] Dependency in_order() const;
};

/// Kernels that run one after another: each an operation, or several that were fused.
struct Step {
  std::vector<std::uint32_t> operations;  ///< in order
  bool is_library = false;                ///< no loops: nothing can be fused with it
  bool is_reduction = false;
  std::int64_t size = 1;     ///< of the loops
  std::int64_t reduced = 1;  ///< of the reduction within them
  std::vector<Dependency> reads;
  std::vector<Dependency> writes;
  std::vector<BufferId> needs;  ///< made by others, that must run before
  NumberSet ancestors;
  std::size_t first = 0;  ///< where its operations stood, the earliest and the last
  std::size_t last = 0;
};

/// Loops of one operation, in the order in which its kernel runs them.
struct LoopNest {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> reduced;
  std::vector<Dependency> reads;
  Dependency write;
};

/// Which operations are run as one kernel, and in which order. Source: docs/rules/compile.md#6.
class Schedule {
 public:
  explicit Schedule(const LoopProgram& program);
  void fuse();
  /// Orders the steps by what they need memory for. Source: docs/rules/compile.md#7.
  void order_for_memory();
  /// Orders them as they were at other sizes, by the first operation of each. False: they are
  /// others here.
  bool order_as(const std::vector<std::uint32_t>& first_operations);

  struct User {
    std::uint32_t operation = 0;
    bool may_overwrite = false;
  };
  const LoopProgram& program;
  std::vector<Step> steps;
  std::vector<LoopNest> nests;               ///< by operation
  std::vector<std::vector<User>> users;      ///< by buffer
  std::vector<bool> is_output;               ///< by buffer
  std::vector<bool> is_removed;              ///< by operation: nobody needs it
  std::vector<std::int64_t> memory_at_step;  ///< as order_for_memory estimates it
  std::int64_t peak = 0;
  /// Reductions along rows and along columns of the same, which PyTorch makes one kernel of: two
  /// here.
  bool mixes_orders = false;
  /// Sizes that are open. Loops are not run in another order where strides hang on them.
  std::vector<std::int64_t> open_lengths;
  bool has_open_images = false;  ///< and sizes that are made of these

  [[nodiscard]] bool is_input(BufferId id) const { return program.buffers[id].maker < 0; }
  /// What stands for a buffer that was written over: what was written first.
  [[nodiscard]] BufferId original(BufferId id) const;
  [[nodiscard]] std::vector<bool> made_in(const Step& step) const;
  /// Estimates anew, with the steps as they are.
  void estimate();
  [[nodiscard]] bool may_be_freed(BufferId id) const;

 private:
  friend class Fusion;
  friend class MemoryOrder;
  void make_nest(std::uint32_t operation);
  void connect();
  void remove_dead();
  void find_ancestors();
  void sort();
  [[nodiscard]] Step step_of(std::uint32_t operation) const;
};

}  // namespace tidemark::graph::inductor
