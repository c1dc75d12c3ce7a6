#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/report/assumptions_report.h"
#include "sim/report/headline.h"
#include "sim/report/kv_cache.h"
#include "sim/report/live_report.h"
#include "sim/report/run_report.h"
#include "sim/report/time_text.h"
#include "sim/run/levels.h"
#include "sim/run/verdict.h"

namespace tidemark {

namespace {

using Align = Table::Align;

std::string title_lines(const RunResult& result, const RunReportOptions& options, std::size_t index,
                        const TextStyle& style) {
  const DeviceResult& device = result.devices[index];
  std::string out;
  const std::size_t devices = result.devices.size();
  if (devices == 1 && !options.title.empty()) out += bold(options.title, style) + "\n";
  if (devices > 1) out += fmt::format("{}GPU {}: ", index == 0 ? "" : "\n", index);
  const Version version = device.settings.version;
  const std::string settings = device.settings.text.empty() ? "default" : device.settings.text;
  const std::string rank =
      result.rank ? fmt::format("; rank {} of {}", result.rank->index, result.rank->world)
                  : std::string();
  return out +
         wrapped(fmt::format("{}, {}; PyTorch {}{}{}; allocator settings: {}", device.spec.name,
                             human_bytes(device.spec.total_bytes), to_string(version),
                             result.took_default_pytorch ? " by default" : "", rank, settings),
                 style.width, 0);
}

std::string verdict(const RunResult& result, const DeviceResult& device, const TextStyle& style) {
  const Headline headline = headline_of(device);
  const std::string highest =
      fmt::format("At its highest the device holds {}; {} stay free.",
                  human_bytes(headline.device_peak_bytes), human_bytes(headline.spare_bytes));
  if (device.ooms.empty())
    return fmt::format("{} {}\n", good(ending_text(Ending::kFits), style), highest);
  const OomResult& oom = device.ooms.back();
  const std::string where = moment_text(device, result.program, oom.phase, oom.label);
  const std::string message = wrapped(oom.message, style.width, 2);
  if (result.ended_by_oom) {
    return fmt::format("{} Out of memory at {}.\n{}", bad(ending_text(Ending::kOutOfMemory), style),
                       where, message);
  }
  const std::size_t count = device.ooms.size();
  return fmt::format("{} {} request{} refused, the last at {}; the program went on.\n{}{}\n",
                     bad(ending_text(Ending::kHandled), style), count,
                     count == 1 ? " was" : "s were", where, message, highest);
}

std::string peaks(const RunResult& result, const DeviceResult& device, const TextStyle& style) {
  const Headline headline = headline_of(device);
  const auto when = [&](const PeakResult& peak) {
    if (peak.event == kNoEvent) return std::string("-");
    return moment_text(device, result.program, peak.phase, peak.label);
  };
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  table.add({"Peaks", "", "bytes", "when"});
  table.add({"  allocated", human_bytes(device.peak_allocated.bytes),
             grouped(device.peak_allocated.bytes), when(device.peak_allocated)});
  table.add({"  reserved", human_bytes(device.peak_reserved.bytes),
             grouped(device.peak_reserved.bytes), when(device.peak_reserved)});
  table.add({"  device total", human_bytes(headline.device_peak_bytes),
             grouped(headline.device_peak_bytes),
             fmt::format(
                 "reserved + CUDA context {}{}", human_bytes(device.spec.context_bytes),
                 headline.outside_bytes == 0
                     ? std::string()
                     : fmt::format(" + {} outside PyTorch", human_bytes(headline.outside_bytes)))});
  // Less than a page is what every .item() takes: not worth a line.
  constexpr Bytes kPage = 4 * kKiB;
  const HostSample& host = result.host.peak;
  if (&device == &result.devices.front() && host.held() >= kPage) {
    table.add({"  host memory", human_bytes(host.held()), grouped(host.held()),
               moment_text(device, result.program, host.phase, host.label)});
    const PinnedStatistics& pinned = result.host.pinned;
    if (pinned.peak_held >= kPage) {
      table.add({"  of it pinned", human_bytes(pinned.peak_held), grouped(pinned.peak_held),
                 fmt::format("{} of it in use at most", human_bytes(pinned.peak_in_use))});
    }
  }
  return table.text(style.width);
}

std::string holders(const DeviceResult& device, const TextStyle& style) {
  const PeakResult& allocated = device.peak_allocated;
  const PeakResult& reserved = device.peak_reserved;
  if (allocated.event == kNoEvent || reserved.event == kNoEvent) return {};
  // Where there is little room the bytes are told, not rounded ones beside them.
  constexpr std::size_t kRoomForBoth = 92;
  const bool has_both = style.width >= kRoomForBoth;
  std::vector<Align> columns(has_both ? 7 : 5, Align::kRight);
  columns.front() = Align::kLeft;
  Table table(std::move(columns));
  if (has_both) {
    table.add({"What held it at the peak of", "allocated", "", "bytes", "reserved", "", "bytes"});
  } else {
    table.add({"What held it at the peak of", "allocated", "", "reserved", ""});
  }
  const auto row = [&](std::string_view name, Bytes at_allocated, Bytes at_reserved) {
    if (at_allocated == 0 && at_reserved == 0) return;
    std::vector<std::string> cells{"  " + std::string(name)};
    const auto add = [&](Bytes bytes, Bytes whole) {
      const std::string share = bytes == 0 ? "" : percent(parts_per_million(bytes, whole));
      if (has_both) cells.push_back(bytes == 0 ? "-" : human_bytes(bytes));
      if (has_both) cells.push_back(share);
      cells.push_back(grouped(bytes));
      if (!has_both) cells.push_back(share);
    };
    add(at_allocated, allocated.sample.reserved);
    add(at_reserved, reserved.sample.reserved);
    table.add(std::move(cells));
  };
  for (const Category category : kCategoryOrder) {
    const auto at = static_cast<std::size_t>(category);
    row(kCategoryNames[at], allocated.by_category[at], reserved.by_category[at]);
  }
  const auto waiting = [](const PeakResult& peak) {
    return peak.sample.active - peak.sample.allocated;
  };
  const auto cached = [](const PeakResult& peak) {
    return peak.sample.reserved - peak.sample.active;
  };
  row("waiting for a stream", waiting(allocated), waiting(reserved));
  row("cached, free", cached(allocated), cached(reserved));
  row("reserved", allocated.sample.reserved, reserved.sample.reserved);
  return table.text(style.width);
}

std::string largest(const RunResult& result, const DeviceResult& device, std::size_t top,
                    const TextStyle& style) {
  const std::vector<LiveBlock>& live = device.peak_allocated.live;
  if (top == 0 || live.empty()) return {};
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  const std::size_t shown = std::min(top, live.size());
  table.add({fmt::format("Largest {} of {} blocks at the peak of allocated", shown, live.size())});
  for (const LiveBlock& block : std::span(live).first(shown)) {
    table.add(
        {"", human_bytes(block.block_bytes), grouped(block.block_bytes),
         std::string(kCategoryNames[static_cast<std::size_t>(block.category)]),
         moment_text(device, result.program, phase_of(device, block.alloc_event), block.label)});
  }
  return table.text(style.width);
}

std::string fragmentation_lines(const DeviceResult& device) {
  const PeakResult& peak = device.peak_reserved;
  if (peak.event == kNoEvent) return {};
  const Fragmentation gap = fragmentation(amounts_of(peak.sample));
  return fmt::format(
      "Fragmentation at the peak of reserved: {} ({} cached but free)\n"
      "  {} of that in segments that are in use, so empty_cache() cannot return it;\n"
      "  largest free block {}; {} lost to rounding inside blocks\n",
      percent(parts_per_million(gap.external_bytes, peak.sample.reserved)),
      human_bytes(gap.external_bytes), human_bytes(gap.inactive_split_bytes),
      human_bytes(gap.largest_free_bytes), human_bytes(gap.internal_bytes));
}

/// Marks under a curve: each step's number where it begins, as far as they fit.
std::string step_axis(const DeviceResult& device, std::size_t columns) {
  std::string line(columns, ' ');
  std::string_view last;
  std::size_t free_from = 0;
  for (const PhaseResult& phase : device.phases) {
    const PhaseName name = split_phase_name(phase.name);
    const std::string_view step = name.step.substr(0, name.step.find('.'));
    if (step.empty() || step == last) continue;
    last = step;
    const std::size_t column = std::size_t{phase.first_event} * columns / device.events.size();
    const std::string mark = "|" + std::string(step);
    if (column < free_from || column + mark.size() > columns) continue;
    line.replace(column, mark.size(), mark);
    free_from = column + mark.size() + 1;
  }
  return line;
}

std::string curves(const DeviceResult& device, const TextStyle& style) {
  if (device.events.empty()) return {};
  constexpr std::size_t kMargins = 28;
  const std::size_t columns =
      std::min(std::clamp<std::size_t>(style.width, 60, 120) - kMargins, device.events.size());
  PeakCurve reserved(device.events.size(), columns);
  PeakCurve allocated(device.events.size(), columns);
  visit_levels(device, [&](std::uint32_t, const MemorySample& sample) {
    reserved.add(sample.reserved);
    allocated.add(sample.allocated);
  });
  const Bytes highest = device.peak_reserved.bytes;
  const auto line = [&](std::string_view name, const PeakCurve& curve, Bytes peak) {
    return fmt::format("{:<12}{}  {}\n", name, sparkline(curve.columns(), highest),
                       human_bytes(peak));
  };
  std::string out = line("Reserved", reserved, device.peak_reserved.bytes);
  out += line("Allocated", allocated, device.peak_allocated.bytes);
  std::string axis = fmt::format("{:<12}{}", "  at step", step_axis(device, columns));
  axis.erase(axis.find_last_not_of(' ') + 1);
  if (axis != "  at step") out += axis + "\n";
  return out;
}

/// What the program measured by mark().
std::string points(const DeviceResult& device, const TextStyle& style) {
  if (device.points.empty()) return {};
  constexpr std::size_t kShown = 40;
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add({"Marked points, bytes", "allocated", "peak", "reserved", "device in use"});
  const auto number = [](std::int64_t bytes) { return grouped(static_cast<Bytes>(bytes)); };
  const std::size_t shown = std::min(kShown, device.points.size());
  for (const MeasuredPoint& point : std::span(device.points).first(shown)) {
    const AllocatorStatistics& s = point.statistics;
    table.add({"  " + point.name, number(s.allocated_bytes.all.current),
               number(s.allocated_bytes.all.peak), number(s.reserved_bytes.all.current),
               grouped(device.spec.total_bytes - point.device_free_bytes)});
  }
  std::string out = table.text(style.width);
  if (shown < device.points.size()) {
    out +=
        fmt::format("  and {} more: --format json has all of them\n", device.points.size() - shown);
  }
  return out;
}

/// "Steps 4-999999 repeat step 3 exactly".
std::string repeats(const RunResult& result) {
  std::string out;
  for (const RepeatResult& left_out : result.repeats) {
    const Repeat& repeat = left_out.repeat;
    const auto turns = [](std::int64_t first, std::int64_t last) {
      return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    };
    const bool is_step = repeat.variable == "step" || repeat.variable == "_";
    const std::string one = is_step ? std::string("step") : "turn " + repeat.variable + " =";
    const std::string many = is_step ? std::string("Steps") : "Turns " + repeat.variable + " =";
    out += fmt::format(
        "{} {} repeat {}{} {} exactly: not simulated again, nor drawn below ({} events).\n", many,
        turns(repeat.first, repeat.last), one,
        is_step && repeat.pattern_first != repeat.pattern_last ? "s" : "",
        turns(repeat.pattern_first, repeat.pattern_last),
        grouped(std::accumulate(left_out.events.begin(), left_out.events.end(), std::uint64_t{0})));
  }
  return out;
}

/// "Read torchvision 0.26.0 (59 files), einops 0.8.2 (4 files)".
std::string packages_line(const RunResult& result, const TextStyle& style) {
  if (result.packages.empty()) return {};
  std::string line;
  for (const PackageUse& package : result.packages) {
    line += line.empty() ? "Read " : ", ";
    line += package.name;
    if (!package.version.empty()) line += " " + package.version;
    line += fmt::format(" ({} {})", package.modules, package.modules == 1 ? "file" : "files");
  }
  return wrapped(line, style.width, 0);
}

void add_part(std::string& out, const std::string& part) {
  if (!part.empty()) out += "\n" + part;
}

}  // namespace

std::string run_text(const RunResult& result, const RunReportOptions& options,
                     const TextStyle& style) {
  std::string printed = result.printed;
  if (!printed.empty()) printed += printed.back() == '\n' ? "\n" : "\n\n";
  std::string out;
  if (result.devices.size() > 1) {
    if (!options.title.empty()) out += bold(options.title, style) + "\n";
    out += verdict_line(verdict_of(result), result.devices.size()) + "\n\n";
  }
  for (std::size_t i = 0; i < result.devices.size(); ++i) {
    const DeviceResult& device = result.devices[i];
    out += title_lines(result, options, i, style);
    out += verdict(result, device, style);
    if (i == 0)
      out += time_line(result, style.width) + packages_line(result, style) + repeats(result);
    out += kv_cache_line(device, result.program, style.width);
    if (i == 0) add_part(out, assumptions_text(result, style));
    add_part(out, peaks(result, device, style));
    add_part(out, holders(device, style));
    add_part(out, largest(result, device, options.top, style));
    if (i < options.at.size()) {
      constexpr std::size_t kPlaces = 20;
      const std::size_t top = options.top == 0 ? kPlaces : options.top;
      add_part(out, live_text(result, device, options.at[i], top, style));
    }
    add_part(out, fragmentation_lines(device));
    add_part(out, points(device, style));
    add_part(out, curves(device, style));
  }
  return printed + fitted(out, style.width);
}

}  // namespace tidemark
