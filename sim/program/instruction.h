#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/base/bytes.h"

namespace tidemark {

/// Whose memory is asked for: every request has an ID of its own, counted from 0 in the order of
/// the requests (recorded traces may bring other numbers). A request that fails takes its ID too.
using RequestId = std::uint32_t;
using StreamId = std::uint16_t;  ///< 0: the default stream
using LabelId = std::uint32_t;   ///< index into a Labels table; 0: no label
using PoolId = std::uint16_t;    ///< 0: the default pools; P: private pool [0, P]

inline constexpr RequestId kNoRequest = 0xffffffffU;

/// What a program asks of the device, one fixed-size record each.
enum class Verb : std::uint8_t {
  kAlloc,   ///< id asks for `bytes` on `stream`, in private pool `pool` if not 0
  kFree,    ///< the owner of id drops it
  kUse,     ///< record_stream: `stream` uses id too
  kLaunch,  ///< a kernel is queued on `stream`: `id` indexes Program::costs, kNoRequest for a free
            ///< one
  kRecord,  ///< event number `id` is recorded on `stream`
  kWait,    ///< `stream` waits for event number `id`
  kSync,    ///< the host waits for `stream`
  kSyncDevice,   ///< the host waits for the whole device
  kEmptyCache,   ///< torch.cuda.empty_cache()
  kResetPeak,    ///< torch.cuda.reset_peak_memory_stats()
  kMark,         ///< from here on the phase is `label`
  kDeviceBytes,  ///< `bytes` are taken (id 1) or given back (id 0) past the allocator, by a library
  kPoint,        ///< the statistics of this moment are kept under the name `label`
  kSyncEvent,    ///< the host waits for event number `id`
  kHostAlloc,    ///< id, counted apart from the device's, asks for `bytes` of pinned host memory
  kHostFree,     ///< the owner of the pinned id drops it
  kHostUse,      ///< a copy on `stream` of `device` reads or writes the pinned id
  kHostEmptyCache,  ///< torch._C._host_emptyCache()
  kPageable,        ///< `bytes` of pageable host memory are taken (id 1) or given back (id 0)
  kPool,            ///< with the private pool `bytes` (PoolKey::number) is done what `id` says
};

/// Instruction::id of kPool: what happens to a private pool.
enum class PoolAction : std::uint32_t {
  kCreate,        ///< MemPool(); one more owner of a pool that is there
  kServeOnOom,    ///< it may serve other requests before they are refused
  kServeNoOther,  ///< no longer
  kNeverSplit,    ///< it hands out whole segments
  kCapture,       ///< a capture of `stream` begins: its requests go here; one more owner
  kJoinCapture,   ///< `stream` takes part in the capture
  kEndCapture,    ///< the requests go elsewhere again
  kRoute,         ///< all requests of this thread go here (use_mem_pool); one more owner
  kEndRoute,
  kLeaveThread,  ///< what follows runs in autograd's thread, which kRoute does not concern
  kReturnThread,
  kRelease,     ///< one owner less
  kEmptyCache,  ///< what is free in it goes back to the driver
};

/// Whom a verb concerns; the others have nothing to do for it.
enum class Concern : std::uint8_t {
  kAllocator,   ///< a device's allocator
  kQueue,       ///< the order of work on streams, and its time
  kHostMemory,  ///< pinned and pageable memory
  kRecord,      ///< what is told of the run, and nothing that happens in it
};
/// The only list that sorts the verbs.
constexpr Concern concern_of(Verb verb) {
  switch (verb) {
    case Verb::kAlloc:
    case Verb::kFree:
    case Verb::kUse:
    case Verb::kSync:
    case Verb::kSyncDevice:
    case Verb::kEmptyCache:
    case Verb::kResetPeak:
    case Verb::kDeviceBytes:
    case Verb::kPool:
      return Concern::kAllocator;
    case Verb::kLaunch:
    case Verb::kRecord:
    case Verb::kWait:
    case Verb::kSyncEvent:
      return Concern::kQueue;
    case Verb::kHostAlloc:
    case Verb::kHostFree:
    case Verb::kHostUse:
    case Verb::kHostEmptyCache:
    case Verb::kPageable:
      return Concern::kHostMemory;
    case Verb::kMark:
    case Verb::kPoint:
      break;
  }
  return Concern::kRecord;
}

/// `label` says which code asked: for kMark and kPoint the name of the moment, else the operator
/// (module path, op), for reports only. Nothing below may decide anything by it.
struct Instruction {
  Bytes bytes = 0;
  RequestId id = kNoRequest;
  LabelId label = 0;
  StreamId stream = 0;
  PoolId pool = 0;
  Verb verb = Verb::kMark;
  std::uint8_t device = 0;
};
static_assert(sizeof(Instruction) == 24);

/// What a kernel or copy costs, before any device is known; the engine's cost model makes
/// nanoseconds of it.
enum class CostClass : std::uint8_t {
  kElementwise,
  kReduction,
  kMatmul,
  kConvolution,
  kAttention,
  kCopyHostToDevice,
  kCopyDeviceToHost,
  kCopyDeviceToDevice,
};
enum class CostPrecision : std::uint8_t {
  kFp32,
  kTf32,
  kFp16,  ///< summed up in fp32, as all half precision is unless it is said
  kBf16,
  kFp64,
  kInt8,
  kFp16Accumulated,  ///< fp16, summed up in fp16
};
struct Cost {
  std::uint64_t flops = 0;
  std::uint64_t bytes_moved = 0;
  CostClass kind = CostClass::kElementwise;
  CostPrecision precision = CostPrecision::kFp32;
  /// Of a convolution: what it reads and writes is laid channels last before it, and back after.
  bool is_turned = false;
  friend bool operator==(const Cost&, const Cost&) = default;
};

/// What a request's memory is for: the highest-ranked role it had in its life, known to the source
/// only.
enum class Category : std::uint8_t {
  kUnknown,  ///< traces and snapshots do not say
  kTemporary,
  kActivation,  ///< an operator's result, or saved for backward
  kInput,
  kWorkspace,  ///< of a library, kept between calls
  kGradient,   ///< became some tensor's .grad
  kOptimizerState,
  kParameter,  ///< parameters and buffers of modules
  kKvCache,    ///< what a model keeps from call to call without gradients: keys and values
};
inline constexpr std::array<std::string_view, 9> kCategoryNames{
    "unknown",   "temporaries",     "activations", "inputs",  "workspace",
    "gradients", "optimizer state", "parameters",  "kv cache"};

/// Texts by number, each stored once. Label 0 is the empty text.
class Labels {
 public:
  Labels();
  LabelId intern(std::string_view text);
  [[nodiscard]] std::string_view text(LabelId id) const { return texts_[id]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::vector<std::string_view> texts_;  ///< into the keys of index_, whose nodes do not move
  std::unordered_map<std::string, LabelId, Hash, std::equal_to<>> index_;
};

}  // namespace tidemark
