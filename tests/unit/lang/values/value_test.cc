#include "sim/lang/values/value.h"

#include <catch2/catch.hpp>

#include <functional>
#include <utility>

#include "sim/lang/values/str.h"

using namespace tidemark;
using namespace tidemark::lang;

namespace {

/// Runs `at_end` when the last reference goes.
struct Witness final : Object {
  explicit Witness(std::function<void()> call) : Object(Kind::kHost, 77), at_end(std::move(call)) {}
  ~Witness() override { at_end(); }
  static bool is(const Object& o) { return o.host_kind() == 77; }
  std::function<void()> at_end;
};

}  // namespace

TEST_CASE("An object lives until the last value that holds it goes") {
  int ended = 0;
  Value a = make_ref<Witness>([&] { ++ended; });
  Value b = a;
  a.reset();
  CHECK(ended == 0);
  Value c = std::move(b);
  CHECK(b.empty());  // NOLINT(bugprone-use-after-move): what a move leaves is part of the interface
  CHECK(ended == 0);
  c = Value::none();
  CHECK(ended == 1);
}

TEST_CASE("Assignment puts the new value in place before it drops the old one") {
  Value slot;
  std::int64_t seen = 0;
  slot = make_ref<Witness>([&] { seen = slot.as_int(); });
  slot = Value::integer(5);
  CHECK(seen == 5);
}

TEST_CASE("A value assigned to itself stays") {
  int ended = 0;
  Value a = make_ref<Witness>([&] { ++ended; });
  const Value& same = a;
  a = same;
  CHECK(ended == 0);
  CHECK(a.as<Witness>() != nullptr);
}

TEST_CASE("A value is of one type: a bool is an integer and no int") {
  CHECK(Value::boolean(true).is_integral());
  CHECK_FALSE(Value::boolean(true).is_int());
  CHECK(Value::integer(3).is_number());
  CHECK_FALSE(Value::none().is_number());
  CHECK(Value::boolean(true).number() == 1.0);
  CHECK(Value::real(2.5).number() == 2.5);
}

TEST_CASE("as() gives nothing for an object of another kind") {
  const Value text = make_ref<Str>("x");
  CHECK(text.as<Str>() != nullptr);
  CHECK(text.as<Witness>() == nullptr);
  CHECK(Value::integer(1).as<Str>() == nullptr);
  CHECK_FALSE(Value::none().ref<Str>());
}

TEST_CASE("same_as() is Python's `is`") {
  const Value text = make_ref<Str>("x");
  CHECK(text.same_as(Value(text)));
  CHECK_FALSE(text.same_as(make_ref<Str>("x")));
  CHECK(Value::integer(1).same_as(Value::integer(1)));
  CHECK_FALSE(Value::integer(1).same_as(Value::boolean(true)));
  CHECK(Value::none().same_as(Value::none()));
  CHECK_FALSE(Value::none().same_as(Value()));
}
