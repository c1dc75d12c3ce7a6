#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "sim/lang/runtime/class.h"

namespace tidemark::lang {
namespace {

constexpr Name kBefore{1000};
constexpr Name kFirst{1001};
constexpr Name kSecond{1002};
constexpr Name kThird{1003};
constexpr Name kAfter{1004};

/// Three members, each the number of its name.
class ThreeMembers final : public LateMembers {
 public:
  explicit ThreeMembers(AttrMap& map) : map_(map) {}
  Value* make(Name name) override {
    if (name < kFirst || name > kThird) return nullptr;
    ++made;
    map_.set(name, number(name));
    return map_.find(name);
  }
  void make_all() override {
    std::vector<AttrMap::Entry> members;
    for (const Name name : {kFirst, kSecond, kThird}) members.push_back({name, number(name)});
    map_.complete(std::move(members));
  }
  static Value number(Name name) { return Value::integer(static_cast<std::int64_t>(name)); }

  int made = 0;

 private:
  AttrMap& map_;
};

std::vector<Name> names_of(const AttrMap& map) {
  std::vector<Name> names;
  for (const AttrMap::Entry& entry : map.entries()) names.push_back(entry.name);
  return names;
}

}  // namespace

TEST_CASE("late members of a map are made when they are asked for") {
  AttrMap map;
  map.set(kBefore, Value::integer(1));
  ThreeMembers late(map);
  map.set_late(late, 3);
  CHECK(map.find(kSecond)->as_int() == 1002);
  CHECK(map.find(kSecond)->as_int() == 1002);
  CHECK(late.made == 1);
  CHECK(map.find(kAfter) == nullptr);
}

TEST_CASE("late members stand where they were announced, and keep what was set") {
  AttrMap map;
  map.set(kBefore, Value::integer(1));
  ThreeMembers late(map);
  map.set_late(late, 3);
  map.set(kAfter, Value::integer(2));
  map.set(kThird, Value::integer(3));
  SECTION("looked through") {
    CHECK(names_of(map) == std::vector{kBefore, kFirst, kSecond, kThird, kAfter});
    CHECK(map.find(kThird)->as_int() == 3);
    CHECK(map.find(kFirst)->as_int() == 1001);
  }
  SECTION("counted") { CHECK(map.size() == 5); }
  SECTION("one of them removed") {
    CHECK(map.remove(kFirst).as_int() == 1001);
    CHECK(map.find(kFirst) == nullptr);
    CHECK(names_of(map) == std::vector{kBefore, kSecond, kThird, kAfter});
  }
}

}  // namespace tidemark::lang
