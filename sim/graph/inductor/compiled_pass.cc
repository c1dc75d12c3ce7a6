#include "sim/graph/inductor/compiled_pass.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/graph/inductor/schedule.h"

namespace tidemark::graph::inductor {

namespace {

std::string place_of(const LoopProgram& program, const Dependency& dependency) {
  std::string text = program.buffers[dependency.buffer].name;
  if (dependency.is_whole) return text;
  text += '[';
  for (const Digit& digit : dependency.index.digits) {
    text += fmt::format("{}{}*i{}", text.back() == '[' ? "" : " + ", digit.scale, digit.loop);
    if (digit.divisor != 1) text += fmt::format("/{}", digit.divisor);
  }
  if (dependency.index.mark != 0) text += " ?";
  return text + fmt::format(" : {}]", fmt::join(dependency.sizes, "x"));
}

std::string kernels_text(const Schedule& schedule, const PassGraph& pass) {
  const LoopProgram& program = schedule.program;
  std::string text;
  for (const Step& step : schedule.steps) {
    text += step.is_library ? "    library" : step.is_reduction ? "    reduction" : "    pointwise";
    if (!step.is_library) text += fmt::format(" {}", step.size);
    if (step.is_reduction) text += fmt::format(" x {}", step.reduced);
    text += '\n';
    for (const std::uint32_t op : step.operations) {
      const BufferId output = program.operations[op].output;
      const NodeId node = program.operations[op].node;
      text += fmt::format("        {}: op{} {}\n", program.buffers[output].name, op,
                          node == kNoNode ? std::string() : pass.labels[node]);
      if (!step.is_library) {
        for (const Dependency& read : schedule.nests[op].reads)
          text += fmt::format("            {}\n", place_of(program, read));
      }
    }
  }
  return text;
}

std::string code_text(const LoopProgram& program, const std::vector<Line>& lines,
                      const PassGraph& pass) {
  std::string text;
  const auto name = [&](BufferId id) { return program.buffers[id].name; };
  for (const Line& line : lines) {
    switch (line.kind) {
      case Line::Kind::kAllocate:
        text += fmt::format("    {} = empty_strided({}, {}, {})\n", name(line.buffer),
                            ops::to_string(program.buffers[line.buffer].sizes),
                            ops::to_string(program.buffers[line.buffer].strides),
                            ops::info(program.buffers[line.buffer].dtype).name);
        break;
      case Line::Kind::kFree:
      case Line::Kind::kFreeWhole:
        text += fmt::format("    del {}\n", name(line.buffer));
        break;
      case Line::Kind::kReuse:
        text += fmt::format("    {} = {}  # reuse\n", name(line.buffer), name(line.other));
        break;
      case Line::Kind::kLoops:
        text += fmt::format("    kernel{}\n", line.step);
        break;
      case Line::Kind::kLibrary:
        text += fmt::format("    {} = {}\n", name(line.buffer), pass.graph.nodes[line.node].name);
        break;
      case Line::Kind::kPart:
        text += fmt::format("    {} = part of {}\n", name(line.buffer), name(line.other));
        break;
      case Line::Kind::kWithin:
        text += fmt::format("    {} = within {}\n", name(line.buffer), name(line.other));
        break;
      case Line::Kind::kNothing:
        break;
    }
  }
  text += "    return";
  for (const Result& result : program.results)
    text += fmt::format(" {}", result.buffer == kNoBuffer ? "None" : name(result.buffer));
  return text + '\n';
}

std::vector<std::vector<std::uint32_t>> kernels_of(const Schedule& schedule) {
  std::vector<std::vector<std::uint32_t>> kernels;
  kernels.reserve(schedule.steps.size());
  for (const Step& step : schedule.steps) kernels.push_back(step.operations);
  return kernels;
}

/// The code that was written at the sizes of the first call, if that is what it would be here but
/// for who takes over whose memory.
std::vector<Line> lines_of(const Schedule& schedule, SizeHints& hints) {
  std::vector<std::vector<std::uint32_t>> kernels = kernels_of(schedule);
  const bool is_same =
      hints.is_set && hints.kernels == kernels && hints.buffers == schedule.program.buffers.size();
  std::vector<Line> lines = plan_of(schedule);
  if (!hints.is_set) {
    for (const Step& step : schedule.steps) hints.order.push_back(step.operations.front());
    hints.kernels = std::move(kernels);
    hints.lines = lines;
    hints.buffers = schedule.program.buffers.size();
    hints.is_set = true;
  } else if (is_same) {
    std::vector<std::uint64_t> moved(schedule.steps.size());
    for (const Line& line : lines) {
      if (line.kind == Line::Kind::kLoops) moved[line.step] = line.bytes;
    }
    lines = hints.lines;
    for (Line& line : lines) {
      if (line.kind == Line::Kind::kLoops) line.bytes = moved[line.step];
    }
  }
  return lines;
}

/// Where a size is made of an open one, as a convolution's are, PyTorch's own strides count it as
/// one at least, and those of loops do not: sizes in bytes are then other formulas. Source: torch's
/// make_contiguous_strides_for; FlexibleLayout.contiguous_strides.
void note_least_strides(LoopProgram& program, const PassGraph& pass) {
  if (pass.open_images.empty()) return;
  const bool is_forward = pass.input_strides.empty() && !pass.is_inference;
  std::vector<bool> is_result(program.buffers.size());
  for (const Result& result : program.results) {
    // A view of loops' memory has other dimensions.
    const bool is_image = result.node != kNoNode && pass.graph.nodes[result.node].sizes.size() == 4;
    if (result.buffer != kNoBuffer && is_image) is_result[result.buffer] = true;
  }
  for (BufferId id = 0; id < program.buffers.size(); ++id) {
    Buffer& buffer = program.buffers[id];
    if (buffer.sizes.size() != 4 || buffer.sizes[2] * buffer.sizes[3] == 1) continue;
    const std::pair image{buffer.sizes[2], buffer.sizes[3]};
    const bool is_made_of_open = std::find(pass.open_images.begin(), pass.open_images.end(),
                                           image) == pass.open_images.end();
    const bool is_pytorchs =
        buffer.maker < 0 || buffer.is_library_made || (is_forward && is_result[id]);
    buffer.has_least_strides = is_made_of_open && is_pytorchs;
  }
}

}  // namespace

CompiledPass compile_pass(PassGraph pass, const DeviceShape& device, SizeHints& hints,
                          bool wants_text) {
  rewrite_pass(pass);
  Lowering lowering(pass, device, hints);
  lowering.run();
  note_least_strides(lowering.program, pass);
  Schedule schedule(lowering.program);
  // Source: torch's dependencies.py, decide_loop_order_to_match.
  schedule.open_lengths = hints.open_lengths;
  schedule.has_open_images = !pass.open_images.empty();
  schedule.fuse();
  const bool is_ordered = hints.is_set && schedule.order_as(hints.order);
  if (!is_ordered) schedule.order_for_memory();
  CompiledPass out;
  out.lines = lines_of(schedule, hints);
  out.mixes_orders = schedule.mixes_orders;
  if (wants_text) {
    out.kernels = kernels_text(schedule, pass);
    out.code = code_text(lowering.program, out.lines, pass);
  }
  out.results = lowering.program.results;
  out.buffers = lowering.program.buffers;
  out.pass = std::move(pass);
  for (auto& [node, effects] : lowering.program.effects)
    out.pass.graph.nodes[node].effects = std::move(effects);
  return out;
}

}  // namespace tidemark::graph::inductor
