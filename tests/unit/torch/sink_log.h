#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/program/source.h"
#include "sim/torch/source/model_source.h"

namespace tidemark::test {

/// Executes everything, up to a limit of live bytes, and writes down what it was given.
class SinkLog final : public Sink {
 public:
  explicit SinkLog(Bytes limit = std::numeric_limits<Bytes>::max()) : limit_(limit) {}
  Outcome execute(std::span<const Instruction> chunk) override;
  Bytes query(MemoryQuery what, std::uint8_t device) override;
  std::vector<std::pair<std::string, std::int64_t>> statistics(std::uint8_t /*device*/) override {
    return {};
  }
  std::size_t write_state(StateImage& /*image*/) override { return chunks.size(); }
  void repeat(std::size_t /*moment*/, const Repeat& repeat) override { repeats.push_back(repeat); }

  /// "alloc 512", "free 512", "mark forward": the instructions of a verb that a test looks at.
  [[nodiscard]] std::vector<std::string> lines(const Program& program) const;

  std::vector<std::vector<Instruction>> chunks;
  std::vector<Repeat> repeats;

 private:
  Bytes limit_;
  Bytes live_ = 0;
  std::vector<Bytes> size_of_;  ///< by request
};

/// A program of one text on one GPU. `files`: what it can import, by module name.
torch::ModelProgram program_of(std::string text,
                               std::vector<std::pair<std::string, std::string>> files = {});

}  // namespace tidemark::test
