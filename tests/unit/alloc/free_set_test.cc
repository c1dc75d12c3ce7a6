#include "sim/alloc/free_set.h"

#include <catch2/catch.hpp>

#include <functional>
#include <set>
#include <tuple>

#include "sim/alloc/device_memory.h"
#include "sim/alloc/gauge.h"
#include "sim/alloc/walk_table.h"
#include "sim/base/check.h"
#include "sim/base/random.h"

namespace tidemark {
namespace {

using Key = std::tuple<Bytes, std::uint32_t, std::uint64_t, BlockIndex>;

TEST_CASE("a free set is the ordered set of size, order and address") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    INFO("seed " << seed);
    Random random(seed);
    BlockStore store;
    std::vector<BlockIndex> all;
    for (std::uint64_t at = 0; at < 600; ++at) {
      const BlockIndex index = store.create();
      all.push_back(index);
      store[index].address = 512 * at;
      store[index].order = seed % 2 == 0 ? static_cast<std::uint32_t>(random.below(40)) : 0;
    }
    FreeSet free;
    std::set<Key> expected;
    const auto key = [&store](BlockIndex index) {
      return Key(store[index].bytes, store[index].order, store[index].address, index);
    };
    for (int step = 0; step < 20000; ++step) {
      const BlockIndex index = all[random.below(all.size())];
      Block& block = store[index];
      if (block.is(Block::kFree)) {
        REQUIRE(expected.erase(key(index)) == 1);
        free.erase(store.data(), index);
        REQUIRE_FALSE(block.is(Block::kFree));
        continue;
      }
      // Few sizes, so that groups grow; some share a bin, some are beyond the last bin.
      block.bytes =
          512 * (random.chance(1, 2) ? 1 + random.below(6)
                                     : (std::uint64_t{1} << random.below(31)) + random.below(3));
      free.insert(store.data(), index);
      expected.insert(key(index));
      const Bytes wanted = random.chance(1, 2)
                               ? block.bytes
                               : 512 * (1 + random.below(std::uint64_t{1} << random.below(31)));
      const auto bound = expected.lower_bound(Key(wanted, 0, 0, 0));
      REQUIRE(free.lower_bound(store.data(), wanted) ==
              (bound == expected.end() ? kNoBlock : std::get<3>(*bound)));
      if (bound != expected.end()) {
        const auto after = std::next(bound);
        REQUIRE(free.next(store.data(), std::get<3>(*bound)) ==
                (after == expected.end() ? kNoBlock : std::get<3>(*after)));
      }
      REQUIRE(free.largest(store.data()) == std::get<0>(*expected.rbegin()));
      if (step % 16 == 0) free.validate(store.data());
    }
    std::vector<BlockIndex> order;
    free.collect(store.data(), order);
    std::vector<BlockIndex> reference;
    for (const Key& each : expected) reference.push_back(std::get<3>(each));
    CHECK(order == reference);
  }
}

TEST_CASE("a free set tells of every link and size that is wrong") {
  // Five blocks of 512 bytes, one group; two of 1.5 MiB and a bit, groups of one bin.
  const auto broken = [](const std::function<void(BlockStore&)>& damage) {
    BlockStore store;
    FreeSet free;
    for (std::uint64_t i = 0; i < 7; ++i) {
      const BlockIndex index = store.create();
      store[index].address = i << 21U;
      store[index].bytes = i < 5 ? 512 : 3 * kMiB / 2 + (i - 5) * 512;
      free.insert(store.data(), index);
    }
    free.validate(store.data());
    damage(store);
    try {
      free.validate(store.data());
    } catch (const InternalError&) {
      return true;
    }
    return false;
  };
  CHECK_FALSE(broken([](BlockStore&) {}));
  CHECK(broken([](BlockStore& store) { store[1].bytes = 1024; }));
  CHECK(broken([](BlockStore& store) { store[2].bytes = 1024; }));
  CHECK(broken([](BlockStore& store) { store[2].address = 0, store[1].address = 512; }));
  CHECK(broken([](BlockStore& store) { store[6].flags ^= Block::kFree; }));
  CHECK(broken([](BlockStore& store) { store[6].flags ^= Block::kGroupLeader; }));
  CHECK(broken([](BlockStore& store) { store[3].links.left = 6; }));
  CHECK(broken([](BlockStore& store) { store[7].links.left = 1; }));
  CHECK(broken([](BlockStore& store) { std::swap(store[6].bytes, store[7].bytes); }));
}

