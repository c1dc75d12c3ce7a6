#include "sim/torch/modules/model_watch.h"

#include <catch2/catch.hpp>

#include "tests/unit/torch/sink_log.h"

using namespace tidemark;
using namespace tidemark::test;
using torch::WatchedModel;

namespace {

constexpr const char* kModel =
    "import torch\n"
    "from torch import nn\n"
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.a = nn.Linear(4, 8, device='cuda')\n"
    "        self.block = nn.Sequential(nn.ReLU(), nn.Linear(8, 4, device='cuda'))\n"
    "        self.unused = nn.BatchNorm1d(4, device='cuda')\n"
    "        self.tied = self.a\n"
    "    def forward(self, x):\n"
    "        return self.block(self.a(x))\n"
    "net = Net()\n"
    "net.a.bias.requires_grad_(False)\n";

std::vector<WatchedModel> watched(const std::string& text) {
  std::vector<WatchedModel> models;
  torch::ModelProgram code = program_of(text);
  code.watched = &models;
  torch::ModelSource source(code, nullptr);
  Program program;
  SinkLog sink;
  source.run(program, sink);
  return models;
}

}  // namespace

TEST_CASE("A model is watched from its first call, module by module in the order of their names") {
  const auto models = watched(std::string(kModel) + "net(torch.zeros(2, 4, device='cuda'))\n" +
                              "net(torch.zeros(3, 4, device='cuda'))\n");
  REQUIRE(models.size() == 1);
  const auto& modules = models[0].modules;
  REQUIRE(modules.size() == 6);
  const std::vector<std::string> paths = {"Net", "a", "block", "block.0", "block.1", "unused"};
  for (std::size_t i = 0; i < paths.size(); ++i) CHECK(modules[i].path == paths[i]);
  CHECK(modules[0].type == "Net");
  CHECK(modules[4].depth == modules[2].depth + 1);
  CHECK(modules[0].output == "[2, 4]");  // of the first call
  CHECK(modules[1].output == "[2, 8]");
  CHECK(modules[5].output.empty());  // never called
}

TEST_CASE("A tensor counts once, where it stands first") {
  const auto models = watched(std::string(kModel) + "net(torch.zeros(2, 4, device='cuda'))\n");
  REQUIRE(models.size() == 1);
  const auto& modules = models[0].modules;
  CHECK(modules[0].parameters == 40 + 36 + 8);
  CHECK(modules[0].trainable_parameters == 32 + 36 + 8);  // the first bias is frozen
  CHECK(modules[0].parameter_bytes == 4 * (40 + 36 + 8));
  CHECK(modules[1].parameters == 40);
  CHECK(modules[5].buffer_bytes == 4 * 4 + 4 * 4 + 8);  // mean, variance, and how many batches
}

TEST_CASE("A model that is never called is not watched, and two are two") {
  CHECK(watched(kModel).empty());
  const auto models = watched(std::string(kModel) + "x = torch.zeros(2, 4, device='cuda')\n" +
                              "net(x)\nother = nn.Linear(4, 4, device='cuda')\nother(x)\n");
  REQUIRE(models.size() == 2);
  CHECK(models[1].modules.front().path == "Linear");
  CHECK(torch::call_begins(1) != torch::call_begins(0));
  CHECK(torch::call_ends(1) != torch::call_begins(1));
}
