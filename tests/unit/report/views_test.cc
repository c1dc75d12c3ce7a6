#include <string>

#include "sim/base/problem.h"
#include "sim/report/describe_report.h"
#include "sim/report/graph_report.h"
#include "sim/report/live_report.h"
#include "sim/run/run.h"

namespace tidemark {
namespace {

Scenario parse(const std::string& text) {
  return parse_scenario(std::make_shared<const SourceText>(SourceText{"s.yaml", text}), ".");
}

constexpr const char* kNet = R"yaml(schema_version: 1
device: h100
model:
  code: |
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
            self.body[2].weight.requires_grad = False
            self.unused = nn.Linear(2, 2, bias=False)

        def forward(self, x):
            return self.body(x)
  class: Net
train: {steps: 2, batch: 32, input: [64], target: [], optimizer: SGD(lr=0.1)}
)yaml";

std::string refusal(const DeviceResult& device, const std::string& text) {
  try {
    event_named(device, text, "--at");
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

/// addmm (1 KiB) -> t (a view) -> mul_ (writes over it); backward reads what addmm kept.
graph::Details small_graph() {
  graph::Details details;
  details.phases = {"", "forward 0", "backward 0", "forward 1"};
  details.vertices = {{"addmm", "net.fc", 1, 1024},
                      {"t", "net.fc", 1, 0},
                      {"mul_", "net", 1, 0},
                      {"AddmmBackward0", "net.fc", 2, 2048},
                      {"addmm", "net.fc", 3, 1024}};
  details.edges = {
      {0, 1, graph::EdgeKind::kAlias, 1024},
      {1, 2, graph::EdgeKind::kControl, 1024},
      {0, 3, graph::EdgeKind::kSaved, 512},
      {0, 4, graph::EdgeKind::kData, 8},
  };
  return details;
}

}  // namespace

TEST_CASE("a description has each module's shapes, parameters and memory") {
  const auto models = describe_models(parse(kNet));
  REQUIRE(models.size() == 1);
  const auto& layers = models[0].layers;
  REQUIRE(layers.size() == 6);
  CHECK(models[0].is_called);
  CHECK(layers[0].module.path == "Net");
  CHECK(layers[2].module.path == "body.0");
  CHECK(layers[3].module.output == "[32, 256]");
  CHECK(layers[5].module.output.empty());
  // 64 x 256 + 256, 256 x 10 + 10, 2 x 2; the second weight is not trained.
  CHECK(layers[0].module.parameters == 16'640 + 2'570 + 4);
  CHECK(layers[0].module.trainable_parameters == 16'640 + 10 + 4);
  // ReLU keeps its result, 32 x 256 floats: the second layer's weight is fixed, so its input is
  // kept for nobody else.
  CHECK(layers[3].saved_bytes == 32 * 256 * 4);
  CHECK(layers[2].saved_bytes == 0);
  CHECK(layers[1].saved_bytes == layers[3].saved_bytes);
  // The first layer's result dies with the ReLU's call: the most that it has of its own.
  CHECK(layers[2].temporaries_peak_bytes >= 32 * 256 * 4);
  // cuBLAS gives each thread a workspace: the first product needs one, and the last, the first of
  // backward.
  CHECK(layers[2].workspace_bytes > 0);
  CHECK(layers[0].workspace_bytes == layers[2].workspace_bytes + layers[4].workspace_bytes);
}

TEST_CASE("a description reads as a table, as JSON and as CSV") {
  ModelDescription model;
  model.is_called = true;
  model.layers = {{{"Net", "Net", 0, "[2, 3]", 12, 8, 48, 0}, 4096, 1024, 0},
                  {{"fc", "Linear", 1, "[2, 3]", 12, 8, 48, 0}, 4096, 1024, 0},
                  {{"fc.inner", "ReLU", 2, "", 0, 0, 0, 0}, 0, 0, 0}};
  CHECK(describe_text({model}, 1, {}) ==
        "Layer          output  parameters  trainable     saved  temporaries  workspace\n"
        "Net            [2, 3]          12  partly     4.00 KiB     1.00 KiB          -\n"
        "  fc (Linear)  [2, 3]          12  partly     4.00 KiB     1.00 KiB          -\n"
        "1 modules lie deeper: --depth shows them\n"
        "\n"
        "                                    bytes\n"
        "Parameters            12      48 B     48\n"
        "  trainable            8\n"
        "  not trainable        4\n"
        "Buffers                          -      0\n"
        "Saved for backward        4.00 KiB  4,096\n"
        "Temporaries, at most      1.00 KiB  1,024\n"
        "Workspace                        -      0\n");
  CHECK(describe_csv({model}).find("\n0,fc,Linear,1,\"[2, 3]\",12,8,48,0,4096,1024,0\n") !=
        std::string::npos);
  CHECK(describe_json({model}).find("\"kind\": \"describe\"") != std::string::npos);
}

TEST_CASE("a model in a file becomes a scenario") {
  ModelFile model{"net.py", "Net", {"width=4"}, {"8,4", "8:long"}, "t4"};
  const std::string text = scenario_of_model(model)->text;
  CHECK(text.find("  model = Net(width=4)\n") != std::string::npos);
  CHECK(text.find("inputs = [torch.zeros(8,4, dtype=torch.float32), torch.zeros(8, "
                  "dtype=torch.long)]\n") != std::string::npos);
  model.inputs = {"8,,4"};
  CHECK_THROWS_WITH(scenario_of_model(model),
                    Catch::Contains("--input: expected a shape, found '8,,4'"));
}

TEST_CASE("a graph is drawn by modules, with what other phases give in one box") {
  GraphOptions options;
  options.title = "net";
  options.phase = "backward";
  options.depth = 1;
  const std::string text = graph_dot(small_graph(), options);
  // Forward is one box: three operators.
  CHECK(text.find("0[label=\"forward 0\n3 ops\n1.00 KiB\"") != std::string::npos);
  CHECK(text.find("1[label=\"net\nbackward 0\n2.00 KiB\"") != std::string::npos);
  CHECK(text.find("0->1 [label=\"512 B\", style=dashed") != std::string::npos);
  CHECK(text.find("forward 1") == std::string::npos);
}

TEST_CASE("a graph of each call tells views and writes apart") {
  GraphOptions options;
  options.each_op = true;
  const std::string text = graph_dot(small_graph(), options);
  CHECK(text.find("0->1 [label=\"1.00 KiB\", style=dotted") != std::string::npos);
  CHECK(text.find("1->2 [label=\"1.00 KiB\", style=bold") != std::string::npos);
  CHECK(text.find("3[label=\"AddmmBackward0\nnet.fc\nbackward 0\n2.00 KiB\"") != std::string::npos);
  options.step = "7";
  CHECK_THROWS_WITH(
      graph_dot(small_graph(), options),
      Catch::Contains("--step: there is no phase '7'; phases: forward, backward; steps: 0 to 1"));
}

TEST_CASE("a run's graph has what is saved, viewed and written over") {
  graph::Details details;
  RunOptions options;
  options.details = &details;
  const RunResult with = run(parse(kNet), options);
  CHECK((with.devices[0].events == run(parse(kNet)).devices[0].events));
  std::size_t saved = 0;
  std::size_t aliases = 0;
  for (const graph::DetailEdge& edge : details.edges) {
    const graph::DetailVertex& to = details.vertices[edge.to];
    if (edge.kind == graph::EdgeKind::kSaved && to.name == "ReluBackward0") {
      ++saved;  // relu's own result, once a step
      CHECK(edge.bytes == 32 * 256 * 4);
      CHECK(details.vertices[edge.from].name == "relu");
      CHECK(to.module == "body.1");
    }
    if (edge.kind == graph::EdgeKind::kAlias) ++aliases;
  }
  CHECK(saved == 2);
  CHECK(aliases > 0);
}

TEST_CASE("every live byte at a moment is told by who made it") {
  const RunResult result = run(parse(kNet));
  const DeviceResult& device = result.devices[0];
  const std::uint32_t event = event_named(device, "0:forward", "--at");
  CHECK(event_named(device, "3", "--at") == 3);
  const std::string text = live_text(result, device, event, 20, {});
  CHECK(text.find("activations  step 0, forward: body.1: relu\n") != std::string::npos);
  CHECK(text.find("parameters   model: to\n") != std::string::npos);
  CHECK(refusal(device, "0:forwrd") ==
        "error: --at: there is no event or phase '0:forwrd'; did you mean '0:forward'?\n");
  CHECK(refusal(device, "99999").starts_with("error: --at: there is no event 99999; the last is "));
}

}  // namespace tidemark
