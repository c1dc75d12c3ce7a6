#include "sim/report/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>

namespace tidemark {

namespace {

constexpr std::array<std::string_view, 8> kKinds{"elementwise", "reduction", "matmul",
                                                 "convolution", "attention", "copy_h2d",
                                                 "copy_d2h",    "copy_d2d"};
constexpr std::array<std::string_view, 6> kPrecisions{"fp32", "tf32", "fp16",
                                                      "bf16", "fp64", "int8"};

class Writer {
 public:
  Writer(std::string& out, const Program& program, const KernelDetails& kernels)
      : out_(std::back_inserter(out)), program_(program), kernels_(kernels) {}

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
      case Verb::kMark:
        line("mark {}", program_.labels.text(each.label));
        break;
      default:
        break;
    }
  }

 private:
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
    std::string out = fmt::format("{} {} {} {} {}", kKinds[static_cast<std::size_t>(cost.kind)],
                                  kPrecisions[static_cast<std::size_t>(cost.precision)], cost.flops,
                                  cost.bytes_moved, op.empty() ? "-" : op);
    if (told.shape != 0) out.append(" ").append(program_.labels.text(told.shape));
    return out;
  }

  std::back_insert_iterator<std::string> out_;
  const Program& program_;
  const KernelDetails& kernels_;
  std::unordered_map<std::string, std::size_t> numbers_;  ///< of kernels by their text
};

}  // namespace

std::string plan_text(const std::string& name, std::span<const Instruction> instructions,
                      const Program& program, const KernelDetails& kernels,
                      const DeviceSpec& device, const ReplayResult& result, AfterRefusal then) {
  std::string out;
  Writer writer(out, program, kernels);
  writer.line("tidemark-plan 2");
  writer.line("name {}", name);
  writer.line("device {} {} {} {}", device.compute_capability, device.total_bytes,
              device.context_bytes, device.name);
  writer.line("conf {}", result.settings.text);
  if (then == AfterRefusal::kGoesOn) writer.line("goes_on");
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
