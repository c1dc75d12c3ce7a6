#include "sim/report/snapshot_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unordered_map>

#include "sim/format/json_writer.h"
#include "sim/format/whole_file.h"
#include "sim/report/replay_report.h"

namespace tidemark {

namespace {

std::vector<SnapshotPhase> phases_of(const std::vector<std::string_view>& marks) {
  std::vector<SnapshotPhase> phases;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (phases.empty() || phases.back().name != marks[i]) phases.push_back({marks[i], i, 0});
    ++phases.back().events;
  }
  return phases;
}

/// Microseconds with three decimals, as Chrome's traces count.
std::string microseconds(Nanoseconds ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

/// When each event's slice begins and the last one's ends: simulated time, else a microsecond an
/// event. Slices of one thread must not overlap: what happens at one time is told a nanosecond
/// apart.
std::vector<Nanoseconds> slice_times(const EventView& view) {
  constexpr Nanoseconds kMicrosecond = 1000;
  std::vector<Nanoseconds> starts;
  starts.reserve(view.events.size() + 1);
  Nanoseconds free_from = 0;
  for (std::size_t i = 0; i < view.events.size(); ++i) {
    const Nanoseconds own =
        view.times_ns.empty() ? static_cast<Nanoseconds>(i) * kMicrosecond : view.times_ns[i];
    starts.push_back(std::max(own, free_from));
    free_from = starts.back() + 1;
  }
  starts.push_back(starts.empty() ? 0 : starts.back() + kMicrosecond);
  return starts;
}

/// The lines of a trace, put into its file some at a time.
class TraceLines {
 public:
  explicit TraceLines(const std::string& path) : file_(path) {
    text_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  }
  void add(std::string_view line) {
    if (!is_first_) text_ += ",\n";
    is_first_ = false;
    text_ += line;
    if (text_.size() < kMost) return;
    file_.append(text_);
    text_.clear();
  }
  void finish() {
    if (!is_first_) text_ += '\n';
    text_ += "]}\n";
    file_.append(text_);
    file_.finish();
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20U;
  FileWriter file_;
  std::string text_;
  bool is_first_ = true;
};

std::string json_text(std::string_view text) {
  std::string out;
  JsonWriter(out).value(text);
  return out;
}

constexpr int kPhaseThread = 1;
constexpr int kRequestThread = 2;

void perfetto_names(std::size_t process, const EventView& view, TraceLines& lines) {
  lines.add(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})",
                        process, json_text(fmt::format("GPU {} {}", process, view.device))));
  for (const auto& [thread, name] :
       {std::pair(kPhaseThread, "phases"), std::pair(kRequestThread, "requests")}) {
    lines.add(
        fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
                    process, thread, name));
  }
}

/// What torch.profiler tells of an alloc or a free. Source: c10::reportMemoryUsageToProfiler and
/// torch/csrc/autograd/profiler_kineto.cpp.
std::string profiler_event(std::size_t process, const EventView& view, std::size_t event,
                           const std::string& at) {
  const auto allocated = static_cast<std::int64_t>(view.samples[event].allocated);
  const auto before =
      event == 0 ? std::int64_t{0} : static_cast<std::int64_t>(view.samples[event - 1].allocated);
  return fmt::format(
      R"({{"ph":"i","name":"[memory]","cat":"cpu_instant_event","s":"t","pid":{0},"tid":{1},"ts":{2},"args":{{"Total Reserved":{3},"Total Allocated":{4},"Bytes":{5},"Addr":{6},"Device Id":{0},"Device Type":1}}}})",
      process, kRequestThread, at, view.samples[event].reserved, allocated, allocated - before,
      view.events[event].address);
}

