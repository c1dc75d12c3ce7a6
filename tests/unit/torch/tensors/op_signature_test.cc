#include "sim/torch/tensors/op_signature.h"

#include <catch2/catch.hpp>

#include <variant>

#include "tests/support/lang_program.h"

using namespace tidemark;
using torch::Parameter;
using torch::ParameterType;

namespace {

struct Signature {
  explicit Signature(std::string_view text)
      : parameters(torch::parse_parameters(program.interp(), text)) {}
  [[nodiscard]] std::string_view name(std::size_t i) {
    return program.interp().text(parameters[i].name);
  }

  lang::LangProgram program;
  std::vector<Parameter> parameters;
};

}  // namespace

TEST_CASE("A signature is read as PyTorch writes it") {
  Signature sum("sum(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None)");
  REQUIRE(sum.parameters.size() == 4);
  CHECK(sum.name(0) == "input");
  CHECK(sum.parameters[0].type == ParameterType::kTensor);
  CHECK_FALSE(sum.parameters[0].fallback.has_value());
  CHECK(sum.name(1) == "dim");
  CHECK(sum.parameters[1].type == ParameterType::kInts);
  CHECK(sum.parameters[1].optional);
  REQUIRE(sum.parameters[1].fallback.has_value());
  CHECK(std::holds_alternative<ops::None>(*sum.parameters[1].fallback));
  CHECK_FALSE(sum.parameters[2].optional);
  REQUIRE(sum.parameters[2].fallback.has_value());
  CHECK(std::get<bool>(*sum.parameters[2].fallback) == false);
  CHECK(sum.parameters[3].type == ParameterType::kDType);
}

TEST_CASE("What stands after the star is given by name alone") {
  Signature sum("f(Tensor input, *, dtype? dtype=None, Tensor? out=None)");
  REQUIRE(sum.parameters.size() == 3);
  CHECK_FALSE(sum.parameters[0].keyword_only);
  CHECK(sum.parameters[1].keyword_only);
  CHECK(sum.parameters[2].keyword_only);
}

TEST_CASE("A function without parameters has none") { CHECK(Signature("f()").parameters.empty()); }

TEST_CASE("A parameter answers to its own names") {
  Signature f("f(Tensor input, int dim)");
  const lang::Name other = f.program.interp().intern("dimension");
  CHECK(f.parameters[1].is_called(f.parameters[1].name));
  CHECK_FALSE(f.parameters[1].is_called(other));
}
