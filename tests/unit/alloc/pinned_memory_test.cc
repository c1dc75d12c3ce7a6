#include "sim/alloc/pinned_memory.h"

#include <catch2/catch.hpp>

namespace tidemark {
namespace {

TEST_CASE("pinned requests are rounded up to a power of two and kept for the next of that size") {
  TraceClock clock(TraceClock::Policy::kSync);
  PinnedMemory pinned({&clock});
  pinned.allocate(0, 4000);   // 4096
  pinned.allocate(1, 12000);  // 16384
  pinned.allocate(2, 1);      // 1
  CHECK(pinned.statistics().held == 4096 + 16384 + 1);
  CHECK(pinned.statistics().made == 3);
  pinned.free(1);
  CHECK(pinned.statistics().in_use == 4096 + 1);
  pinned.allocate(3, 8193);  // 16384 again: the kept block
  CHECK(pinned.statistics().made == 3);
  pinned.allocate(4, 8192);  // exactly a power of two
  CHECK(pinned.statistics().held == 4096 + 16384 + 1 + 8192);
  CHECK(pinned.statistics().peak_in_use == pinned.statistics().held);
}

TEST_CASE("a pinned block that a copy uses is kept aside until its stream has passed the free") {
  //     request  copy on 3  free   sync 3
  //     |---------|---------|......|  then it serves again
  TraceClock clock(TraceClock::Policy::kSync);
  PinnedMemory pinned({&clock});
  pinned.allocate(0, 1024);
  pinned.use(0, 0, 3);
  pinned.use(0, 0, 3);
  pinned.free(0);
  pinned.allocate(1, 1024);
  CHECK(pinned.statistics().made == 2);
  CHECK(pinned.statistics().in_use == 2048);
  clock.synchronize(3);
  pinned.allocate(2, 1024);
  CHECK(pinned.statistics().made == 2);
  CHECK(pinned.statistics().held == 2048);
}

TEST_CASE("only what nothing uses goes back when the host's cache is emptied") {
  TraceClock clock(TraceClock::Policy::kReady);
  PinnedMemory pinned({&clock});
  pinned.allocate(0, 512);
  pinned.allocate(1, 512);
  pinned.use(1, 0, 1);
  pinned.free(1);
  pinned.empty_cache();
  CHECK(pinned.statistics().held == 512);
  CHECK(pinned.statistics().given == 1);
  CHECK(pinned.statistics().peak_held == 1024);
}

TEST_CASE("who waits for a stream has waited for what that stream waits for") {
  //     stream 1  free|event
  //     stream 2         wait|
  //     host                 sync 2: stream 1 has passed its event, not what came after
  TraceClock clock(TraceClock::Policy::kSync);
  const EventClock::Ticket first = clock.record(1);
  clock.follow(2, clock, 1, first);
  const EventClock::Ticket later = clock.record(1);
  CHECK_FALSE(clock.is_done(1, first));
  clock.synchronize(2);
  CHECK(clock.is_done(1, first));
  CHECK_FALSE(clock.is_done(1, later));
}

}  // namespace
}  // namespace tidemark
