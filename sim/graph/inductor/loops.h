#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sim/graph/inductor/index.h"
#include "sim/graph/node_graph.h"

namespace tidemark::graph::inductor {

using BufferId = std::uint32_t;
inline constexpr BufferId kNoBuffer = 0xffffffffU;

/// What a loop reads of a buffer.
struct Access {
  BufferId buffer = kNoBuffer;
  Index index;
  friend bool operator==(const Access&, const Access&) = default;
};

/// Runs a loop's body once, with its counters for numbers, and counts: what is computed twice alike
/// counts once. Source: torch's OpCounterCSE.
class Trace {
 public:
  using Value = std::uint64_t;  ///< which number it is
  Value op(std::string_view name, std::initializer_list<Value> operands);
  Value constant(std::uint64_t number) { return note(mixed(number, 0x5eedULL)); }
  Value load(BufferId buffer, const Index& index);

  std::vector<Access> loads;     ///< each once, in order
  std::uint64_t kept_apart = 0;  ///< what is loaded meanwhile is another expression than elsewhere
  int ops = 0;                   ///< loads among them
  int moving_loads = 0;          ///< those whose place hangs on a counter

 private:
  Value note(Value value) {
    if (seen_.insert(value).second) ++ops;
    return value;
  }
  std::unordered_set<Value> seen_;
};

/// The body of a loop: gives its number at an index, one entry a dimension.
using Body = std::function<Trace::Value(Trace&, const Indices&)>;

enum class Hint : std::uint8_t { kDefault, kInner, kOuter, kOuterTiny };

/// A loop over `sizes`, and over `reduced` within it for a reduction. Its counters are numbered
/// through both.
struct Loops {
  std::string_view reduction{};  ///< "sum", "max", "welford_reduce", ...; empty: none
  ops::Dims sizes;
  ops::Dims reduced;
  ops::ScalarType dtype = ops::ScalarType::kFloat32;
  Body body;  ///< of a reduction: indices of both
  Hint hint = Hint::kDefault;
  int result = 0;  ///< which of several that the reduction gives
  /// Of a reduction that was split: what it was before. 0: it was not.
  std::int64_t whole_sizes = 0;
  std::int64_t whole_reduced = 0;
  bool adds_atomically = false;
  bool writes_part = false;  ///< of its buffer: by these strides, from there on
  ops::Dims part_strides;
  std::int64_t part_begin = 0;
  [[nodiscard]] bool is_reduction() const { return !reduction.empty(); }
};

/// Memory as the generated code names it.
struct Buffer {
  std::string name;
  ops::Dims sizes;
  ops::Dims strides;
  ops::ScalarType dtype = ops::ScalarType::kFloat32;
  ops::Device device = ops::kHost;
  std::int32_t maker = -1;         ///< its operation; -1: an input
  NodeId node = kNoNode;           ///< in the pass's graph: what it holds
  bool is_flexible = false;        ///< its strides are not decided yet
  bool is_donated = false;         ///< an input that nothing else holds
  bool is_library_made = false;    ///< comes from a kernel that asks for it itself
  bool is_whole = false;           ///< of parts, has no memory of its own
  bool goes_anywhere = false;      ///< a kernel of a library writes it where it is told
  bool has_least_strides = false;  ///< PyTorch's: sizes that may be none count as one in them
  BufferId changes = kNoBuffer;    ///< written over by this one
  BufferId within = kNoBuffer;     ///< has its memory there, as a part
  BufferId alias_of = kNoBuffer;   ///< another name of that memory, which stays as long
  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] Bytes bytes() const {
    return static_cast<Bytes>(elements()) * ops::element_bytes(dtype);
  }
};

/// A step before fusion.
struct Operation {
  BufferId output = kNoBuffer;
  std::shared_ptr<const Loops> loops;  ///< null: a library's kernel, or a part of its results
  std::vector<BufferId> reads;         ///< of a library's kernel
  NodeId node = kNoNode;               ///< whose effects it has
  bool is_part = false;
  bool is_joined = false;  ///< nothing runs: its operands lie within its result
};

/// A result of a pass: memory and how it is seen.
struct Result {
  BufferId buffer = kNoBuffer;  ///< kNoBuffer: there is none
  NodeId node = kNoNode;
  ops::Dims strides;
};

/// A pass as inductor's loops.
struct LoopProgram {
  std::vector<Buffer> buffers;
  std::vector<Operation> operations;
  std::vector<Result> results;
  /// What kernels ask for otherwise than they were captured: their operands lie otherwise.
  std::vector<std::pair<NodeId, std::vector<Effect>>> effects;
};

/// What an operation of loops reads, with its counters in order.
std::vector<Access> reads_of(const Loops& loops);
Indices counters_of(const ops::Dims& sizes, const ops::Dims& reduced);

}  // namespace tidemark::graph::inductor