TEST_CASE("books tell of a level below zero") {
  Books books;
  books.increase<Amount::kAllocatedBytes>(books.of(PoolKind::kSmall), 512);
  books.validate();
  books.of(PoolKind::kSmall).decrease(Amount::kAllocatedBytes, 1024);
  CHECK_THROWS_AS(books.validate(), InternalError);
}

TEST_CASE("the device hands out addresses as the policy's example says") {
  DeviceMemory device({.total_bytes = 85017755648, .context_bytes = 0});
  const std::vector<std::pair<Bytes, std::uint64_t>> example{
      {2, 35423782961152},  {20, 35423785058304}, {20, 35423749406720},
      {10, 35423770378240}, {2, 35423780864000},  {40, 35423682297856}};
  for (const auto& [mib, address] : example) CHECK(device.allocate(mib * kMiB) == address);
  CHECK(device.free_bytes() == 85017755648 - 94 * kMiB);
  // A piece that is one whole hole goes back to the unused ranges and is the highest fitting one
  // again.
  device.free(35423682297856, 40 * kMiB);
  CHECK(device.allocate(33 * kMiB) == 35423682297856);
  CHECK_FALSE(device.allocate(85017755648).has_value());
}

TEST_CASE("reservations take addresses alone, pages amounts alone") {
  DeviceMemory device(
      {.total_bytes = 100 * kMiB, .context_bytes = 40 * kMiB, .other_bytes = 20 * kMiB});
  CHECK(device.reserve(1000 * kMiB) == DeviceMemory::kVirtualBase);
  CHECK(device.reserve(kMiB) == DeviceMemory::kVirtualBase + 1000 * kMiB);
  device.release(DeviceMemory::kVirtualBase, 1000 * kMiB);
  CHECK(device.reserve(10 * kMiB) == DeviceMemory::kVirtualBase);
  CHECK(device.take(40 * kMiB));
  CHECK_FALSE(device.take(1));
  CHECK(device.taken_bytes() == 40 * kMiB);
  device.give_back(40 * kMiB);
  CHECK(device.free_bytes() == 40 * kMiB);
}

TEST_CASE("a stream's hash has its place in its pool, the pool and the device in it") {
  constexpr std::uint64_t kStream = std::uint64_t{1} << 56U;
  CHECK(WalkTable::hash_of_stream(0, 0) == kStream);
  CHECK(WalkTable::hash_of_stream(1, 0) == kStream + 3);
  CHECK(WalkTable::hash_of_stream(2, 0) == kStream + 32 + 3);
  CHECK(WalkTable::hash_of_stream(32, 0) == kStream + 31 * 32 + 3);
  CHECK(WalkTable::hash_of_stream(33, 0) == kStream + 5);  // the pool of the next priority
  CHECK(WalkTable::hash_of_stream(1, 2) == kStream + (std::uint64_t{2} << 48U) + 3);
}

TEST_CASE("a walk table holds what a set holds, whatever its order") {
  Random random(9);
  for (int round = 0; round < 50; ++round) {
    WalkTable table;
    std::set<WalkTable::Key> expected;
    for (int step = 0; step < 400; ++step) {
      const auto stream = static_cast<StreamId>(random.below(40));
      const std::uint64_t hash = WalkTable::hash_of_stream(stream, 0);
      if (random.chance(2, 3)) {
        REQUIRE(table.insert(hash, stream) == expected.insert(stream).second);
      } else {
        REQUIRE(table.erase(hash, stream) == (expected.erase(stream) == 1));
      }
      std::set<WalkTable::Key> walked;
      for (std::size_t slot = table.first(); slot != table.end(); slot = table.next(slot))
        walked.insert(table.at(slot));
      REQUIRE(walked == expected);
      REQUIRE(table.size() == expected.size());
    }
  }
}

}  // namespace
}  // namespace tidemark
