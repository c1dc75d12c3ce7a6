#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/graph/inductor/compiled_pass.h"
#include "sim/ops/context.h"

namespace tidemark::torch {

/// Runs a pass that inductor compiled, line by line.
class PlanRun {
 public:
  PlanRun(ops::Context& c, const graph::inductor::CompiledPass& compiled);
  /// What is there before. Call it for every input of the pass.
  void give(std::size_t input, const ops::Tensor& tensor);
  void run();
  /// What runs is recorded as a CUDA graph.
  void record() { is_recorded_ = true; }
  /// Nothing runs: results lie in memory that a graph keeps, and hold none. Inputs that are results
  /// were given, or lie there, too.
  void look_back();
  /// Results are held by nobody here any longer.
  void let_go() { held_.clear(); }
  /// A tensor of its own for a result.
  [[nodiscard]] ops::Tensor take(std::size_t result) const;
  [[nodiscard]] const Ref<ops::Storage>& memory_of(std::size_t result) const;
  /// The memory of all results that are there, in the order in which it is asked for.
  [[nodiscard]] std::vector<Ref<ops::Storage>> results() const;

 private:
  using Memory = std::pair<graph::StorageId, Ref<ops::Storage>>;
  void allocate(graph::inductor::BufferId id);
  /// The buffer whose memory a result has.
  [[nodiscard]] graph::inductor::BufferId root_of(std::size_t result) const;
  void call_library(const graph::inductor::Line& line);
  void launch(const graph::inductor::Line& line);

  ops::Context& c_;
  const graph::inductor::CompiledPass& compiled_;
  std::vector<Ref<ops::Storage>> held_;      ///< by buffer
  std::vector<std::vector<Memory>> wholes_;  ///< by buffer: what a kernel gave
  bool is_recorded_ = false;
};

}  // namespace tidemark::torch