void perfetto_events(std::size_t process, const EventView& view,
                     std::span<const Nanoseconds> starts, TraceLines& lines) {
  constexpr Nanoseconds kLongest = 500;
  for (std::size_t i = 0; i < view.events.size(); ++i) {
    const Event& event = view.events[i];
    const std::string at = microseconds(starts[i]);
    if (i < view.samples.size()) {
      const MemorySample& sample = view.samples[i];
      lines.add(fmt::format(
          R"({{"ph":"C","name":"memory","pid":{},"ts":{},"args":{{"reserved":{},"active":{},"allocated":{},"requested":{}}}}})",
          process, at, sample.reserved, sample.active, sample.allocated, sample.requested));
    }
    const std::string_view label = i < view.labels.size() ? view.labels[i] : std::string_view();
    const std::string name = label.empty() ? std::string(action_name(event.action))
                                           : fmt::format("{} {}", action_name(event.action), label);
    lines.add(fmt::format(
        R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"bytes":{},"address":{},"stream":{}}}}})",
        json_text(name), action_name(event.action), process, kRequestThread, at,
        microseconds(std::min(kLongest, starts[i + 1] - starts[i])), event.bytes, event.address,
        event.stream));
    if (event.action == Action::kAlloc || event.action == Action::kFreeRequested) {
      const bool begins = event.action == Action::kAlloc;
      lines.add(fmt::format(
          R"({{"ph":"{}","name":"block","cat":"block","id":{},"pid":{},"tid":{},"ts":{}{}}})",
          begins ? 's' : 'f', (std::uint64_t{process} << 32U) + event.id, process, kRequestThread,
          at, begins ? "" : R"(,"bp":"e")"));
      if (i < view.samples.size()) lines.add(profiler_event(process, view, i, at));
    }
  }
}

void perfetto_phases(std::size_t process, const EventView& view,
                     std::span<const Nanoseconds> starts, TraceLines& lines) {
  for (const SnapshotPhase& phase : view.phases) {
    if (phase.events == 0 || phase.name.empty()) continue;
    lines.add(fmt::format(R"({{"ph":"B","name":{},"cat":"phase","pid":{},"tid":{},"ts":{}}})",
                          json_text(phase.name), process, kPhaseThread,
                          microseconds(starts[phase.first_event])));
    lines.add(fmt::format(R"({{"ph":"E","pid":{},"tid":{},"ts":{}}})", process, kPhaseThread,
                          microseconds(starts[phase.first_event + phase.events])));
  }
}

void perfetto_host(std::size_t process, bool is_timed, std::span<const HostSample> host,
                   TraceLines& lines) {
  if (host.empty()) return;
  lines.add(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"host"}}}})",
                        process));
  for (const HostSample& sample : host) {
    lines.add(fmt::format(
        R"({{"ph":"C","name":"memory","pid":{},"ts":{},"args":{{"pageable":{},"pinned":{}}}}})",
        process, is_timed ? microseconds(sample.time_ns) : fmt::format("{}", sample.event),
        sample.pageable, sample.pinned_held));
  }
}

/// Writes a NumPy array file, format 1.0. `type`: "<u8", "|u1".
template <class T, class Get>
void write_npy(const std::string& path, std::string_view type, std::size_t count, Get get) {
  constexpr std::size_t kAlign = 64;
  constexpr std::size_t kMagic = 10;
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", type, count);
  header.append((kAlign - (kMagic + header.size() + 1) % kAlign) % kAlign, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xffU);
  out += static_cast<char>(header.size() >> 8U);
  out += header;
  FileWriter file(path);
  for (std::size_t i = 0; i < count; ++i) {
    auto value = static_cast<std::uint64_t>(static_cast<T>(get(i)));
    for (std::size_t byte = 0; byte < sizeof(T); ++byte, value >>= 8U)
      out += static_cast<char>(value & 0xffU);
    if (out.size() < kMost) continue;
    file.append(out);
    out.clear();
  }
  file.append(out);
  file.finish();
}

}  // namespace

EventView view_of(const Requests& requests, const ReplayResult& result, std::string_view device) {
  EventView view;
  view.device = device;
  view.events = result.events;
  view.samples = result.samples;
  view.segments = result.segments;
  view.phases = phases_of(event_marks(requests, result.events));
  std::unordered_map<RequestId, std::string_view> labels;
  InstructionReader(requests.instructions).for_each([&](const Instruction& each) {
    if (each.verb == Verb::kAlloc && each.label != 0)
      labels[each.id] = requests.labels->text(each.label);
  });
  if (labels.empty()) return view;
  view.labels.reserve(view.events.size());
  for (const Event& event : view.events) {
    const auto found = labels.find(event.id);
    view.labels.push_back(found == labels.end() ? std::string_view() : found->second);
  }
  return view;
}

