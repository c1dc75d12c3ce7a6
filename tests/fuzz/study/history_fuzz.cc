// What a snapshot's history may claim: bytes are read as segments and events on few addresses, so
// that they meet and contradict each other. Whatever they say is re-simulated, compared, explained
// and replayed under other settings, or refused.

#include <array>
#include <cstdint>
#include <string>

#include "sim/alloc/settings_parser.h"
#include "sim/base/problem.h"
#include "sim/format/pickle_writer.h"
#include "sim/format/snapshot.h"
#include "sim/format/snapshot_program.h"
#include "sim/study/explain/memory_explain.h"
#include "sim/study/replay/recorded_requests.h"
#include "sim/study/replay/replay.h"

namespace {

using namespace tidemark;

class Bytewise {
 public:
  Bytewise(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool empty() const { return at_ >= size_; }
  std::uint8_t next() { return empty() ? std::uint8_t{0} : data_[at_++]; }
  template <class T, std::size_t kCount>
  T pick(const std::array<T, kCount>& from) {
    return from.at(next() % kCount);
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

constexpr std::array<std::uint64_t, 24> kAddresses{0,
                                                   1,
                                                   512,
                                                   1024,
                                                   2 * kMiB,
                                                   4 * kMiB,
                                                   20 * kMiB,
                                                   40 * kMiB,
                                                   0x200000000000U,
                                                   0x200000000000U + 2 * kMiB,
                                                   0x209000000000U - 2 * kMiB,
                                                   0x209000000000U - 32 * kMiB,
                                                   0x300000000000U,
                                                   0x300000000000U + 20 * kMiB,
                                                   0x7f0000000000U,
                                                   0x7f0000000000U + 512,
                                                   0x7f0000000000U + 1024,
                                                   0x7f0000000000U + 2 * kMiB,
                                                   0x7f0000000000U + 4 * kMiB,
                                                   0x7f0000000000U + 10 * kMiB,
                                                   0x7f0000000000U + 20 * kMiB,
                                                   0x7f0000000000U + 40 * kMiB,
                                                   (std::uint64_t{1} << 55U) - 2 * kMiB,
                                                   (std::uint64_t{1} << 55U) - 1};
constexpr std::array<std::uint64_t, 20> kSizes{0,
                                               1,
                                               512,
                                               513,
                                               1024,
                                               kMiB,
                                               kMiB + 1,
                                               2 * kMiB,
                                               2 * kMiB,
                                               4 * kMiB,
                                               10 * kMiB,
                                               10 * kMiB + 1,
                                               20 * kMiB,
                                               20 * kMiB,
                                               40 * kMiB,
                                               100 * kMiB,
                                               200 * kGiB,
                                               std::uint64_t{1} << 40U,
                                               (std::uint64_t{1} << 54U),
                                               (std::uint64_t{1} << 55U) - 1};
constexpr std::array<std::string_view, 12> kActions{
    "alloc",          "alloc",         "free_requested", "free_completed",
    "free_completed", "segment_alloc", "segment_free",   "segment_map",
    "segment_unmap",  "oom",           "snapshot",       "alloc"};
constexpr std::array<std::string_view, 6> kConfs{"",
                                                 "expandable_segments:True",
                                                 "max_split_size_mb:21",
                                                 "garbage_collection_threshold:0.5",
                                                 "roundup_power2_divisions:4",
                                                 "expandable_segments:True,max_split_size_mb:40"};

std::string drawn(Bytewise& input) {
  std::string pickle;
  PickleWriter out(pickle);
  const std::uint8_t flags = input.next();
  const auto event = [&] {
    const std::uint8_t kind = input.next();
    out.begin_dict();
    const std::string_view action = kActions.at(kind % kActions.size());
    out.member("action", action);
    out.member(action == "oom" ? "device_free" : "addr", input.pick(kAddresses));
    out.member("size", input.pick(kSizes));
    out.member("stream", std::uint64_t{kind} >> 6U);
    if ((flags & 1U) != 0) {
      out.value("pool_id");
      out.pair(0, (kind >> 5U) & 1U);
    }
    out.end_dict();
  };
  out.begin_dict();
  out.value("segments");
  const std::size_t segments = input.next() % 4;
  if (segments == 0) {
    out.empty_list();
  } else {
    out.begin_list();
    for (std::size_t i = 0; i < segments; ++i) {
      const std::uint64_t address = input.pick(kAddresses);
      const std::uint64_t drawn_bytes = input.pick(kSizes);
      const std::uint8_t kind = input.next();
      // A small pool's free memory is tiled by requests of 1 MiB, which takes its time: few are
      // large.
      const bool is_large = (kind & 2U) == 0 || (kind & 0xf8U) == 0;
      const std::uint64_t bytes = is_large ? drawn_bytes : 2 * kMiB;
      out.begin_dict();
      out.member("device", std::uint64_t{0});
      out.member("address", address);
      out.member("total_size", bytes);
      out.member("stream", std::uint64_t{kind & 1U});
      out.member("segment_type", (kind & 2U) != 0 ? "small" : "large");
      out.member("is_expandable", (kind & 4U) != 0);
      out.value("blocks");
      out.begin_list();
      std::uint64_t at = address;
      std::uint64_t left = bytes;
      while (left > 0) {
        const std::uint8_t state = input.next();
        const std::uint64_t part =
            state % 4 == 0 ? left : std::min<std::uint64_t>(left, input.pick(kSizes) + 1);
        out.begin_dict();
        out.member("address", at);
        out.member("size", part);
        out.member("requested_size", (state & 8U) != 0 ? part : std::uint64_t{1});
        out.member("state", state % 3 == 0   ? "active_allocated"
                            : state % 3 == 1 ? "inactive"
                                             : "active_awaiting_free");
        out.end_dict();
        at += part;
        left -= part;
      }
      if (bytes == 0) {
        out.begin_dict();
        out.member("address", at);
        out.member("size", std::uint64_t{0});
        out.member("state", "inactive");
        out.end_dict();
      }
      out.end_list();
      out.end_dict();
    }
    out.end_list();
  }
  out.value("allocator_settings");
  out.begin_dict();
  out.member("PYTORCH_CUDA_ALLOC_CONF", input.pick(kConfs));
  out.end_dict();
  out.value("device_traces");
  out.begin_list();
  out.begin_list();
  event();
  for (std::size_t n = 0; n < 200 && !input.empty(); ++n) event();
  out.end_list();
  out.end_list();
  out.end_dict();
  out.finish();
  return pickle;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytewise input(data, size);
  const std::string pickle = drawn(input);
  try {
    const auto source = bytes_in_memory(pickle);
    const Snapshot snapshot = read_snapshot(*source, "input");
    for (const std::uint8_t device : recorded_devices(snapshot)) {
      AgreementOptions range;
      range.device = device;
      const RecordedRequests recorded = recorded_requests(snapshot, range, false);
      ReplayOptions options;
      options.device = recorded.device;
      options.keep_events = options.keep_samples = true;
      for (const std::string_view conf : kConfs) {
        const AllocatorSettings settings =
            parse_settings("fuzz", conf, recorded.agreement.settings.version).settings;
        (void)replay(recorded.trace.instructions, settings, options);
      }
      (void)picture_named(snapshot, device, "");
      (void)churn_of(snapshot, device);
    }
  } catch (const InputError& error) {
    render_problems(error.problems());
  }
  return 0;
}
