#include "tests/unit/torch/sink_log.h"

#include <algorithm>

#include <fmt/format.h>

#include "tests/support/operator_rig.h"

namespace tidemark::test {

Outcome SinkLog::execute(std::span<const Instruction> chunk) {
  chunks.emplace_back(chunk.begin(), chunk.end());
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const Instruction& one = chunk[i];
    if (one.verb == Verb::kFree) live_ -= size_of_[one.id];
    if (one.verb != Verb::kAlloc) continue;
    size_of_.resize(std::max<std::size_t>(size_of_.size(), one.id + std::size_t{1}), 0);
    if (live_ + one.bytes > limit_) {
      chunks.back().resize(i + 1);
      return {i, "CUDA out of memory."};
    }
    size_of_[one.id] = one.bytes;
    live_ += one.bytes;
  }
  return {};
}

Bytes SinkLog::query(MemoryQuery /*what*/, std::uint8_t /*device*/) { return live_; }

std::vector<std::string> SinkLog::lines(const Program& program) const {
  std::vector<std::string> lines;
  std::vector<Bytes> sizes;
  for (const std::vector<Instruction>& chunk : chunks) {
    for (const Instruction& one : chunk) {
      switch (one.verb) {
        case Verb::kAlloc:
          sizes.resize(std::max<std::size_t>(sizes.size(), one.id + std::size_t{1}), 0);
          sizes[one.id] = one.bytes;
          lines.push_back(fmt::format("alloc {}", one.bytes));
          break;
        case Verb::kFree:
          lines.push_back(fmt::format("free {}", sizes[one.id]));
          break;
        case Verb::kMark:
          lines.push_back(fmt::format("mark {}", program.labels.text(one.label)));
          break;
        default:
          break;
      }
    }
  }
  return lines;
}

torch::ModelProgram program_of(std::string text,
                               std::vector<std::pair<std::string, std::string>> files) {
  torch::ModelProgram program;
  program.loop = std::make_shared<const SourceText>(SourceText{"program.py", std::move(text)});
  program.is_script = true;
  program.devices = {h100()};
  std::map<std::string, std::string> texts;
  for (auto& [module, code] : files) texts[module + ".py"] = std::move(code);
  program.files = std::make_shared<lang::TextFiles>(texts);
  program.path = {""};
  return program;
}

}  // namespace tidemark::test
