#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/run/run.h"

namespace tidemark {
namespace {

RunOptions options(bool leave_out) {
  RunOptions out;
  out.leave_out_repeats = leave_out;
  return out;
}

/// Where an event of the whole run stands among those that were simulated, and how much later it
/// is.
struct Place {
  std::size_t event = 0;
  Nanoseconds later_ns = 0;
};

std::vector<Place> expand(const RunResult& run, std::size_t device) {
  std::vector<Place> places;
  std::size_t repeat = 0;
  const std::size_t count = run.devices[device].events.size();
  for (std::size_t event = 0; event <= count; ++event) {
    for (; repeat < run.repeats.size() && run.repeats[repeat].before_event[device] == event;
         ++repeat) {
      const RepeatResult& left_out = run.repeats[repeat];
      const std::uint64_t pattern = left_out.events[device] / left_out.repeat.times;
      for (std::uint64_t time = 1; time <= left_out.repeat.times; ++time) {
        const auto later = static_cast<Nanoseconds>(time) * left_out.duration_ns /
                           static_cast<Nanoseconds>(left_out.repeat.times);
        for (std::uint64_t i = 0; i < pattern; ++i) places.push_back({event - pattern + i, later});
      }
    }
    if (event < count) places.push_back({event, 0});
  }
  return places;
}

/// Events and requests have other numbers behind turns that were left out.
bool same_peak(const RunResult& x, const DeviceResult& a, const PeakResult& p, const RunResult& y,
               const DeviceResult& b, const PeakResult& q) {
  return p.bytes == q.bytes && p.sample == q.sample && p.by_category == q.by_category &&
         p.time_ns == q.time_ns && p.live.size() == q.live.size() &&
         x.program.labels.text(p.label) == y.program.labels.text(q.label) &&
         (p.phase == kNoPhase ? q.phase == kNoPhase
                              : a.phases[p.phase].name == b.phases[q.phase].name);
}

/// The first difference between a run in which turns were left out and the whole one; empty: none.
std::string difference(const RunResult& shorter, const RunResult& whole) {
  const auto differ = [](std::string_view what) { return std::string(what) + " differs"; };
  if (shorter.instructions != whole.instructions) return differ("the number of instructions");
  if (shorter.end_ns != whole.end_ns) return differ("the end");
  if (shorter.printed != whole.printed) return differ("what was printed");
  if (shorter.host.peak.held() != whole.host.peak.held() ||
      shorter.host.peak.time_ns != whole.host.peak.time_ns ||
      shorter.host.pageable_bytes != whole.host.pageable_bytes ||
      !(shorter.host.pinned == whole.host.pinned))
    return differ("the host's memory");
  for (std::size_t i = 0; i < whole.devices.size(); ++i) {
    const DeviceResult& a = shorter.devices[i];
    const DeviceResult& b = whole.devices[i];
    if (!(a.statistics == b.statistics)) return differ("memory_stats()");
    if (a.device_calls != b.device_calls || a.device_call_ns != b.device_call_ns)
      return differ("device calls");
    if (a.device_free_bytes != b.device_free_bytes) return differ("what is free");
    if (!same_peak(shorter, a, a.peak_allocated, whole, b, b.peak_allocated))
      return differ("the peak of allocated");
    if (!same_peak(shorter, a, a.peak_reserved, whole, b, b.peak_reserved))
      return differ("the peak of reserved");
    if (a.segments.size() != b.segments.size()) return differ("the segments");
    for (std::size_t s = 0; s < b.segments.size(); ++s) {
      SegmentInfo segment = a.segments[s];
      for (std::size_t j = 0; j < segment.blocks.size() && j < b.segments[s].blocks.size(); ++j)
        segment.blocks[j].id = b.segments[s].blocks[j].id;
      if (!(segment == b.segments[s])) return differ(fmt::format("segment {}", s));
    }
    const std::vector<Place> places = expand(shorter, i);
    if (total_events(shorter, i) != b.events.size() || places.size() != b.events.size())
      return fmt::format("{} events of {}", places.size(), b.events.size());
    for (std::size_t event = 0; event < places.size(); ++event) {
      const auto& [from, later_ns] = places[event];
      const Event& x = a.events[from];
      const Event& y = b.events[event];
      const bool is_equal =
          x.address == y.address && x.bytes == y.bytes && x.stream == y.stream &&
          x.action == y.action && a.samples[from] == b.samples[event] &&
          shorter.program.labels.text(a.labels[from]) == whole.program.labels.text(b.labels[event]);
      if (!is_equal) return differ(fmt::format("event {}", event));
      // What stands behind the turns that were left out has its own time already: later_ns is 0.
      if (a.times_ns[from] + later_ns != b.times_ns[event])
        return differ(fmt::format("the time of event {}", event));
    }
  }
  return {};
}

struct Both {
  RunResult shorter;
  RunResult whole;
};

Both run_both(const Scenario& scenario) {
  return {run(scenario, options(true)), run(scenario, options(false))};
}

std::uint64_t turns_left_out(const RunResult& run) {
  std::uint64_t turns = 0;
  for (const RepeatResult& repeat : run.repeats)
    turns += static_cast<std::uint64_t>(repeat.repeat.last - repeat.repeat.first + 1);
  return turns;
}

/// A loop of the user's own around a small model.
Scenario with_loop(const std::string& loop, const std::string& more = {}) {
  std::string text = "schema_version: 1\ndevice: h100\npytorch: \"2.11\"\n" + more +
                     "layers: [Linear(256, 512), ReLU(), Linear(512, 16)]\n"
                     "loop: |\n";
  std::string line;
  for (const char c : loop + "\n") {
    line += c;
    if (c != '\n') continue;
    text += "  " + line;
    line.clear();
  }
  return parse_scenario(std::make_shared<const SourceText>(SourceText{"test.yaml", text}), ".");
}

const std::string kStep =
    "  with phase(f\"step {step}\"):\n"
    "    opt.zero_grad()\n"
    "    x = torch.zeros(32, 256).to(\"cuda\")\n"
    "    loss = model(x).sum()\n"
    "    loss.backward()\n"
    "    opt.step()\n";
const std::string kBefore = "opt = torch.optim.AdamW(model.parameters(), lr=1e-3)\n";

}  // namespace

TEST_CASE("a run whose world is left standing gives what another gives") {
  // An object that is gone when the program ends runs no __del__, whoever takes the world apart.
  const Scenario scenario = with_loop(
      "class Loud:\n  def __del__(self):\n    print('gone')\nkept = Loud()\nprint('made')\n" +
      kBefore + "for step in range(2):\n" + kStep);
  RunOptions last = options(false);
  last.is_last = true;
  const RunResult standing = run(scenario, last);
  CHECK(standing.printed == "made\n");
  CHECK(difference(standing, run(scenario, options(false))) == "");
}

TEST_CASE("a million steps are a handful simulated and the rest counted") {
  const RunResult result =
      run(with_loop(kBefore + "for step in range(1000000):\n" + kStep), options(true));
  REQUIRE(result.repeats.size() == 1);
  const Repeat& repeat = result.repeats[0].repeat;
  CHECK(repeat.variable == "step");
  // Inputs go to two addresses in turn: two steps are the pattern, and the last one is left over.
  CHECK(repeat.pattern_last - repeat.pattern_first == 1);
  CHECK(repeat.last == 999'998);
  CHECK(repeat.first == repeat.pattern_last + 1);
  CHECK(repeat.first < 8);
  // Every step that was left out has the events of the pattern.
  CHECK(result.repeats[0].events[0] % repeat.times == 0);
  CHECK(result.devices[0].events.size() < 1'000);
  CHECK(result.devices[0].statistics.allocation.all.allocated > 10'000'000);
}

TEST_CASE("what is left out is what the whole simulation does event for event") {
  const std::string more =
      GENERATE("", "allocator: {conf: \"expandable_segments:True\"}\n",
               "allocator: {conf: \"max_split_size_mb:20,roundup_power2_divisions:4\"}\n");
  const std::string loop = GENERATE(
      "for step in range(20):\n" + kStep, "for step in range(20):\n" + kStep + "  loss.item()\n",
      "for step in range(20):\n" + kStep + "  torch.cuda.empty_cache()\n",
      "for step in range(20):\n" + kStep + "  del x, loss\n",
      "for step in range(90):\n" + kStep +
          "  if (step + 1) % 4 == 0:\n    y = model(torch.zeros(512, 256).to(\"cuda\"))\n",
      "for step in range(23):\n" + kStep +
          "  if step % 2:\n    y = torch.zeros(1000, 1000, device=\"cuda\")\n",
      "for step in range(30):\n" + kStep +
          "  if step < 9:\n    y = torch.zeros(step_size, 1000, device=\"cuda\")\n",
      "for step in range(30):\n" + kStep +
          "  if step == 20:\n    kept = torch.zeros(777, 1000, device=\"cuda\")\n",
      "for epoch in range(6):\n for step in range(9):\n" + kStep +
          "z = torch.zeros(5, device=\"cuda\")\n",
      "def train(model, opt):\n for step in range(20):\n" + kStep + "train(model, opt)\n",
      "for step in range(20):\n" + kStep +
          "  torch.cuda.reset_peak_memory_stats()\n  big = torch.cuda.max_memory_allocated() > "
          "1\n");
  CAPTURE(more, loop);
  const Both both = run_both(with_loop(kBefore + "step_size = 500\n" + loop, more));
  CHECK(difference(both.shorter, both.whole) == "");
  CHECK(turns_left_out(both.shorter) > 0);
}

TEST_CASE("steps are all simulated where something differs from one to the next") {
  const std::string loop = GENERATE(
      "for step in range(20):\n" + kStep + "  print(\"loss\")\n",
      "for step in range(20):\n" + kStep + "  y = torch.zeros(step + 1, 1000, device=\"cuda\")\n",
      "kept = []\nfor step in range(20):\n" + kStep + "  kept.append(x)\n",
      "count = 0\nfor step in range(20):\n" + kStep + "  count += 1\n",
      "sizes = [1, 2, 3, 4] * 5\nfor step in range(20):\n" + kStep +
          "  y = torch.zeros(sizes[step], device=\"cuda\")\n",
      "def look():\n return step\nfor step in range(20):\n" + kStep + "  look()\n",
      "for step in range(20):\n" + kStep +
          "  n = torch.cuda.memory_stats()[\"allocation.all.allocated\"]\n  del n\n");
  CAPTURE(loop);
  const Both both = run_both(with_loop(kBefore + loop));
  CHECK(both.shorter.repeats.empty());
  CHECK(difference(both.shorter, both.whole) == "");
}

TEST_CASE("numbers that nobody looks at keep no step from being left out") {
  // Weights drawn on the host and known, a batch drawn each step; only the mask is looked at.
  const Both both = run_both(
      with_loop("m = nn.Linear(4, 4).cuda()\no = torch.optim.SGD(m.parameters(), lr=0.1)\n"
                "mask = torch.ones(3, device=\"cuda\")\n"
                "for step in range(40):\n"
                "  m(torch.randn(2, 4).cuda()).sum().backward()\n  o.step()\n  o.zero_grad()\n"
                "  assert mask.all()\n"));
  CHECK_FALSE(both.shorter.repeats.empty());
  CHECK(difference(both.shorter, both.whole) == "");
}

TEST_CASE("numbers that the steps left out would have changed are not known after them") {
  const std::string loop =
      "count = torch.zeros(4, device=\"cuda\")\nmask = torch.ones(3, device=\"cuda\")\n"
      "for step in range(40):\n  y = torch.zeros(1000, device=\"cuda\")\n  count += 1\n";
  const Both both = run_both(with_loop(loop + "print(mask.tolist())\n"));
  CHECK_FALSE(both.shorter.repeats.empty());
  CHECK(both.shorter.printed == "[1.0, 1.0, 1.0]\n");
  CHECK(run_both(with_loop(loop + "print(count[0].item())\n")).shorter.printed == "?\n");
  // Where each step looks at its number each is executed.
  CHECK(run_both(with_loop(loop + "  assert count[0] < 50\n")).shorter.repeats.empty());
}

TEST_CASE("the goldens' runs made longer lose nothing by leaving out what repeats") {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(TIDEMARK_SOURCE_DIR) / "tests/golden/training";
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    if (fs::exists(entry.path() / "scenario.yaml")) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  REQUIRE(names.size() > 100);
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < names.size(); i += 8) {
    const std::string& name = names[i];
    const std::string path = (root / name / "scenario.yaml").string();
    const Scenario scenario = load_scenario(path);
    const bool varies =
        scenario.train && (scenario.train->batch.is_list || scenario.train->seq.is_list ||
                           scenario.train->image.is_list);
    if (!scenario.train || varies) continue;
    CAPTURE(name);
    const Both both = run_both(load_scenario(path, {{"train.steps", "40"}}));
    CHECK(difference(both.shorter, both.whole) == "");
    if (!both.shorter.repeats.empty()) ++repeated;
  }
  CHECK(repeated > 4);
}

}  // namespace tidemark
