#include "sim/run/literals.h"

#include <catch2/catch.hpp>

namespace tidemark {
namespace {

std::string literal(const std::string& yaml, const std::vector<Parameter>& params = {}) {
  const auto source = std::make_shared<SourceText>(SourceText{"t.yaml", "v: " + yaml});
  return literal_of(yaml::parse(source).entries.at(0).value, params);
}

}  // namespace

TEST_CASE("YAML values become literals of the model language") {
  CHECK(literal("3") == "3");
  CHECK(literal("007") == "7");
  CHECK(literal("+3") == "3");
  CHECK(literal("-0.5") == "-0.5");
  CHECK(literal("1e-3") == "1e-3");
  CHECK(literal("true") == "True");
  CHECK(literal("false") == "False");
  CHECK(literal("null") == "None");
  CHECK(literal("relu") == "\"relu\"");
  CHECK(literal("'3'") == "\"3\"");
  CHECK(literal("\"a\\\"b\\\\\\n\\x01\"") == R"("a\"b\\\n\x01")");
  CHECK(literal("[1, [x], {k: 2, 'l m': false}]") == R"([1, ["x"], {"k": 2, "l m": False}])");
}

TEST_CASE("a plain scalar that names a parameter stands for it, a quoted one does not") {
  const std::vector<Parameter> params{{"width", "512", 512}};
  CHECK(literal("width", params) == "width");
  CHECK(literal("[width, 'width', widths]", params) == R"([width, "width", "widths"])");
}

TEST_CASE("identifiers") {
  CHECK(is_identifier("a_1"));
  CHECK(is_identifier("_"));
  CHECK_FALSE(is_identifier(""));
  CHECK_FALSE(is_identifier("1a"));
  CHECK_FALSE(is_identifier("a.b"));
}

}  // namespace tidemark
