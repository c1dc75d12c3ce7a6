#include "sim/report/plan_text.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace tidemark {

namespace {

constexpr std::array<std::string_view, 8> kKinds{"elementwise", "reduction", "matmul",
                                                 "convolution", "attention", "copy_h2d",
                                                 "copy_d2h",    "copy_d2d"};
constexpr std::array<std::string_view, 6> kPrecisions{"fp32", "tf32", "fp16",
                                                      "bf16", "fp64", "int8"};

class Writer {
 public:
  explicit Writer(std::string& out) : out_(std::back_inserter(out)) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(out_, format, std::forward<Args>(args)...);
    *out_ = '\n';
  }

  void event(const Event& event) {
    switch (event.action) {
      case Action::kSegmentAlloc:
        line("segment {} {}", event.bytes, event.address);
        break;
      case Action::kSegmentFree:
        line("segment_free {} {}", event.bytes, event.address);
        break;
      case Action::kSegmentMap:
        line("map {} {}", event.bytes, event.address);
        break;
      case Action::kSegmentUnmap:
        line("unmap {} {}", event.bytes, event.address);
        break;
      case Action::kAlloc:
        line("alloc {} {} {} {}", event.id, event.bytes, event.address, event.stream);
        break;
      case Action::kFreeRequested:
        line("free {}", event.id);
        break;
      case Action::kFreeCompleted:
        line("done {}", event.id);
        break;
      case Action::kOom:
        line("oom {} {}", event.id, event.bytes);
        break;
      case Action::kSnapshot:
        break;
    }
  }

  /// What an instruction means past the allocator.
  void instruction(const Instruction& each, const Program& program) {
    switch (each.verb) {
      case Verb::kLaunch:
        if (each.id == kNoRequest || each.id >= program.costs.size()) {
          line("launch none - 0 0 {}", each.stream);
        } else {
          const Cost& cost = program.costs[each.id];
          line("launch {} {} {} {} {}", kKinds[static_cast<std::size_t>(cost.kind)],
               kPrecisions[static_cast<std::size_t>(cost.precision)], cost.flops, cost.bytes_moved,
               each.stream);
        }
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
      case Verb::kMark:
        line("mark {}", program.labels.text(each.label));
        break;
      default:
        break;
    }
  }

 private:
  std::back_insert_iterator<std::string> out_;
};

}  // namespace

std::string plan_text(const std::string& name, std::span<const Instruction> instructions,
                      const Program& program, const DeviceSpec& device,
                      const ReplayResult& result) {
  std::string out;
  Writer writer(out);
  writer.line("tidemark-plan 1");
  writer.line("name {}", name);
  writer.line("device {} {} {} {}", device.compute_capability, device.total_bytes,
              device.context_bytes, device.name);
  writer.line("conf {}", result.settings.text);
  std::size_t next = 0;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    while (next < result.events.size() && result.events[next].instruction < i)
      writer.event(result.events[next++]);
    // A request's place is known before the kernels that use it; a use or a sync comes first.
    writer.instruction(instructions[i], program);
    while (next < result.events.size() && result.events[next].instruction == i)
      writer.event(result.events[next++]);
  }
  while (next < result.events.size()) writer.event(result.events[next++]);
  return out;
}

}  // namespace tidemark
