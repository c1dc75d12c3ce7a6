#include <catch2/catch.hpp>

#include "sim/base/check.h"
#include "sim/engine/event_queue.h"

namespace tidemark {

TEST_CASE(
    "entries of the same instant come by phase, and those of the same phase in the order of their "
    "pushes") {
  EventQueue queue;
  queue.push(10, Phase::kStart, 1);
  queue.push(10, Phase::kSignal, 2);
  queue.push(10, Phase::kFinish, 3);
  queue.push(10, Phase::kFinish, 4);
  queue.push(9, Phase::kStart, 5);
  CHECK(queue.pop().subject == 5);
  CHECK(queue.pop().subject == 3);
  CHECK(queue.pop().subject == 4);
  CHECK(queue.pop().subject == 2);
  CHECK(queue.pop().subject == 1);
  CHECK(queue.empty());
}

TEST_CASE("nothing can be scheduled before what has happened") {
  EventQueue queue;
  queue.push(10, Phase::kStart, 0);
  queue.pop();
  CHECK_THROWS_AS(queue.push(9, Phase::kFinish, 0), InternalError);
  queue.push(10, Phase::kFinish, 0);
  CHECK(queue.pop().key.time == 10);
  CHECK_THROWS_AS(queue.pop(), InternalError);
}

}  // namespace tidemark
