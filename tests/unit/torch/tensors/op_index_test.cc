#include "sim/torch/tensors/op_index.h"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <utility>

using namespace tidemark;
using torch::OpIndex;

TEST_CASE("Every entry is found by its own names, and by no other entry's") {
  std::set<std::pair<std::string, std::string>> seen;
  const auto entries = OpIndex::entries();
  REQUIRE(entries.size() > 500);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const OpIndex::Entry& entry = entries[i];
    INFO(entry.where << " " << entry.name);
    CHECK(OpIndex::find(entry.where, entry.name) == i);
    CHECK(seen.emplace(entry.where, entry.name).second);
  }
}

TEST_CASE("A name that no operator has is not found") {
  CHECK(OpIndex::find("torch", "") == OpIndex::kNone);
  CHECK(OpIndex::find("torch", "softmaxx") == OpIndex::kNone);
  CHECK(OpIndex::find("nowhere", "softmax") == OpIndex::kNone);
}

TEST_CASE("A release has an entry where it has one of its overloads, and the rest come later") {
  const Version oldest{2, 4};
  const Version newest{2, 15};
  std::size_t later = 0;
  for (std::size_t i = 0; i < OpIndex::entries().size(); ++i) {
    INFO(OpIndex::entries()[i].name);
    for (const Version release : {oldest, newest})
      CHECK(OpIndex::is_in(i, release) == !OpIndex::overloads(i, release).empty());
    Version last{};
    for (const ops::OpDef* def : OpIndex::later(i, oldest)) {
      CHECK(oldest < def->releases.from);
      CHECK_FALSE(def->releases.from < last);
      last = def->releases.from;
      ++later;
    }
    CHECK(OpIndex::later(i, Version{99, 0}).empty());
  }
  CHECK(later > 0);
}
