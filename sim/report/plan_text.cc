#include "sim/report/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>

#include "sim/alloc/knob_values.h"
#include "sim/alloc/sizes.h"
#include "sim/device/kernel_names.h"

namespace tidemark {

namespace {

/// Mapped memory, by the page that it is made of: an unmap takes whole pages of one size.
class Pages {
 public:
  explicit Pages(const KnobValues& knobs) : knobs_(knobs) {}

  /// A range of small blocks grows by one page of 2 MiB, of large ones by pages of 20 MiB unless
  /// large_segment_size_mb says otherwise.
  Bytes mapped(std::uint64_t address, Bytes bytes) {
    const Bytes page =
        bytes == kSmallSegmentBytes ? kSmallSegmentBytes : knobs_.large_segment_bytes;
    for (Bytes at = 0; at < bytes; at += page) pages_[address + at] = page;
    return page;
  }

  Bytes unmapped(std::uint64_t address, Bytes bytes) {
    const auto at = pages_.find(address);
    const Bytes page = at == pages_.end() ? bytes : at->second;
    for (Bytes offset = 0; offset < bytes; offset += page) pages_.erase(address + offset);
    return page;
  }

 private:
  const KnobValues& knobs_;
  std::unordered_map<std::uint64_t, Bytes> pages_;
};

/// What the allocator asks the driver for when nothing of its own serves a request.
Bytes segment_of(Bytes rounded, const KnobValues& knobs) {
  if (rounded <= kSmallMaxBytes) return kSmallSegmentBytes;
  if (rounded < kLargeMinBytes) return knobs.large_segment_bytes;
  return round_up(rounded, kLargeRoundBytes);
}

class Writer {
 public:
  Writer(std::string& out, const Program& program, const KernelDetails& kernels,
         const KnobValues& knobs)
      : out_(std::back_inserter(out)),
        program_(program),
        kernels_(kernels),
        knobs_(knobs),
        pages_(knobs) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(out_, format, std::forward<Args>(args)...);
    *out_ = '\n';
  }

  void event(const Event& event) {
    switch (event.action) {
      case Action::kSegmentAlloc:
        line("segment {} {} {}", event.bytes, event.address, event.stream);
        break;
      case Action::kSegmentFree:
        line("segment_free {} {} {}", event.bytes, event.address, event.stream);
        break;
      case Action::kSegmentMap:
        line("map {} {} {} {}", event.bytes, event.address,
             pages_.mapped(event.address, event.bytes), event.stream);
        break;
      case Action::kSegmentUnmap:
        line("unmap {} {} {} {}", event.bytes, event.address,
             pages_.unmapped(event.address, event.bytes), event.stream);
        break;
      case Action::kAlloc:
        line("alloc {} {} {} {}{}", event.id, event.bytes, event.address, event.stream,
             is_workspace(event.id) ? " workspace" : "");
        break;
      case Action::kFreeRequested:
        line("free {}", event.id);
        break;
      case Action::kFreeCompleted:
        line("done {}", event.id);
        break;
      case Action::kOom:
        refused(event);
        break;
      case Action::kSnapshot:
        break;
    }
  }

  /// What an instruction means past the allocator.
  void instruction(const Instruction& each) {
    switch (each.verb) {
      case Verb::kLaunch:
        launch(each);
        break;
      case Verb::kRecord:
        line("record {} {}", each.id, each.stream);
        break;
      case Verb::kWait:
        line("wait {} {}", each.id, each.stream);
        break;
      case Verb::kUse:
        line("use {} {}", each.id, each.stream);
        break;
      case Verb::kSync:
        line("sync {}", each.stream);
        break;
      case Verb::kSyncDevice:
        line("sync");
        break;
      case Verb::kSyncEvent:
        line("sync_event {}", each.id);
        break;
      case Verb::kMark:
        line("mark {}", program_.labels.text(each.label));
        break;
      default:
        break;
    }
  }

 private:
  /// Whether a library is handed it to work in, as cuBLAS is.
  [[nodiscard]] bool is_workspace(RequestId id) const {
    return id < program_.categories.size() && program_.categories[id] == Category::kWorkspace;
  }

  /// What is refused, and how the driver was asked for it: a segment, or pages of a range.
  void refused(const Event& event) {
    const bool is_small = event.bytes <= kSmallMaxBytes;
    const Bytes page = !knobs_.expandable_segments ? 0
                       : is_small                  ? kSmallSegmentBytes
                                                   : knobs_.large_segment_bytes;
    line("oom {} {} {} {} {}", event.id, event.bytes, event.stream,
         page == 0 ? segment_of(event.bytes, knobs_) : round_up(event.bytes, page), page);
  }

  void launch(const Instruction& each) {
    const bool is_known = each.id < program_.costs.size();
    const bool is_told = each.id < kernels_.kernels.size();
    const std::string text =
        is_known ? kernel(program_.costs[each.id],
                          is_told ? kernels_.kernels[each.id] : KernelDetails::Kernel{})
                 : std::string("none - 0 0 -");
    const auto [at, is_new] = numbers_.try_emplace(text, numbers_.size());
    if (is_new) line("kernel {} {}", at->second, text);
    fmt::format_to(out_, "launch {} {}", at->second, each.stream);
    if (is_told) {
      for (const RequestId request : kernels_.kernels[each.id].operands) {
        if (request == kNoRequest) {
          fmt::format_to(out_, " -");
        } else {
          fmt::format_to(out_, " {}", request);
        }
      }
    }
    *out_ = '\n';
  }

  /// Kind, precision, work, operator and operands. An operator's name is one word here.
  [[nodiscard]] std::string kernel(const Cost& cost, const KernelDetails::Kernel& told) const {
    std::string op(program_.labels.text(told.op));
    std::ranges::replace(op, ' ', '_');
    std::string out =
        fmt::format("{} {} {} {} {}", kKernelKinds[static_cast<std::size_t>(cost.kind)],
                    kKernelPrecisions[static_cast<std::size_t>(cost.precision)], cost.flops,
                    cost.bytes_moved, op.empty() ? "-" : op);
    if (told.shape != 0) out.append(" ").append(program_.labels.text(told.shape));
    return out;
  }

  std::back_insert_iterator<std::string> out_;
  const Program& program_;
  const KernelDetails& kernels_;
  const KnobValues& knobs_;
  Pages pages_;
  std::unordered_map<std::string, std::size_t> numbers_;  ///< of kernels by their text
};

}  // namespace

std::string plan_text(const std::string& name, std::span<const Instruction> instructions,
                      const Program& program, const KernelDetails& kernels,
                      const DeviceSpec& device, const ReplayResult& result, AfterRefusal then) {
  std::string out;
  Writer writer(out, program, kernels, *result.settings.knobs);
  writer.line("tidemark-plan 4");
  writer.line("name {}", name);
  writer.line("device {} {} {} {}", device.compute_capability, device.total_bytes,
              device.context_bytes, device.name);
  writer.line("conf {}", result.settings.text);
  if (then == AfterRefusal::kGoesOn) writer.line("goes_on");
  if (result.first_oom && result.first_oom->limit_bytes < kUnlimitedBytes)
    writer.line("limit {}", result.first_oom->limit_bytes);
  std::size_t next = 0;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    while (next < result.events.size() && result.events[next].instruction < i)
      writer.event(result.events[next++]);
    // A request's place is known before the kernels that use it; a use or a sync comes first.
    writer.instruction(instructions[i]);
    while (next < result.events.size() && result.events[next].instruction == i)
      writer.event(result.events[next++]);
  }
  while (next < result.events.size()) writer.event(result.events[next++]);
  return out;
}

}  // namespace tidemark
