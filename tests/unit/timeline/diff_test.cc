#include "sim/timeline/diff.h"

namespace tidemark {
namespace {

Event segment(std::uint64_t address, Bytes bytes) {
  return {.address = address, .bytes = bytes, .action = Action::kSegmentAlloc};
}
Event alloc(RequestId id, std::uint64_t address, Bytes bytes) {
  return {.address = address, .bytes = bytes, .id = id, .action = Action::kAlloc};
}
Event free_requested(RequestId id, std::uint64_t address, Bytes bytes) {
  return {.address = address, .bytes = bytes, .id = id, .action = Action::kFreeRequested};
}
Event free_completed(RequestId id, std::uint64_t address, Bytes bytes) {
  return {.address = address, .bytes = bytes, .id = id, .action = Action::kFreeCompleted};
}

std::vector<Event> sample_events() {
  return {segment(4096, 2 * kMiB),      alloc(0, 4096, 100),          alloc(1, 4608, 200),
          free_requested(0, 4096, 100), free_completed(0, 4096, 100), free_requested(1, 4608, 200),
          free_completed(1, 4608, 200), alloc(2, 4096, 300)};
}

TEST_CASE("a sequence equals itself") {
  const std::vector<Event> events = sample_events();
  const EventDiff diff = diff_events(events, events, {});
  CHECK(diff.equal());
  CHECK(diff.differing == 0);
  CHECK(diff.a == diff.b);
}

TEST_CASE("each compared column counts, the join to instructions does not") {
  const std::vector<Event> a = sample_events();
  const auto first_difference = [&](auto change, const DiffOptions& options) {
    std::vector<Event> b = a;
    change(b[2]);
    return diff_events(a, b, options).first;
  };
  CHECK(first_difference([](Event& e) { e.action = Action::kOom; }, {}) == 2);
  CHECK(first_difference([](Event& e) { ++e.bytes; }, {}) == 2);
  CHECK(first_difference([](Event& e) { ++e.address; }, {}) == 2);
  CHECK(first_difference([](Event& e) { ++e.id; }, {}) == 2);
  CHECK(first_difference([](Event& e) { ++e.stream; }, {}) == 2);
  CHECK(first_difference([](Event& e) { ++e.device; }, {}) == 2);
  CHECK_FALSE(first_difference([](Event& e) { ++e.instruction; }, {}).has_value());
  CHECK_FALSE(
      first_difference([](Event& e) { ++e.address; }, {.compare_addresses = false}).has_value());
  CHECK_FALSE(first_difference([](Event& e) { ++e.id; }, {.compare_ids = false}).has_value());
}

TEST_CASE("a missing event shifts what follows, and the equal tail says how much is only shifted") {
  const std::vector<Event> a = sample_events();
  std::vector<Event> b = a;
  b.erase(b.begin() + 2);  // alloc 1
  const EventDiff diff = diff_events(a, b, {});
  CHECK(diff.first == 2);
  CHECK(diff.equal_tail == 5);     // the five events after it
  CHECK(diff.differing == 5 + 1);  // five shifted positions that all differ, one that b lacks
}

TEST_CASE("a sequence that only goes on differs where the other ends") {
  const std::vector<Event> a = sample_events();
  const std::vector<Event> b(a.begin(), a.begin() + 6);
  const EventDiff diff = diff_events(a, b, {});
  CHECK(diff.first == 6);
  CHECK(diff.differing == 2);
  CHECK(diff.equal_tail == 0);
}

TEST_CASE("consecutive frees compare as a set only when asked") {
  const std::vector<Event> a = sample_events();
  std::vector<Event> b = a;
  std::swap(b[3], b[5]);
  std::swap(b[4], b[6]);
  CHECK(diff_events(a, b, {}).first == 3);
  CHECK(diff_events(a, b, {.unordered_frees = true}).equal());
}

TEST_CASE("a free does not cross an allocation, and another free is not the same set") {
  const std::vector<Event> a = sample_events();
  std::vector<Event> moved = a;
  std::swap(moved[6], moved[7]);
  CHECK_FALSE(diff_events(a, moved, {.unordered_frees = true}).equal());
  std::vector<Event> other = a;
  other[5].id = 7;
  CHECK_FALSE(diff_events(a, other, {.unordered_frees = true}).equal());
}

TEST_CASE("totals follow segments and requested bytes") {
  const EventTotals totals = event_totals(sample_events());
  CHECK(totals.count[static_cast<std::size_t>(Action::kAlloc)] == 3);
  CHECK(totals.bytes[static_cast<std::size_t>(Action::kAlloc)] == 100 + 200 + 300);
  CHECK(totals.peak_reserved_bytes == 2 * kMiB);
  CHECK(totals.peak_reserved_event == 0);
  // 100 + 200 after event 2; 300 again at the end is no higher
  CHECK(totals.peak_requested_bytes == 300);
  CHECK(totals.peak_requested_event == 2);
  CHECK(totals.end_requested_bytes == 300);
}

}  // namespace
}  // namespace tidemark
