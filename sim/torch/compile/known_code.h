#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "sim/torch/compile/inductor_call.h"

namespace tidemark::torch {

/// Which sizes code is compiled for: those of each call, or those of its first call for others too;
/// kAutomatic: the latter for sizes that have changed.
enum class ForSizes : std::uint8_t { kAutomatic, kOwn, kOthersToo };

/// By argument, by dimension: code is for other sizes as well.
using OpenSizes = std::vector<std::vector<bool>>;

/// The sizes that code was compiled for. Source: docs/rules/compile.md#9.
class SeenSizes {
 public:
  /// Which of the arguments' sizes are open when the code is compiled for them.
  OpenSizes open(Session& session, ForSizes sizes, const TracedCode& traced,
                 const ops::TensorList& arguments);

 private:
  std::vector<ops::Dims> first_;
  OpenSizes are_others_;
  std::vector<bool> have_other_ranks_;  ///< by argument
};

/// A call as it was captured.
struct CapturedCall {
  graph::NodeGraph graph;
  std::vector<graph::NodeId> inputs;
  std::vector<graph::NodeId> tangents;
  bool has_backward = false;
  bool under_autocast = false;
  std::vector<ops::Dims> sizes;         ///< of the arguments
  std::vector<std::int64_t> offsets{};  ///< where each begins in its memory
};

/// Code that was compiled before, and what of.
struct KnownCode {
  CapturedCall call;  ///< the latest that it was made for
  OpenSizes open;     ///< none: for these sizes only
  KeptCode kept;
  std::shared_ptr<const InductorCode> code;

  /// It serves a call, perhaps once it is made for the call's sizes.
  [[nodiscard]] bool fits(const CapturedCall& other) const;
  [[nodiscard]] bool is_made_for(const CapturedCall& other) const;
  /// By input of the graph: how many open sizes it is the first to have. Equal sizes are one.
  /// Source: torch's duck shapes.
  [[nodiscard]] std::vector<int> open_inputs(const InputTensors& inputs,
                                             const ops::TensorList& arguments) const;
  /// Height and width of the images among the arguments, where one of them is open.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> open_images() const;
  /// Open sizes of what the code is called with; none where all are first dimensions.
  [[nodiscard]] std::vector<std::int64_t> open_lengths() const;
};

std::vector<ops::Dims> sizes_of(const ops::TensorList& tensors);
/// Where each begins in its memory; 0: the code does not read it.
std::vector<std::int64_t> offsets_of(const InputTensors& inputs, const ops::TensorList& tensors);

/// All that was compiled of a function, the latest used first.
class KnownCodes {
 public:
  /// Null: nothing fits.
  KnownCode* find(const CapturedCall& call);
  KnownCode& add(CapturedCall call, OpenSizes open);
  void forget(const KnownCode* code);

 private:
  std::list<KnownCode> codes_;
};

}  // namespace tidemark::torch
