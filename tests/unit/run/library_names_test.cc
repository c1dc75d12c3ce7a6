#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <string>

#include "sim/library/library.h"
#include "sim/torch/source/model_source.h"

namespace tidemark {
namespace {

/// A device that takes everything and has nothing.
class NoDevice final : public Sink {
 public:
  Outcome execute(std::span<const Instruction> /*chunk*/) override { return {}; }
  Bytes query(MemoryQuery /*what*/, std::uint8_t /*device*/) override { return 0; }
  std::vector<std::pair<std::string, std::int64_t>> statistics(std::uint8_t /*device*/) override {
    return {};
  }
};

}  // namespace

TEST_CASE("every name of the library's files can be made where there are tensors") {
  std::string text;
  std::size_t names = 0;
  const lang::LibraryRoots roots = library::all();
  for (const lang::Library& root : roots.roots) {
    for (const lang::LibraryModule& file : root.modules) {
      text += fmt::format("import {}\n", lang::view(file.name));
      for (const lang::LibraryName& each : file.names) {
        text += fmt::format("from {} import {}\n", lang::view(file.name), roots.text(each.name));
        ++names;
      }
    }
  }
  CHECK(names > 2000);
  torch::ModelProgram model;
  model.loop = std::make_shared<const SourceText>(SourceText{"names.py", text});
  model.is_script = true;
  model.devices = {DeviceSpec{}};
  Program program;
  NoDevice sink;
  torch::ModelSource source(std::move(model), nullptr);
  CHECK_NOTHROW(source.run(program, sink));
}

}  // namespace tidemark
