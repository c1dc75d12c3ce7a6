#include "sim/report/run_report.h"

namespace tidemark {
namespace {

// One device of 1 GiB with 100 MiB of context. Requests: a parameter of 1 MiB, an activation of 3
// MiB that is dropped again.
//
//   event            0        1        2          3        4               5
//                    segment  alloc 0  segment    alloc 1  free_requested  free_completed
//   reserved   MiB   2        2        2 + 20     22       22              22
//   allocated  MiB            1        1          4        1               1
RunResult sample_result() {
  RunResult result;
  const LabelId to = result.program.labels.intern("to");
  const LabelId conv = result.program.labels.intern("conv1: conv2d>convolution");
  result.program.categories = {Category::kParameter, Category::kActivation};
  result.instructions = 4;
  DeviceResult device;
  device.spec.id = "test-gpu";
  device.spec.name = "Test GPU";
  device.spec.total_bytes = kGiB;
  device.spec.context_bytes = 100 * kMiB;
  const auto event = [&](Action action, RequestId id, Bytes bytes, LabelId label, Bytes reserved,
                         Bytes active, Bytes allocated) {
    device.events.push_back({.bytes = bytes, .id = id, .action = action});
    device.samples.push_back({.reserved = reserved,
                              .active = active,
                              .allocated = allocated,
                              .requested = active,
                              .inactive_split = reserved - active,
                              .largest_free = (reserved - active) / 2});
    device.labels.push_back(label);
  };
  event(Action::kSegmentAlloc, kNoRequest, 2 * kMiB, to, 2 * kMiB, 0, 0);
  event(Action::kAlloc, 0, kMiB, to, 2 * kMiB, kMiB, kMiB);
  event(Action::kSegmentAlloc, kNoRequest, 20 * kMiB, conv, 22 * kMiB, kMiB, kMiB);
  event(Action::kAlloc, 1, 3 * kMiB, conv, 22 * kMiB, 4 * kMiB, 4 * kMiB);
  event(Action::kFreeRequested, 1, 3 * kMiB, conv, 22 * kMiB, 4 * kMiB, kMiB);
  event(Action::kFreeCompleted, 1, 3 * kMiB, conv, 22 * kMiB, kMiB, kMiB);
  PhaseResult model;
  model.name = "model";
  model.events = 2;
  model.reserved = {2 * kMiB, 2 * kMiB};
  model.allocated = model.active = model.requested = {kMiB, kMiB};
  PhaseResult forward;
  forward.name = "forward 0";
  forward.first_event = 2;
  forward.events = 4;
  forward.reserved = {22 * kMiB, 22 * kMiB};
  forward.allocated = forward.active = forward.requested = {kMiB, 4 * kMiB};
  device.phases = {model, forward};
  device.peak_allocated.bytes = 4 * kMiB;
  device.peak_allocated.event = 3;
  device.peak_allocated.phase = 1;
  device.peak_allocated.label = conv;
  device.peak_allocated.sample = device.samples[3];
  device.peak_allocated.by_category[static_cast<std::size_t>(Category::kParameter)] = kMiB;
  device.peak_allocated.by_category[static_cast<std::size_t>(Category::kActivation)] = 3 * kMiB;
  device.peak_allocated.live = live_at(device, result.program, 3);
  device.peak_reserved.bytes = 22 * kMiB;
  device.peak_reserved.event = 3;
  device.peak_reserved.phase = 1;
  device.peak_reserved.label = conv;
  device.peak_reserved.sample = device.samples[3];
  device.peak_reserved.by_category = device.peak_allocated.by_category;
  device.peak_reserved.live = device.peak_allocated.live;
  device.statistics.reserved_bytes.all.current = static_cast<std::int64_t>(22 * kMiB);
  device.device_free_bytes = kGiB - 122 * kMiB;
  result.devices.push_back(std::move(device));
  return result;
}

TEST_CASE(
    "the summary says whether it fits, the peaks, their holders, fragmentation and the curve") {
  CHECK(run_text(sample_result(), {"model.yaml", 1}, {100, false}) == R"(model.yaml
Test GPU, 1.00 GiB; PyTorch 2.15; allocator settings: default
FITS. At its highest the device holds 122 MiB; 902 MiB stay free.

Peaks                           bytes  when
  allocated     4.00 MiB    4,194,304  step 0, forward: conv1: conv2d>convolution
  reserved      22.0 MiB   23,068,672  step 0, forward: conv1: conv2d>convolution
  device total   122 MiB  127,926,272  reserved + CUDA context 100 MiB

What held it at the peak of  allocated                bytes  reserved                bytes
  parameters                  1.00 MiB    4.5 %   1,048,576  1.00 MiB    4.5 %   1,048,576
  activations                 3.00 MiB   13.6 %   3,145,728  3.00 MiB   13.6 %   3,145,728
  cached, free                18.0 MiB   81.8 %  18,874,368  18.0 MiB   81.8 %  18,874,368
  reserved                    22.0 MiB  100.0 %  23,068,672  22.0 MiB  100.0 %  23,068,672

Largest 1 of 2 blocks at the peak of allocated
  3.00 MiB  3,145,728  activations  step 0, forward: conv1: conv2d>convolution

Fragmentation at the peak of reserved: 81.8 % (18.0 MiB cached but free)
  18.0 MiB of that in segments that are in use, so empty_cache() cannot return it;
  largest free block 9.00 MiB; 0 B lost to rounding inside blocks

Reserved    ▁▁████  22.0 MiB
Allocated    ▁▁▂▁▁  4.00 MiB
  at step     |0
)");
}

TEST_CASE("an out-of-memory error that ends the run is the first thing said") {
  RunResult result = sample_result();
  result.ended_by_oom = true;
  OomResult oom;
  oom.phase = 1;
  oom.event = 3;
  oom.message = "CUDA out of memory. Tried to allocate 2.00 GiB.";
  result.devices[0].ooms.push_back(oom);
  const std::string text = run_text(result, {"", 0}, {});
  CHECK(text.find("DOES NOT FIT. Out of memory at step 0, forward.\n"
                  "  CUDA out of memory. Tried to allocate 2.00 GiB.\n") != std::string::npos);
  result.ended_by_oom = false;
  CHECK(run_text(result, {"", 0}, {160, false})
            .find("OUT OF MEMORY, HANDLED. 1 request was refused, the last at step 0, forward; the "
                  "program went on.\n"
                  "  CUDA out of memory. Tried to allocate 2.00 GiB.\n"
                  "At its highest the device holds 122 MiB; 902 MiB stay free.\n") !=
        std::string::npos);
}

TEST_CASE("memory outside the allocator counts for the device, not for PyTorch") {
  RunResult result = sample_result();
  result.devices[0].device_free_bytes -= 64 * kMiB;
  const std::string text = run_text(result, {"", 0}, {160, false});
  CHECK(text.find("186 MiB") != std::string::npos);  // 100 context + 22 reserved + 64
  CHECK(text.find("64.0 MiB outside PyTorch") != std::string::npos);
}

TEST_CASE("what the model printed comes before the summary") {
  RunResult result = sample_result();
  result.printed = "batch 3\n";
  CHECK(run_text(result, {"m", 0}, {}).starts_with("batch 3\n\nm\n"));
}

TEST_CASE("the JSON form has a schema version, exact bytes and every phase") {
  const std::string json = run_json(sample_result(), {"model.yaml", 1});
  CHECK(json.starts_with(
      "{\n \"schema_version\": 1,\n \"kind\": \"run\",\n \"title\": \"model.yaml\",\n"));
  CHECK(json.find(R"(
   "peak_allocated": {
    "bytes": 4194304,
    "event": 3,
    "phase": "forward",
    "step": "0",
    "op": "conv1: conv2d>convolution",
)") != std::string::npos);
  CHECK(json.find(R"("largest_blocks": [
     {"id": 1, "block_bytes": 3145728, "requested_bytes": 3145728, "category": "activations", "event": 3, )"
                  R"("phase": "forward", "step": "0", "op": "conv1: conv2d>convolution"}
    ])") != std::string::npos);
  CHECK(json.find(R"({"name": "forward 0", "first_event": 2, "events": 4, )"
                  R"("allocated": {"end_bytes": 1048576, "peak_bytes": 4194304}, )") !=
        std::string::npos);
}

TEST_CASE("what the host held stands below the device's peaks, and in files of its own") {
  RunResult result = sample_result();
  const LabelId empty = result.program.labels.intern("empty, of the host");
  result.host.samples = {{0, 0, empty, 0, 3 * kMiB, 0, 0}, {2, 1, empty, 0, 0, 64, 8 * kKiB}};
  result.host.peak = result.host.samples[0];
  result.host.pinned.peak_held = 8 * kKiB;
  result.host.pinned.peak_in_use = 4 * kKiB;
  CHECK(run_text(result, {"", 0}, {}).find(R"(
  host memory   3.00 MiB    3,145,728  model: empty, of the host
  of it pinned  8.00 KiB        8,192  4.00 KiB of it in use at most
)") != std::string::npos);
  CHECK(run_json(result, {"", 0}).find(R"(
 "host": {
  "peak_bytes": 3145728,
  "event": 0,
  "phase": "model",
  "step": "",
  "op": "empty, of the host",
  "pageable_bytes": 3145728,
  "pinned_bytes": 0,
)") != std::string::npos);
  CHECK(host_timeline_csv(result) ==
        "index,event,phase,op,host_bytes,pageable_bytes,pinned_bytes,pinned_in_use_bytes\n"
        "0,0,model,\"empty, of the host\",3145728,3145728,0,0\n"
        "1,2,forward 0,\"empty, of the host\",8192,0,8192,64\n");
  CHECK(host_timeline_json(result).find("  \"host_bytes\": [3145728, 8192],\n") !=
        std::string::npos);
  CHECK(run_text(sample_result(), {"", 0}, {}).find("host memory") == std::string::npos);
}

TEST_CASE("the CSV form is one row a phase") {
  CHECK(run_csv(sample_result()) ==
        "device,phase,step,first_event,events,allocated_end_bytes,allocated_peak_bytes,reserved_"
        "end_bytes,"
        "reserved_peak_bytes,active_end_bytes,active_peak_bytes,requested_end_bytes,requested_peak_"
        "bytes\n"
        "0,model,,0,2,1048576,1048576,2097152,2097152,1048576,1048576,1048576,1048576\n"
        "0,forward,0,2,4,1048576,4194304,23068672,23068672,1048576,4194304,1048576,4194304\n");
}

TEST_CASE("a timeline has one row an event with categories stacked") {
  const RunResult result = sample_result();
  const Timeline timeline = timeline_of(result.devices[0], result.program);
  CHECK(
      timeline_csv(timeline) ==
      R"(index,action,bytes,phase,op,reserved_bytes,active_bytes,allocated_bytes,requested_bytes,inactive_split_bytes,largest_free_bytes,parameters_bytes,optimizer_state_bytes,gradients_bytes,kv_cache_bytes,workspace_bytes,inputs_bytes,activations_bytes,temporaries_bytes,unknown_bytes
0,segment_alloc,2097152,model,to,2097152,0,0,0,2097152,1048576,0,0,0,0,0,0,0,0,0
1,alloc,1048576,model,to,2097152,1048576,1048576,1048576,1048576,524288,1048576,0,0,0,0,0,0,0,0
2,segment_alloc,20971520,forward 0,conv1: conv2d>convolution,23068672,1048576,1048576,1048576,22020096,11010048,1048576,0,0,0,0,0,0,0,0
3,alloc,3145728,forward 0,conv1: conv2d>convolution,23068672,4194304,4194304,4194304,18874368,9437184,1048576,0,0,0,0,0,3145728,0,0
4,free_requested,3145728,forward 0,conv1: conv2d>convolution,23068672,4194304,1048576,4194304,18874368,9437184,1048576,0,0,0,0,0,0,0,0
5,free_completed,3145728,forward 0,conv1: conv2d>convolution,23068672,1048576,1048576,1048576,22020096,11010048,1048576,0,0,0,0,0,0,0,0
)");
  const std::string json = timeline_json(timeline);
  CHECK(json.find(R"("parameters_bytes": [0, 1048576, 1048576, 1048576, 1048576, 1048576])") !=
        std::string::npos);
  CHECK(json.find(R"("activations_bytes": [0, 0, 0, 3145728, 0, 0])") != std::string::npos);
}

TEST_CASE("an event trace names phase and operator of each event") {
  const RunResult result = sample_result();
  const std::string csv = run_events_csv(result.devices[0], result.program);
  CHECK(
      csv.starts_with("index,action,address,bytes,stream,id,phase,op\n"
                      "0,segment_alloc,0,2097152,0,,model,to\n"
                      "1,alloc,0,1048576,0,0,model,to\n"
                      "2,segment_alloc,0,20971520,0,,forward 0,conv1: conv2d>convolution\n"));
}

}  // namespace
}  // namespace tidemark
