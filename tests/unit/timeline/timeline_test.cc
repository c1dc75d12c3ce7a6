#include "sim/timeline/timeline.h"

namespace tidemark {
namespace {

TEST_CASE("a phase's name splits into phase and step") {
  CHECK(split_phase_name("backward 2").phase == "backward");
  CHECK(split_phase_name("backward 2").step == "2");
  CHECK(split_phase_name("forward 1.3").step == "1.3");
  CHECK(split_phase_name("model").phase == "model");
  CHECK(split_phase_name("model").step.empty());
  CHECK(split_phase_name("my phase").phase == "my phase");
  CHECK(split_phase_name("my phase").step.empty());
}

TEST_CASE("an event belongs to the phase that holds it, never to an empty one") {
  const std::vector<PhaseSpan> phases{
      {"model", 0, 3}, {"optimizer_init", 3, 0}, {"forward 0", 3, 2}};
  CHECK(phase_at(phases, 0) == 0);
  CHECK(phase_at(phases, 2) == 0);
  CHECK(phase_at(phases, 3) == 2);
  CHECK(phase_at(phases, 4) == 2);
  CHECK_FALSE(phase_at(phases, 5).has_value());
}

//            event   0       1       2       3
//   request  0       +512            -512
//   request  1               +1024           (stays)
TEST_CASE("categories stack by what allocated moves by") {
  const auto event = [](Action action, RequestId id) { return Event{.id = id, .action = action}; };
  const std::vector<Event> events{event(Action::kAlloc, 0), event(Action::kAlloc, 1),
                                  event(Action::kFreeRequested, 0),
                                  event(Action::kFreeCompleted, 0)};
  const std::vector<Amounts> amounts{
      {.allocated = 512}, {.allocated = 1536}, {.allocated = 1024}, {.allocated = 1024}};
  const std::vector<Category> categories{Category::kActivation, Category::kParameter};
  const std::vector<CategoryBytes> stacked = stack_categories(events, amounts, categories);
  const auto of = [&](std::size_t i, Category category) {
    return stacked[i][static_cast<std::size_t>(category)];
  };
  CHECK(of(0, Category::kActivation) == 512);
  CHECK(of(1, Category::kActivation) == 512);
  CHECK(of(1, Category::kParameter) == 1024);
  CHECK(of(3, Category::kActivation) == 0);
  CHECK(of(3, Category::kParameter) == 1024);
}

TEST_CASE("a request beyond the table of categories is unknown") {
  const std::vector<Event> events{Event{.id = 5, .action = Action::kAlloc}};
  const std::vector<Amounts> amounts{{.allocated = 512}};
  CHECK(stack_categories(events, amounts, {})[0][static_cast<std::size_t>(Category::kUnknown)] ==
        512);
}

TEST_CASE("the peak is the first event with the highest value") {
  const std::vector<Amounts> amounts{
      {.reserved = 1}, {.reserved = 5}, {.reserved = 5}, {.reserved = 2}};
  CHECK(peak_event(amounts, &Amounts::reserved) == 1);
  CHECK_FALSE(peak_event({}, &Amounts::reserved).has_value());
}

TEST_CASE("fragmentation is the gap between reserved, active and requested") {
  const Fragmentation gap = fragmentation({.reserved = 100,
                                           .active = 60,
                                           .allocated = 50,
                                           .requested = 45,
                                           .inactive_split = 30,
                                           .largest_free = 20});
  CHECK(gap == Fragmentation{60 - 45, 100 - 60, 30, 20});
}

TEST_CASE("mean fragmentation leaves out moments with nothing reserved") {
  // Shares that are not active: 1/2, 0 and, twice, nothing reserved. Mean of the two: 0.25.
  const std::vector<Amounts> amounts{
      {}, {.reserved = 100, .active = 50}, {.reserved = 100, .active = 100}, {}};
  CHECK(mean_fragmentation_ppm(amounts) == 250'000);
  CHECK_FALSE(mean_fragmentation_ppm(std::vector<Amounts>(2)).has_value());
}

TEST_CASE("a share in millionths does not overflow at 2^60 bytes") {
  CHECK(parts_per_million(Bytes{1} << 59, Bytes{1} << 60) == 500'000);
}

TEST_CASE("downsampling keeps every peak") {
  PeakCurve curve(1000, 10);
  for (Bytes at = 0; at < 1000; ++at) curve.add(at == 333 ? 7 : 0);
  CHECK(curve.columns() == std::vector<Bytes>{0, 0, 0, 7, 0, 0, 0, 0, 0, 0});
  PeakCurve few(3, 10);
  for (Bytes bytes = 1; bytes <= 3; ++bytes) few.add(bytes);
  CHECK(few.columns() == std::vector<Bytes>{1, 2, 3});
}

}  // namespace
}  // namespace tidemark
