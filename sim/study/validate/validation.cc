#include "sim/study/validate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "sim/base/problem.h"
#include "sim/format/snapshot_program.h"
#include "sim/timeline/event_layout.h"

namespace tidemark {

namespace {

constexpr std::int64_t kMillion = 1'000'000;

std::int64_t magnitude(std::int64_t value) { return value < 0 ? -value : value; }

/// The run's events as a file would hold them.
EventTable table_of(const RunResult& result) {
  EventTable table;
  for (const DeviceResult& device : result.devices) {
    for (const PhaseResult& phase : device.phases) {
      table.phases.resize(table.phases.size() + phase.events, table.labels.intern(phase.name));
    }
    for (const LabelId label : device.labels)
      table.ops.push_back(table.labels.intern(result.program.labels.text(label)));
    table.events.insert(table.events.end(), device.events.begin(), device.events.end());
  }
  return table;
}

/// Rows from one up to another.
struct Window {
  std::size_t begin = 0;
  std::size_t end = 0;
};

void keep(EventTable& table, const Window& window) {
  const auto shorten = [&window](auto& rows) {
    using Offset = std::ptrdiff_t;
    rows.erase(rows.begin() + static_cast<Offset>(std::min(window.end, rows.size())), rows.end());
    rows.erase(rows.begin(),
               rows.begin() + static_cast<Offset>(std::min(window.begin, rows.size())));
  };
  shorten(table.events);
  shorten(table.phases);
  shorten(table.ops);
}

/// Leaves the last `count` rows.
void keep_last(EventTable& table, std::size_t count) {
  const std::size_t rows = table.events.size();
  keep(table, {rows - std::min(rows, count), rows});
}

std::string_view file_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// What a snapshot of this name holds, by the marks that the program's calls leave
/// (library/torch/cuda/memory.py): from where recording last began to where the file was written,
/// else to the last file written, else to the end. All of it where the program records nothing.
Window recorded_window(const DeviceResult& device, std::string_view snapshot) {
  constexpr std::string_view kWritten = "memory snapshot: ";
  Window all{0, device.events.size()};
  std::optional<std::size_t> begin;
  std::optional<Window> last;
  std::optional<Window> named;
  for (const MeasuredPoint& point : device.points) {
    if (point.name == "memory history begins") {
      begin = begin.value_or(point.event);
      all.begin = *begin;
    } else if (point.name == "memory history ends") {
      begin.reset();  // PyTorch forgets what was recorded
    } else if (begin && point.name.starts_with(kWritten)) {
      last = Window{*begin, point.event};
      const std::string_view written = std::string_view(point.name).substr(kWritten.size());
      if (file_of(written) == file_of(snapshot)) named = last;
    }
  }
  return named ? *named : last.value_or(all);
}

/// Leaves what comes up to the last refused request; returns how many rows went.
std::size_t end_at_oom(EventTable& table) {
  std::size_t end = table.events.size();
  while (end > 0 && table.events[end - 1].action != Action::kOom) --end;
  if (end == 0) return 0;
  const std::size_t gone = table.events.size() - end;
  table.events.resize(end);
  if (!table.phases.empty()) table.phases.resize(end);
  if (!table.ops.empty()) table.ops.resize(end);
  return gone;
}

/// Handles of streams in the order of their numbers, the default one 0: the other side numbers only
/// those that ask for memory.
void number_streams(std::vector<Event>& events) {
  std::vector<StreamId> seen;
  for (const Event& event : events) {
    if (event.stream != 0) seen.push_back(event.stream);
  }
  std::ranges::sort(seen);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (Event& event : events) {
    if (event.stream == 0) continue;
    const auto at = std::ranges::lower_bound(seen, event.stream);
    event.stream = static_cast<StreamId>(1 + (at - seen.begin()));
  }
}

CurveError curve_error(const std::vector<EventAmounts>& a, const std::vector<EventAmounts>& b,
                       Bytes EventAmounts::*field) {
  CurveError error;
  error.events = std::min(a.size(), b.size());
  Bytes sum = 0;
  for (std::size_t i = 0; i < error.events; ++i) {
    const Bytes x = a[i].*field;
    const Bytes y = b[i].*field;
    const Bytes by = x > y ? x - y : y - x;
    if (by == 0) continue;
    ++error.differing;
    sum += by;
    if (by > error.largest) {
      error.largest = by;
      error.largest_at = i;
    }
  }
  if (error.events > 0) error.mean = sum / error.events;
  return error;
}

void count_places(const std::vector<Event>& a, const std::vector<Event>& b, ValidationCase& found) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].action != Action::kAlloc || b[i].action != Action::kAlloc) continue;
    ++found.allocations;
    if (a[i].address != b[i].address) ++found.placed_elsewhere;
  }
}

