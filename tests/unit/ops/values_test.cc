#include <catch2/catch.hpp>

#include "sim/ops/values/generator.h"
#include "sim/ops/values/view.h"

namespace tidemark::ops {
namespace {

Numbers drawn(Generator& generator, const DrawSpec& spec, ScalarType type, std::int64_t count) {
  Known known(type, count, generator.draw(spec, type, count));
  return *known.numbers();
}

// Expected numbers: PyTorch 2.11.0, torch.manual_seed(5), in this order.
TEST_CASE("a seed gives PyTorch's own numbers, each draw where the last one ended") {
  Generator generator;
  generator.set_seed(5);
  const Numbers uniform = drawn(generator, {Draw::kUniform}, ScalarType::kFloat32, 3);
  CHECK(uniform.real ==
        std::vector<double>{0.8302518725395203, 0.12611091136932373, 0.9074696898460388});
  const Numbers wide = drawn(generator, {Draw::kUniform}, ScalarType::kFloat64, 1);
  CHECK(wide.real.front() == 0.5594163926692743);
}

TEST_CASE("numbers are the same whichever are asked for first") {
  Generator one;
  Generator other;
  const DrawSpec normal{Draw::kNormal, 0, 1};
  Known first(ScalarType::kFloat32, 3, one.draw(normal, ScalarType::kFloat32, 3));
  Known second(ScalarType::kFloat32, 2, one.draw(normal, ScalarType::kFloat32, 2));
  const std::vector<double> late = second.numbers()->real;
  const Numbers before = drawn(other, normal, ScalarType::kFloat32, 3);
  CHECK(drawn(other, normal, ScalarType::kFloat32, 2).real == late);
  CHECK(first.numbers()->real == before.real);
  CHECK(one.state == other.state);
}

TEST_CASE("an odd count of normal numbers keeps the second of the last pair for the next call") {
  Generator generator;
  const DrawSpec normal{Draw::kNormal, 0, 1};
  generator.advance(normal, ScalarType::kFloat32, 3);
  // Two pairs of two numbers of 53 bits each: 8 words.
  CHECK(generator.state.position == 8);
  CHECK(generator.state.kept_normal == 4U);
  generator.advance(normal, ScalarType::kFloat32, 1);
  CHECK(generator.state.position == 8);
  CHECK(!generator.state.kept_normal);
  // From sixteen on each takes one word, and a rest draws the last sixteen again.
  generator.advance(normal, ScalarType::kFloat32, 17);
  CHECK(generator.state.position == 8 + 17 + 16);
}

TEST_CASE("types keep numbers as casts cut and round them") {
  Numbers small{ScalarType::kInt8, {0, 0}, {}};
  small.set_whole(0, 130);
  small.set(1, -1.9);
  CHECK(small.whole == std::vector<std::int64_t>{-126, -1});
  CHECK(rounded_to(ScalarType::kBFloat16, 1.00390625) == 1.0);      // half way: to the even one
  CHECK(rounded_to(ScalarType::kFloat16, 0.1) == 0.0999755859375);  // 1638 * 2^-14
  CHECK(rounded_to(ScalarType::kFloat32, 0.1) == static_cast<double>(0.1F));
}

TEST_CASE("a shape's places follow its strides, the last dimension first") {
  CHECK(places_of({2, 3}, {1, 2}, 5) == std::vector<std::int64_t>{5, 7, 9, 6, 8, 10});
  CHECK(places_of({}, {}, 4) == std::vector<std::int64_t>{4});
  CHECK(places_of({0, 3}, {3, 1}, 0).empty());
}

}  // namespace
}  // namespace tidemark::ops
