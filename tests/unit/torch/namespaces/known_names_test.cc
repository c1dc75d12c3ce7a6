#include <catch2/catch.hpp>

#include <string>

#include "sim/base/problem.h"
#include "sim/torch/namespaces/torch_module.h"
#include "tests/unit/torch/sink_log.h"

using namespace tidemark;
using namespace tidemark::test;

namespace {

/// What a program prints, or the problem that ends it.
std::string outcome(const std::string& text) {
  std::string printed;
  torch::ModelSource source(program_of("import torch\n" + text),
                            [&](std::string_view written) { printed += written; });
  Program program;
  SinkLog sink;
  try {
    source.run(program, sink);
  } catch (const InputError& error) {
    return error.problems().front().message;
  }
  return printed;
}

}  // namespace

TEST_CASE("A name that PyTorch has and Tidemark does not is there, and refused when it is used") {
  CHECK(outcome("f = torch.fbgemm_linear_fp16_weight\nprint(callable(f))\n") == "True\n");
  const std::string refused = outcome("torch.fbgemm_linear_fp16_weight()\n");
  CHECK(refused.find("torch.fbgemm_linear_fp16_weight") != std::string::npos);
  CHECK(refused.find("not modelled") != std::string::npos);
}

TEST_CASE("A name that PyTorch does not have is an AttributeError") {
  CHECK(outcome("try:\n    torch.no_such_name\nexcept AttributeError as e:\n    print(e)\n") ==
        "module 'torch' has no attribute 'no_such_name'\n");
  CHECK(outcome("print(hasattr(torch, 'no_such_name'), hasattr(torch, 'relu'))\n") ==
        "False True\n");
}

TEST_CASE("A backend that a CUDA wheel lacks says that it is absent, and fails as PyTorch's does") {
  CHECK(outcome("print(torch.xpu.is_available())\n") == "False\n");
  CHECK(outcome("try:\n    torch.mps.empty_cache()\nexcept Exception as e:\n    "
                "print(type(e).__name__)\n")
            .find("Error") != std::string::npos);
}

TEST_CASE("What torch.cuda tells is of the device that the program runs on") {
  CHECK(outcome("print(torch.cuda.is_available(), torch.cuda.device_count(), "
                "torch.cuda.memory_allocated())\n") == "True 1 0\n");
  CHECK(outcome("try:\n    torch.zeros(1, device='cuda:3')\nexcept RuntimeError as e:\n    "
                "print('refused')\n") == "refused\n");
}