ErrorSummary summarise_figure(const std::vector<ValidationCase>& cases,
                              ComparedBytes ValidationCase::*figure) {
  std::vector<std::int64_t> errors;
  ErrorSummary summary;
  for (const ValidationCase& each : cases) {
    const std::optional<std::int64_t> error = (each.*figure).error_ppm();
    if (!error) continue;
    if (*error < 0) ++summary.under;
    errors.push_back(magnitude(*error));
  }
  summary.cases = errors.size();
  if (errors.empty()) return summary;
  std::ranges::sort(errors);
  std::int64_t sum = 0;
  for (const std::int64_t error : errors) sum += error;
  const std::size_t middle = errors.size() / 2;
  summary.mean_ppm = sum / static_cast<std::int64_t>(errors.size());
  summary.median_ppm =
      errors.size() % 2 == 1 ? errors[middle] : (errors[middle - 1] + errors[middle]) / 2;
  summary.max_ppm = errors.back();
  return summary;
}

bool has_oom(const EventTable& table) {
  return std::ranges::any_of(table.events,
                             [](const Event& each) { return each.action == Action::kOom; });
}

/// A program that handles its error goes on asking: one that ends by it does not.
bool ends_by_oom(const std::vector<Event>& events) {
  bool refused_last = false;
  for (const Event& event : events) {
    if (event.action == Action::kAlloc) refused_last = false;
    if (event.action == Action::kOom) refused_last = true;
  }
  return refused_last;
}

/// A trace may name its requests as it likes, and a name again once its owner dropped it.
void count_requests(std::vector<Event>& events) {
  std::unordered_map<RequestId, RequestId> number;
  RequestId next = 0;
  for (Event& event : events) {
    if (event.action == Action::kAlloc || event.action == Action::kOom) {
      number[event.id] = next++;
    }
    if (const auto at = number.find(event.id); at != number.end()) event.id = at->second;
  }
}

/// What the device held at its highest: PyTorch's part and what is beside it.
Bytes device_peak(const DeviceResult& device) {
  const auto reserved = device.statistics.reserved_bytes.all;
  return device.spec.total_bytes - device.device_free_bytes - static_cast<Bytes>(reserved.current) +
         static_cast<Bytes>(reserved.peak);
}

}  // namespace

std::optional<std::int64_t> ComparedBytes::error_ppm() const {
  if (!measured || *measured == 0) return std::nullopt;
  const bool under = simulated < *measured;
  const Bytes by = under ? *measured - simulated : simulated - *measured;
  const auto ppm = static_cast<std::int64_t>(static_cast<Wide>(by) * kMillion / *measured);
  return under ? -ppm : ppm;
}

ValidationCase validate(std::string name, const RunResult& result, MeasuredRun measured) {
  if (measured.devices.size() != result.devices.size()) {
    throw InputError(Problem{{},
                             name,
                             fmt::format("the measurement is of {} devices, the scenario of {}",
                                         measured.devices.size(), result.devices.size()),
                             {}});
  }
  ValidationCase found;
  found.name = std::move(name);
  found.provenance = std::move(measured.provenance);
  found.warm = measured.warm;
  found.simulated = table_of(result);
  found.measured = std::move(measured.events);
  found.oom_simulated = result.ended_by_oom;
  found.oom_measured = measured.ended_by_oom;
  const DeviceResult& device = result.devices.front();
  const MeasuredDevice& real = measured.devices.front();
  found.peak_allocated = {static_cast<Bytes>(device.statistics.allocated_bytes.all.peak),
                          real.peak_allocated_bytes};
  found.peak_reserved = {static_cast<Bytes>(device.statistics.reserved_bytes.all.peak),
                         real.peak_reserved_bytes};
  found.device_total = {device_peak(device), real.device_total_bytes};

  const bool is_window = measured.is_recording && !device.points.empty();
  if (is_window) {
    const Window window = recorded_window(device, measured.name);
    keep(found.simulated, window);
    Bytes highest = 0;
    for (std::size_t i = window.begin; i < std::min(window.end, device.samples.size()); ++i)
      highest = std::max(highest, device.samples[i].reserved);
    if (highest > 0) found.peak_reserved.simulated = highest;
    // What came before counts no more.
    count_requests(found.simulated.events);
    count_requests(found.measured.events);
    found.oom_simulated = ends_by_oom(found.simulated.events);
  }
  if (found.oom_simulated && found.oom_measured) {
    found.after_oom = end_at_oom(found.measured);
    end_at_oom(found.simulated);
  }
  if (found.warm) keep_last(found.simulated, found.measured.events.size());
  number_streams(found.simulated.events);
  number_streams(found.measured.events);
  std::vector<Event> a = found.measured.events;
  std::vector<Event> b = found.simulated.events;
  if (!found.warm) {
    const std::vector<EventAmounts> theirs = event_amounts(a);
    const std::vector<EventAmounts> ours = event_amounts(b);
    found.reserved_curve = curve_error(theirs, ours, &EventAmounts::reserved);
    found.largest_free_curve = curve_error(theirs, ours, &EventAmounts::largest_free);
  }
  // A real driver puts segments where it likes; the harness reserves no more addresses than it
  // maps.
  const bool same_addresses = found.provenance.pretend && !found.provenance.torch.empty();
  found.by_segment = !same_addresses && !found.warm;
  if (found.by_segment) {
    a = by_segment(a);
    b = by_segment(b);
    count_places(a, b, found);
  }
  found.options.compare_addresses = same_addresses && !found.warm;
  found.options.compare_ids = !found.warm;
  found.events = diff_events(a, b, found.options);
  if (!found.events.equal()) {
    DiffOptions unordered = found.options;
    unordered.unordered_frees = true;
    EventDiff as_sets = diff_events(a, b, unordered);
    if (as_sets.equal()) {
      found.other_order = found.events.differing;
      found.options = unordered;
      found.events = std::move(as_sets);
    }
  }
  found.measured.events = std::move(a);
  found.simulated.events = std::move(b);
  return found;
}

