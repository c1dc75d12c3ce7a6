#include <catch2/catch.hpp>

#include "sim/base/check.h"
#include "sim/engine/engine.h"

namespace tidemark {
namespace {

/// One nanosecond to issue anything, so that the numbers below can be followed by hand.
Engine small_engine() {
  return Engine({.launch_overhead_ns = 1, .event_overhead_ns = 1, .launch_queue_depth = 16});
}

}  // namespace

TEST_CASE("a stream does its operations one after another, the host runs ahead") {
  //  host    1 2        112
  //  stream    |--10--|--100--|
  Engine engine = small_engine();
  engine.launch(0, 10);
  engine.launch(0, 100);
  CHECK(engine.now() == 2);
  engine.synchronize(0);
  CHECK(engine.now() == 1 + 10 + 100);
  CHECK(engine.finished() == 2);
  CHECK(engine.busy_ns(0) == 110);
}

TEST_CASE("streams run side by side") {
  Engine engine = small_engine();
  engine.launch(0, 100);
  engine.launch(1, 100);
  engine.synchronize(0);
  CHECK(engine.now() == 101);
  engine.synchronize(1);
  CHECK(engine.now() == 102);
}

TEST_CASE("a point is passed exactly when the work before it ends, not a nanosecond sooner") {
  Engine engine = small_engine();
  engine.launch(0, 10);  // from 1 to 11
  const Ticket ticket = engine.mark(0);
  engine.spend(9);
  CHECK(engine.now() == 10);
  CHECK_FALSE(engine.passed(ticket));
  engine.spend(1);
  CHECK(engine.passed(ticket));
}

TEST_CASE("a stream waits for the point that an event stood for when the wait was issued") {
  //  stream 0   1|---100---|101
  //  stream 1             w|-5-|106
  Engine engine = small_engine();
  engine.launch(0, 100);  // from 1 to 101
  engine.record(0, 7);    // at 2
  engine.wait(1, 7);      // at 3
  engine.record(0, 8);
  engine.launch(0, 1000);
  engine.record(0, 7);  // a later point: the wait above keeps the first
  engine.launch(1, 5);
  engine.synchronize(1);
  CHECK(engine.now() == 106);
}

TEST_CASE("waiting for an event that was never recorded holds nothing up") {
  Engine engine = small_engine();
  engine.wait(1, 3);
  engine.launch(1, 5);
  engine.synchronize(1);
  CHECK(engine.now() == 2 + 5);
}

TEST_CASE("work issued late starts when it is issued") {
  Engine engine = small_engine();
  engine.launch(0, 10);
  engine.spend(50);  // 51
  engine.launch(0, 10);
  engine.synchronize(0);
  CHECK(engine.now() == 52 + 10);
}

TEST_CASE("an idle engine is drained already") {
  Engine engine;
  engine.drain();
  engine.synchronize(5);
  CHECK(engine.now() == 0);
  CHECK(engine.busy_ns(5) == 0);
}

TEST_CASE("a full launch queue holds the host until the oldest operation ends") {
  Engine engine({.launch_overhead_ns = 1, .event_overhead_ns = 1, .launch_queue_depth = 4});
  for (int i = 0; i < 4; ++i) engine.launch(0, 100);
  CHECK(engine.now() == 4);
  engine.launch(0, 100);
  CHECK(engine.now() == 101);
}

TEST_CASE("a meeting starts with its last party and ends for all at once") {
  Engine engine = small_engine();
  engine.launch(0, 30);      // from 1 to 31
  engine.meet(1, 0, 2, 10);  // there at 2
  engine.meet(0, 0, 2, 10);  // there at 31
  engine.launch(1, 1);
  engine.synchronize(1);
  CHECK(engine.now() == 31 + 10 + 1);
  engine.drain();
  CHECK(engine.finished() == 4);
}

TEST_CASE("a run that cannot end says what each stuck operation waits for") {
  Engine engine = small_engine();
  engine.meet(1, 3, 4, 10);
  engine.record(1, 0);
  engine.wait(2, 0);
  engine.launch(2, 5);
  try {
    engine.drain();
    FAIL("nothing was reported");
  } catch (const StuckError& error) {
    REQUIRE(error.stuck().size() == 4);
    CHECK(error.stuck()[0].what == "meeting 3");
    CHECK(error.stuck()[0].waits_for == "3 of 4 streams to arrive");
    CHECK(error.stuck()[1].waits_for == "the operation before it");
    CHECK(error.stuck()[2].waits_for == "stream 1 to come to point 0");
    CHECK(std::string(error.what()) ==
          "4 operations can never end; meeting 3 on stream 1, issued at 1 ns, waits for 3 of 4 "
          "streams to arrive; the wait for point 0 on stream 2, issued at 3 ns, waits for stream 1 "
          "to come to point 0");
  }
  CHECK_THROWS_AS(engine.synchronize(2), StuckError);
  CHECK_THROWS_AS(engine.launch(0, -1), InternalError);
}

TEST_CASE("a device call that waits for everything starts after the longest stream") {
  Engine engine = small_engine();
  engine.launch(0, 10);
  engine.launch(1, 40);  // from 2 to 42
  engine.synchronize_all();
  engine.spend(7);
  CHECK(engine.now() == 49);
}

}  // namespace tidemark