EventView view_of(const DeviceResult& device, const Program& program) {
  EventView view;
  view.device = device.spec.name;
  view.events = device.events;
  view.samples = device.samples;
  view.segments = device.segments;
  view.times_ns = device.times_ns;
  view.categories = program.categories;
  for (const LabelId label : device.labels) view.labels.push_back(program.labels.text(label));
  for (const PhaseResult& phase : device.phases)
    view.phases.push_back({phase.name, phase.first_event, phase.events});
  return view;
}

std::string snapshot_of(std::span<const EventView> devices, const AllocatorSettings& settings) {
  std::vector<SnapshotDevice> parts;
  for (const EventView& view : devices) {
    parts.push_back(
        {view.events, view.labels, view.times_ns, view.segments, view.phases, view.categories});
  }
  std::string out;
  write_snapshot(parts, settings, out);
  return out;
}

void write_perfetto(std::span<const EventView> devices, std::span<const HostSample> host,
                    const std::string& path) {
  TraceLines lines(path);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    perfetto_names(i, devices[i], lines);
    const std::vector<Nanoseconds> starts = slice_times(devices[i]);
    perfetto_phases(i, devices[i], starts, lines);
    perfetto_events(i, devices[i], starts, lines);
  }
  const bool is_timed = !devices.empty() && !devices.front().times_ns.empty();
  perfetto_host(devices.size(), is_timed, host, lines);
  lines.finish();
}

void write_columns(const EventView& view, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw IoError(folder + ": " + error.message());
  const SignalsHeld all_or_none;
  const std::size_t count = view.events.size();
  const auto column = [&folder, count]<class T>(std::string_view name, std::string_view type, T,
                                                auto get) {
    write_npy<T>(fmt::format("{}/{}.npy", folder, name), type, count, get);
  };
  const auto event = [&view](std::size_t i) -> const Event& { return view.events[i]; };
  column("action", "|u1", std::uint8_t{}, [&](std::size_t i) { return event(i).action; });
  column("address", "<u8", std::uint64_t{}, [&](std::size_t i) { return event(i).address; });
  column("bytes", "<u8", std::uint64_t{}, [&](std::size_t i) { return event(i).bytes; });
  column("stream", "<u2", std::uint16_t{}, [&](std::size_t i) { return event(i).stream; });
  column("id", "<u4", std::uint32_t{}, [&](std::size_t i) { return event(i).id; });
  if (!view.times_ns.empty()) {
    column("time_ns", "<u8", std::uint64_t{}, [&](std::size_t i) { return view.times_ns[i]; });
  }
  if (view.samples.size() == count) {
    using Member = Bytes MemorySample::*;
    for (const auto& [name, member] :
         {std::pair<std::string_view, Member>{"reserved", &MemorySample::reserved},
          {"active", &MemorySample::active},
          {"allocated", &MemorySample::allocated},
          {"requested", &MemorySample::requested},
          {"inactive_split", &MemorySample::inactive_split},
          {"largest_free", &MemorySample::largest_free}}) {
      column(name, "<u8", std::uint64_t{},
             [&, m = member](std::size_t i) { return view.samples[i].*m; });
    }
  }
  std::string names;
  JsonWriter json(names);
  json.begin_object().member("events", std::uint64_t{count}).key("actions").begin_array(true);
  for (const std::string_view name : kActionNames) json.value(name);
  json.end_array().end_object().finish();
  write_whole_file(folder + "/columns.json", names);
}

void write_trace_file(const Requests& requests, const std::string& path) {
  FileWriter file(path);
  std::string text;
  write_trace_head(text);
  Labels labels;
  InstructionReader reader(requests.instructions);
  for (std::span<const Instruction> some = reader.next(); !some.empty(); some = reader.next()) {
    std::vector<Instruction> instructions(some.begin(), some.end());
    for (Instruction& each : instructions) {
      if (each.verb != Verb::kMark) continue;
      std::string mark(requests.labels->text(each.label));
      std::ranges::replace_if(
          mark, [](char c) { return c == '#' || c == '\n' || c == '\r'; }, ' ');
      each.label = labels.intern(mark);
    }
    write_trace_lines(instructions, labels, text);
    file.append(text);
    text.clear();
  }
  file.append(text);
  file.finish();
}

}  // namespace tidemark