ValidationCase validate_trace(std::string name, RunResult result, MeasuredRun measured) {
  for (DeviceResult& device : result.devices) count_requests(device.events);
  count_requests(measured.events.events);
  ValidationCase found = validate(std::move(name), result, std::move(measured));
  found.oom_simulated = has_oom(found.simulated);
  found.oom_measured = has_oom(found.measured);
  return found;
}

ValidationSummary summarise(const std::vector<ValidationCase>& cases) {
  ValidationSummary summary;
  summary.cases = cases.size();
  for (const ValidationCase& each : cases) {
    summary.exact_cases += each.exact() ? 1U : 0U;
    summary.events += each.events.a_events;
    summary.differing_events += each.events.differing;
    summary.wrong_oom_verdicts += each.oom_right() ? 0U : 1U;
  }
  summary.peak_allocated = summarise_figure(cases, &ValidationCase::peak_allocated);
  summary.peak_reserved = summarise_figure(cases, &ValidationCase::peak_reserved);
  summary.device_total = summarise_figure(cases, &ValidationCase::device_total);
  return summary;
}

Releases releases_of(const Snapshot& snapshot) {
  if (snapshot.keys.host) return {{2, 13}, kNewestVersion};
  if (snapshot.keys.pool_id) return {{2, 12}, kNewestVersion};
  if (snapshot.keys.user_metadata) return {{2, 11}, kNewestVersion};
  return {kOldestVersion, {2, 11}};
}

std::vector<Wheel> wheels_of(const Snapshot& snapshot) {
  const Releases releases = releases_of(snapshot);
  std::vector<Wheel> wheels;
  for (Version v = releases.from; v <= releases.to; ++v.minor) wheels.push_back(pypi_wheel(v));
  return wheels;
}

MeasuredRun measured_of(const Snapshot& snapshot) {
  const std::vector<std::uint8_t> devices = recorded_devices(snapshot);
  SnapshotProgramOptions options;
  options.device = devices.empty() ? std::uint8_t{0} : devices.front();
  SnapshotRequests requests(snapshot, options);
  const SnapshotProgram& program = requests.program();
  const EventTrace trace = snapshot.trace(options.device);
  MeasuredRun run;
  run.name = snapshot.name;
  run.provenance.command = snapshot.name;
  run.warm = program.warm;
  run.is_recording = true;
  MeasuredDevice device;
  device.peak_reserved_bytes = program.peak_reserved_bytes;
  run.devices.push_back(device);
  std::vector<Instruction> instructions;
  std::vector<Event> events;
  while (requests.next(instructions, events)) {
    for (Event& event : events) {
      event.device = 0;
      event.instruction = 0;
      const std::string summary =
          event.id == kNoRequest || event.id >= program.origins.size()
              ? std::string()
              : stack_summary(snapshot, program.origins.at(event.id, trace).stack);
      run.events.ops.push_back(run.events.labels.intern(summary));
    }
    run.events.events.insert(run.events.events.end(), events.begin(), events.end());
  }
  run.ended_by_oom = ends_by_oom(run.events.events);
  return run;
}

}  // namespace tidemark
