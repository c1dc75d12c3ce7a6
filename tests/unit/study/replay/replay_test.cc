#include "sim/study/replay/replay.h"

#include "sim/alloc/settings_parser.h"
#include "sim/base/problem.h"
#include "sim/run/record.h"
#include "sim/run/run.h"

using namespace tidemark;

namespace {

constexpr RequestId kNone = kNoRequest;

Instruction make(Verb verb, RequestId id = kNone, Bytes bytes = 0, StreamId stream = 0) {
  Instruction instruction;
  instruction.verb = verb;
  instruction.id = id;
  instruction.bytes = bytes;
  instruction.stream = stream;
  return instruction;
}

ReplayOptions device(Bytes bytes = 80 * kGiB) {
  ReplayOptions options;
  options.device.total_bytes = bytes;
  return options;
}

AllocatorSettings settings(std::string_view conf) { return parse_settings("conf", conf).settings; }

/// Sizes that come and go in waves: enough to differ between settings.
std::vector<Instruction> waves() {
  std::vector<Instruction> trace;
  RequestId next = 0;
  for (Bytes wave = 1; wave <= 6; ++wave) {
    const RequestId first = next;
    for (Bytes i = 1; i <= 40; ++i) trace.push_back(make(Verb::kAlloc, next++, wave * i * 70'000));
    for (RequestId id = first; id < next; id += 2) trace.push_back(make(Verb::kFree, id));
    trace.push_back(make(Verb::kResetPeak));
    for (RequestId id = first + 1; id < next; id += 2) trace.push_back(make(Verb::kFree, id));
  }
  return trace;
}

}  // namespace

// S0 |5A|5A|  10f  |     then S0 |5f|5A|  10f  |   S1 |30A|
TEST_CASE("a summary is counted from the events") {
  const std::vector<Instruction> trace{make(Verb::kAlloc, 0, 5 * kMiB),
                                       make(Verb::kAlloc, 1, 5 * kMiB), make(Verb::kFree, 0),
                                       make(Verb::kAlloc, 2, 30 * kMiB)};
  const ReplaySummary summary = replay(trace, {}, device()).summary;
  CHECK(summary.peak_reserved == 50 * kMiB);
  CHECK(summary.peak_allocated == 35 * kMiB);
  CHECK(summary.peak_live == 35 * kMiB);
  // At the peak 50 are held and 35 live: 15 of 50.
  CHECK(summary.fragmentation_at_peak == 300'000);
  // segment 20 of 20, alloc 15 of 20, alloc 10 of 20, free asked and done 15 of 20 each, segment 45
  // of 50, alloc 15 of 50: (1 + 0.75 + 0.5 + 0.75 + 0.75 + 0.9 + 0.3) / 7
  CHECK(summary.mean_fragmentation == 707'142);
  CHECK(summary.most_segments == 2);
  CHECK(summary.device_calls == 2);
  CHECK(summary.retries == 0);
  CHECK(summary.ooms == 0);
}

TEST_CASE("peaks are over the whole trace, whatever it resets") {
  const std::vector<Instruction> trace{make(Verb::kAlloc, 0, 30 * kMiB), make(Verb::kFree, 0),
                                       make(Verb::kEmptyCache), make(Verb::kResetPeak),
                                       make(Verb::kAlloc, 1, kMiB)};
  const ReplayResult result = replay(trace, {}, device());
  CHECK(result.summary.peak_reserved == 30 * kMiB);
  CHECK(result.summary.peak_allocated == 30 * kMiB);
  CHECK(result.statistics.reserved_bytes.all.peak == static_cast<std::int64_t>(2 * kMiB));
}

TEST_CASE("a refused request leaves its id dead and the trace goes on") {
  const std::vector<Instruction> trace{make(Verb::kAlloc, 0, 10 * kMiB),
                                       make(Verb::kAlloc, 1, 60 * kMiB), make(Verb::kUse, 1, 0, 2),
                                       make(Verb::kFree, 1), make(Verb::kAlloc, 2, 10 * kMiB)};
  const ReplayResult result = replay(trace, {}, device(50 * kMiB));
  CHECK(result.summary.ooms == 1);
  CHECK(result.summary.retries == 1);
  REQUIRE(result.first_oom);
  CHECK(result.first_oom->id == 1);
  CHECK(result.first_oom->segment_bytes == 60 * kMiB);
  CHECK(result.summary.peak_allocated == 20 * kMiB);
}

TEST_CASE("what is kept changes no figure") {
  const std::vector<Instruction> trace = waves();
  for (const char* const conf : {"", "expandable_segments:True", "backend:cudaMallocAsync",
                                 "backend:naive", "backend:ideal"}) {
    INFO(conf);
    ReplayOptions options = device(300 * kMiB);
    const ReplayResult plain = replay(trace, settings(conf), options);
    CHECK(plain.events.empty());
    options.keep_events = true;
    const ReplayResult kept = replay(trace, settings(conf), options);
    options.keep_samples = true;
    const ReplayResult sampled = replay(trace, settings(conf), options);
    CHECK(plain.summary == kept.summary);
    CHECK(plain.summary == sampled.summary);
    CHECK(plain.statistics == sampled.statistics);
    CHECK(kept.events == sampled.events);
    REQUIRE(sampled.samples.size() == sampled.events.size());
    REQUIRE(sampled.live.size() == sampled.events.size());
    for (std::size_t i = 0; i < sampled.live.size(); ++i)
      CHECK(sampled.live[i] <= sampled.samples[i].reserved);
  }
}

TEST_CASE("nothing holds less than the ideal backend") {
  const std::vector<Instruction> trace = waves();
  const Bytes ideal = replay(trace, settings("backend:ideal"), device()).summary.peak_reserved;
  for (const char* const conf : {"", "expandable_segments:True", "max_split_size_mb:32",
                                 "backend:cudaMallocAsync", "backend:naive"}) {
    const ReplaySummary summary = replay(trace, settings(conf), device()).summary;
    INFO(conf);
    CHECK(summary.peak_live == ideal);
    CHECK(summary.peak_reserved >= ideal);
  }
}

TEST_CASE("results stand in the order of the settings, whatever the threads") {
  const std::vector<Instruction> trace = waves();
  std::vector<AllocatorSettings> all;
  for (const char* const conf :
       {"", "expandable_segments:True", "max_split_size_mb:32", "backend:naive",
        "roundup_power2_divisions:4", "backend:ideal", "backend:cudaMallocAsync"}) {
    all.push_back(settings(conf));
  }
  const std::vector<ReplayResult> one = replay_all(trace, all, device(300 * kMiB), 1);
  const std::vector<ReplayResult> many = replay_all(trace, all, device(300 * kMiB), 5);
  REQUIRE(one.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(one[i].settings == all[i]);
    CHECK(one[i].summary == many[i].summary);
    CHECK(one[i].statistics == many[i].statistics);
  }
}

TEST_CASE("an error under one setting is not lost among threads") {
  const std::vector<Instruction> trace{make(Verb::kAlloc, 0, 5 * kMiB)};
  const std::vector<AllocatorSettings> all{
      settings(""), settings("large_segment_size_mb:33,expandable_segments:True")};
  CHECK_THROWS_AS(replay_all(trace, all, device(), 2), InputError);
}

// a on stream 0, used by stream 7, freed; then a request of the same size.
TEST_CASE("the event policy decides when a pending block is free again") {
  const std::vector<Instruction> trace{make(Verb::kAlloc, 0, 2 * kMiB), make(Verb::kUse, 0, 0, 7),
                                       make(Verb::kFree, 0), make(Verb::kAlloc, 1, 2 * kMiB)};
  const auto second_address = [&trace](EventPolicy policy) {
    ReplayOptions options = device();
    options.policy = policy;
    options.keep_events = true;
    const ReplayResult result = replay(trace, {}, options);
    const std::uint64_t first = result.events.at(1).address;
    return result.events.back().address - first;
  };
  CHECK(second_address({EventPolicy::Kind::kSync, 0}) == 2 * kMiB);
  CHECK(second_address({EventPolicy::Kind::kReady, 0}) == 0);
  CHECK(second_address({EventPolicy::Kind::kLag, 1}) == 2 * kMiB);
  CHECK(second_address({EventPolicy::Kind::kSimulated, 0}) == 0);  // nothing was queued on stream 7
}

TEST_CASE("simulated time changes nothing where no other stream is") {
  const std::vector<Instruction> trace = waves();
  ReplayOptions options = device(300 * kMiB);
  const ReplaySummary sync = replay(trace, {}, options).summary;
  options.policy.kind = EventPolicy::Kind::kSimulated;
  CHECK(replay(trace, {}, options).summary == sync);
}

TEST_CASE("speed is measured over requests and frees") {
  const std::vector<Instruction> trace = waves();
  const ReplaySpeed speed = measure_replay(trace, {}, device(), 4);
  CHECK(speed.events == 480);
  CHECK(speed.run_ns.size() == 4);
  CHECK(speed.best_events_per_s >= speed.median_events_per_s);
  CHECK(speed.median_events_per_s > 0);
}

namespace {

Scenario from_text(const std::string& loop, const std::string& conf) {
  auto text = std::make_shared<SourceText>();
  text->name = "test.yaml";
  text->text = "schema_version: 1\ndevice: h100-sxm-80gb\nallocator: {conf: \"" + conf +
               "\"}\nlayers: [Linear(300, 7000), ReLU(), Linear(7000, 10)]\nloop: |\n" + loop;
  return parse_scenario(text, ".");
}

constexpr const char* kTwoSteps =
    "  opt = torch.optim.AdamW(model.parameters())\n"
    "  for batch in [700, 30]:\n"
    "    model(torch.zeros(batch, 300).to('cuda')).sum().backward()\n"
    "    opt.step()\n"
    "    torch.cuda.reset_peak_memory_stats()\n";

}  // namespace

TEST_CASE("a scenario recorded once has the peaks of its own run under every setting", "[study]") {
  const Recording recording = record(from_text(kTwoSteps, ""));
  REQUIRE_FALSE(recording.asks);
  for (const std::string conf :
       {"", "expandable_segments:True", "max_split_size_mb:21", "roundup_power2_divisions:4",
        "garbage_collection_threshold:0.5"}) {
    INFO(conf);
    const Scenario scenario = from_text(kTwoSteps, conf);
    ReplayOptions options;
    options.device = scenario.device;
    const ReplayResult replayed = replay(recording.instructions, scenario.settings, options);
    const RunResult ran = run(scenario);
    CHECK(replayed.summary.peak_reserved == ran.devices.front().peak_reserved.bytes);
    CHECK(replayed.summary.peak_allocated == ran.devices.front().peak_allocated.bytes);
    CHECK(replayed.summary.device_calls == ran.devices.front().device_calls);
  }
}

TEST_CASE("a recording says when the code asked for memory figures", "[study]") {
  CHECK(record(from_text("  print(torch.cuda.memory_allocated())\n", "")).asks);
}
